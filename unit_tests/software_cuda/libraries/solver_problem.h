#pragma once
// What cuSOLVER's stand-ins share: matrices in the device's memory, and calls that compute through the CPU back end.

#include <halfbridge/engine.h>

#include "software_cuda/cusolver.h"
#include "software_cuda/memory.h"
#include "software_cuda/queue.h"

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
};

namespace software_cuda::solver {

using hb::kCPU;
using hb::Tensor;

constexpr size_t kOnDevice = 640, kOnHost = 48;  // the workspaces that are wanted, and spoilt
constexpr int kElements = 40;

inline hb::ScalarType dtype_of(cudaDataType type) {
  return type == CUDA_R_32F   ? hb::kFloat
         : type == CUDA_R_64F ? hb::kDouble
         : type == CUDA_C_32F ? hb::kComplexFloat
                              : hb::kComplexDouble;
}
inline hb::TensorOptions host(hb::ScalarType dtype) { return hb::TensorOptions().dtype(dtype).device(kCPU); }

/// A matrix by columns in the device's memory, as a stack of one.
inline Tensor matrix(const void* data, int64_t rows, int64_t columns, int64_t leading, hb::ScalarType dtype) {
  return hb::from_blob(const_cast<void*>(data), {1, rows, columns}, {leading * columns, 1, leading}, host(dtype));
}
inline Tensor row(const void* data, int64_t n, hb::ScalarType dtype) {
  return hb::from_blob(const_cast<void*>(data), {1, n}, {n, 1}, host(dtype));
}
/// Where a kernel of the CPU writes a matrix: by columns, without gaps.
inline Tensor room_for(const Tensor& m) {
  return hb::empty_strided({1, m.size(1), m.size(2)}, {m.size(1) * m.size(2), 1, m.size(1)}, m.options());
}
inline Tensor packed(const Tensor& m) {
  Tensor copy = room_for(m);
  copy.copy_(m);
  return copy;
}
inline Tensor new_info() { return hb::zeros({1}, host(hb::kInt)); }
inline void tell(int* info, const Tensor& found) { *info = found.item<int32_t>(); }

inline bool dense(int64_t rows, int64_t columns, int64_t leading) { return rows > 0 && columns > 0 && leading >= rows; }
inline cusolverStatus_t sizes(bool good, size_t* on_device, size_t* on_host) {
  *on_device = kOnDevice, *on_host = kOnHost;
  return good ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

struct Room {
  void* on_device;
  size_t device_bytes;
  void* on_host;
  size_t host_bytes;
};
template <class F>
cusolverStatus_t run(const char* name, cudaStream_t stream, bool good, F compute) {
  if (!good) return CUSOLVER_STATUS_INVALID_VALUE;
  software_cuda::enqueue_library_call(stream, name, [=] {
    const hb::NoGradGuard no_grad;
    compute();
  });
  return CUSOLVER_STATUS_SUCCESS;
}
template <class F>
cusolverStatus_t run(const char* name, cusolverDnHandle_t handle, const Room& room, bool good, F compute) {
  if (room.device_bytes < kOnDevice || room.host_bytes < kOnHost || !room.on_device || !room.on_host)
    return CUSOLVER_STATUS_INVALID_VALUE;
  return run(name, handle->stream, good, [=] {
    software_cuda::fill_garbage(room.on_device, kOnDevice);
    compute();
  });
}

template <class T>
struct DtypeOf;
template <>
struct DtypeOf<float> {
  static constexpr hb::ScalarType value = hb::kFloat;
};
template <>
struct DtypeOf<double> {
  static constexpr hb::ScalarType value = hb::kDouble;
};
template <>
struct DtypeOf<cuComplex> {
  static constexpr hb::ScalarType value = hb::kComplexFloat;
};
template <>
struct DtypeOf<cuDoubleComplex> {
  static constexpr hb::ScalarType value = hb::kComplexDouble;
};

}  // namespace software_cuda::solver
