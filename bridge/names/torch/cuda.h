#pragma once
#include <torch/types.h>

namespace torch::cuda {
using namespace hb::bridge::cuda;
}
namespace torch::mps {
using namespace hb::bridge::mps;
}
namespace torch::xpu {
using namespace hb::bridge::xpu;
}
