#pragma once
#include <halfbridge/bridge/profiler.h>
#include <torch/types.h>

namespace torch::autograd::profiler {
using namespace hb::autodiff::profiler;
}
namespace torch::profiler {
using namespace hb::profiler;
namespace impl {
using namespace hb::profiler::impl;
}
}  // namespace torch::profiler
