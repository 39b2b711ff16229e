#pragma once
#include <halfbridge/bridge/fft.h>
#include <torch/types.h>

namespace torch::fft {
using namespace hb::bridge::fft;
}
