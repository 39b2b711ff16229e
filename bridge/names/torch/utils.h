#pragma once
#include <halfbridge/bridge/profiler.h>
#include <torch/types.h>

namespace torch::autograd::profiler {
using namespace hb::autodiff::profiler;
}
namespace torch::profiler::impl {
using namespace hb::profiler::impl;
}
