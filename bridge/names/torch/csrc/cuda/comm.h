#pragma once
#include <ATen/cuda/CUDAContext.h>
#include <halfbridge/bridge/cuda/comm.h>
#include <torch/types.h>

namespace torch::cuda {
using namespace hb::bridge::cuda::comm;
}
