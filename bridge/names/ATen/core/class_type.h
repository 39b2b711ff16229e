#pragma once
#include <ATen/core/jit_type.h>
#include <halfbridge/bridge/dispatch/custom_class.h>
#include <halfbridge/class_type.h>
