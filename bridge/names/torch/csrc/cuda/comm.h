#pragma once
#include <halfbridge/bridge/cuda/comm.h>
#include <ATen/cuda/CUDAContext.h>
#include <torch/types.h>

namespace torch::cuda {
using namespace hb::bridge::cuda::comm;
}
