#pragma once
#include <halfbridge/autograd_engine.h>
#include <halfbridge/bridge/autograd/anomaly.h>
#include <halfbridge/bridge/autograd/custom_node.h>
#include <halfbridge/bridge/autograd/functional.h>
#include <halfbridge/bridge/autograd/variable.h>
#include <halfbridge/bridge/autograd_function.h>
#include <halfbridge/bridge/checkpoint.h>
#include <torch/types.h>

namespace torch::autograd {
using Engine = hb::autodiff::BackwardEngine;  // before the library's own
namespace impl {
using namespace hb::autodiff::impl;
}
namespace utils {
using namespace hb::autodiff::utils;
}
}  // namespace torch::autograd
