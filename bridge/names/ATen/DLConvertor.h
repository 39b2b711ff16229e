#pragma once
#include <ATen/dlpack.h>
#include <c10/names.h>
#include <halfbridge/bridge/dlpack_names.h>
