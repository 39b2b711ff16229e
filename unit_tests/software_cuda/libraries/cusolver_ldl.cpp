// cuSOLVER's stand-in for factors of symmetric matrices.
#include "backend/decompositions.h"
#include "software_cuda/libraries/solver_problem.h"
#include "software_cuda/libraries/symbols.h"

namespace {

using namespace software_cuda::solver;

// The upper triangle is left as it was.
template <class T>
cusolverStatus_t factor(const char* name, cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* a, int lda,
                        int* pivots, T* work, int room, int* info) {
  const bool good = dense(n, n, lda) && room >= kElements && fill == CUBLAS_FILL_MODE_LOWER;
  return run(name, handle->stream, good, [=] {
    software_cuda::fill_garbage(work, kElements * sizeof(T));
    const Tensor to = matrix(a, n, n, lda, DtypeOf<T>::value), ld = room_for(to), found = new_info();
    hb::ldl_factor_kernel(kCPU)(packed(to), ld, row(pivots, n, hb::kInt), false, found);
    to.copy_(ld + to.triu(1));
    tell(info, found);
  });
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverDnXsytrs_bufferSize(cusolverDnHandle_t, cublasFillMode_t fill, int64_t n, int64_t columns,
                                             cudaDataType type, const void*, int64_t lda, const int64_t* pivots,
                                             cudaDataType b_type, void*, int64_t ldb, size_t* on_device,
                                             size_t* on_host) {
  const bool good = dense(n, n, lda) && dense(n, columns, ldb) && type == b_type && pivots;
  return sizes(good && fill == CUBLAS_FILL_MODE_LOWER, on_device, on_host);
}
cusolverStatus_t cusolverDnXsytrs(cusolverDnHandle_t handle, cublasFillMode_t fill, int64_t n, int64_t columns,
                                  cudaDataType type, const void* a, int64_t lda, const int64_t* pivots,
                                  cudaDataType b_type, void* b, int64_t ldb, void* on_device, size_t device_bytes,
                                  void* on_host, size_t host_bytes, int* info) {
  const bool good =
      dense(n, n, lda) && dense(n, columns, ldb) && type == b_type && pivots && fill == CUBLAS_FILL_MODE_LOWER;
  return run("cusolverDnXsytrs", handle, {on_device, device_bytes, on_host, host_bytes}, good, [=] {
    const Tensor to = matrix(b, n, columns, ldb, dtype_of(type)), x = room_for(to);
    hb::ldl_solve_kernel(kCPU)(matrix(a, n, n, lda, dtype_of(type)), row(pivots, n, hb::kLong).to(hb::kInt), packed(to),
                               x, false);
    to.copy_(x);
    *info = 0;
  });
}

#define HB_SOLVER_TYPED(T, letter)                                                                              \
  cusolverStatus_t cusolverDn##letter##sytrf_bufferSize(cusolverDnHandle_t, int n, T*, int lda, int* room) {    \
    *room = kElements;                                                                                          \
    return dense(n, n, lda) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;                          \
  }                                                                                                             \
  cusolverStatus_t cusolverDn##letter##sytrf(cusolverDnHandle_t h, cublasFillMode_t fill, int n, T* a, int lda, \
                                             int* pivots, T* work, int room, int* info) {                       \
    return factor("cusolverDn" #letter "sytrf", h, fill, n, a, lda, pivots, work, room, info);                  \
  }                                                                                                             \
  SOFTWARE_CUDA_SYMBOL(cusolverDn##letter##sytrf_bufferSize);                                                   \
  SOFTWARE_CUDA_SYMBOL(cusolverDn##letter##sytrf);
HB_SOLVER_TYPED(float, S)
HB_SOLVER_TYPED(double, D)
HB_SOLVER_TYPED(cuComplex, C)
HB_SOLVER_TYPED(cuDoubleComplex, Z)

}  // extern "C"

SOFTWARE_CUDA_SYMBOL(cusolverDnXsytrs_bufferSize);
SOFTWARE_CUDA_SYMBOL(cusolverDnXsytrs);
