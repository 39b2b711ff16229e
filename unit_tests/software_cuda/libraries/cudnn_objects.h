#pragma once
// What cuDNN's handles and descriptors are here.

#include <vector>

#include "software_cuda/cudnn.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};
struct cudnnTensorStruct {
  cudnnDataType_t type;
  std::vector<int64_t> sizes, strides;
};
