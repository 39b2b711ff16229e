#pragma once
#include <halfbridge/bridge/dispatch/custom_class.h>
#include <torch/library.h>
