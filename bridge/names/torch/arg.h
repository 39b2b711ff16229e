#pragma once
#include <halfbridge/bridge/arg.h>

#define TORCH_ARG(T, name) HB_ARG(T, name)
