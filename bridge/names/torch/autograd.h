#pragma once
#include <torch/types.h>
#if __has_include(<halfbridge/bridge/autograd_function.h>)
#include <halfbridge/bridge/autograd_function.h>
#endif
