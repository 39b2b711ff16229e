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

// What cudnnCreate… and cudnnDestroy… do.
template <class T>
cudnnStatus_t create(T** made) {
  *made = new T{};
  return CUDNN_STATUS_SUCCESS;
}
template <class T>
cudnnStatus_t destroy(T* gone) {
  delete gone;
  return CUDNN_STATUS_SUCCESS;
}
