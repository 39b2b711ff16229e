#pragma once
#include <halfbridge/bridge/nn/parallel.h>
#include <torch/nn.h>

namespace torch::nn::parallel {
using namespace hb::bridge::nn::parallel;
}
