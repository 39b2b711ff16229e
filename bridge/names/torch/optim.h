#pragma once
#include <torch/arg.h>
#include <torch/types.h>
#if __has_include(<halfbridge/bridge/optim.h>)
#include <halfbridge/bridge/optim.h>

namespace torch::optim {
using namespace hb::bridge::optim;
}
#endif
