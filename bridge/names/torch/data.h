#pragma once
#include <torch/arg.h>
#include <torch/types.h>
#if __has_include(<halfbridge/bridge/data.h>)
#include <halfbridge/bridge/data.h>

namespace torch::data {
using namespace hb::bridge::data;
}
#endif
