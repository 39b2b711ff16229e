// cuSOLVER's stand-in, and cuBLAS' triangular solutions: they compute through the CPU back end.
#include "backend/decompositions.h"
#include "software_cuda/libraries/solver_problem.h"
#include "software_cuda/libraries/symbols.h"

struct cusolverDnParams {};
struct cublasContext {
  cudaStream_t stream = nullptr;
};

namespace {

using namespace software_cuda::solver;

template <class T>
cusolverStatus_t form_q(const char* name, cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda, const T* tau,
                        T* work, int room, int* info) {
  const bool good = dense(m, n, lda) && k <= n && n <= m && room >= kElements;
  return run(name, handle->stream, good, [=] {
    software_cuda::fill_garbage(work, kElements * sizeof(T));
    const Tensor to = matrix(a, m, n, lda, DtypeOf<T>::value), q = room_for(to);
    hb::householder_kernel(kCPU)(packed(to), row(tau, k, DtypeOf<T>::value), q);
    to.copy_(q);
    *info = 0;
  });
}
template <class T>
cusolverStatus_t times_q(const char* name, cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t form,
                         int m, int n, int k, const T* a, int lda, const T* tau, T* c, int ldc, T* work, int room,
                         int* info) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  constexpr bool complex = DtypeOf<T>::value == hb::kComplexFloat || DtypeOf<T>::value == hb::kComplexDouble;
  const int order = left ? m : n;
  const bool good = dense(m, n, ldc) && lda >= order && k <= order && room >= kElements &&
                    form != (complex ? CUBLAS_OP_T : CUBLAS_OP_C);
  return run(name, handle->stream, good, [=] {
    software_cuda::fill_garbage(work, kElements * sizeof(T));
    const Tensor to = matrix(c, m, n, ldc, DtypeOf<T>::value), out = room_for(to);
    hb::ormqr_kernel(kCPU)(matrix(a, order, k, lda, DtypeOf<T>::value), row(tau, k, DtypeOf<T>::value), packed(to), out,
                           left, form != CUBLAS_OP_N);
    to.copy_(out);
    *info = 0;
  });
}
template <class T>
cublasStatus_t trsm(const char* name, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                    cublasOperation_t form, cublasDiagType_t diagonal, int m, int n, const T* a, int lda, T* b,
                    int ldb) {
  const bool left = side == CUBLAS_SIDE_LEFT, upper = fill == CUBLAS_FILL_MODE_UPPER;
  const int order = left ? m : n;
  const bool good = dense(m, n, ldb) && lda >= order;
  const cusolverStatus_t done = run(name, handle->stream, good, [=] {
    const Tensor to = matrix(b, m, n, ldb, DtypeOf<T>::value), x = room_for(to);
    Tensor triangle = matrix(a, order, order, lda, DtypeOf<T>::value);
    if (form == CUBLAS_OP_C) triangle = hb::conj(triangle);
    if (form != CUBLAS_OP_N) triangle = triangle.transpose(1, 2);
    hb::solve_triangular_kernel(kCPU)(triangle, packed(to), x, upper == (form == CUBLAS_OP_N), left,
                                      diagonal == CUBLAS_DIAG_UNIT);
    to.copy_(x);
  });
  return done == CUSOLVER_STATUS_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  *handle = new cusolverDnContext;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) {
  *params = new cusolverDnParams;
  return CUSOLVER_STATUS_SUCCESS;
}
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n,
                                             cudaDataType type, const void*, int64_t lda, cudaDataType compute,
                                             size_t* on_device, size_t* on_host) {
  return sizes(dense(m, n, lda) && type == compute, on_device, on_host);
}
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                                  cudaDataType type, void* a, int64_t lda, int64_t* pivots, cudaDataType compute,
                                  void* on_device, size_t device_bytes, void* on_host, size_t host_bytes, int* info) {
  const bool good = dense(m, n, lda) && type == compute;
  return run("cusolverDnXgetrf", handle, {on_device, device_bytes, on_host, host_bytes}, good, [=] {
    const int64_t k = std::min(m, n);
    const Tensor to = matrix(a, m, n, lda, dtype_of(type)), lu = room_for(to), found = new_info(),
                 swaps = hb::empty({1, k}, host(hb::kInt));
    hb::lu_factor_kernel(kCPU)(packed(to), lu, swaps, found);
    to.copy_(lu);
    row(pivots, k, hb::kLong).copy_(swaps);
    tell(info, found);
  });
}
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t, cublasOperation_t form, int64_t n,
                                  int64_t columns, cudaDataType type, const void* a, int64_t lda, const int64_t* pivots,
                                  cudaDataType b_type, void* b, int64_t ldb, int* info) {
  const bool good = dense(n, n, lda) && dense(n, columns, ldb) && type == b_type;
  return run("cusolverDnXgetrs", handle->stream, good, [=] {
    const Tensor to = matrix(b, n, columns, ldb, dtype_of(type)), x = room_for(to);
    const auto letter = form == CUBLAS_OP_N   ? hb::MatrixForm::plain
                        : form == CUBLAS_OP_T ? hb::MatrixForm::transposed
                                              : hb::MatrixForm::adjoint;
    hb::lu_solve_kernel(kCPU)(matrix(a, n, n, lda, dtype_of(type)), row(pivots, n, hb::kLong).to(hb::kInt), packed(to),
                              x, letter);
    to.copy_(x);
    *info = 0;
  });
}
cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, int64_t n,
                                             cudaDataType type, const void*, int64_t lda, cudaDataType compute,
                                             size_t* on_device, size_t* on_host) {
  return sizes(dense(n, n, lda) && type == compute, on_device, on_host);
}
// The other triangle is left as it was.
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t fill, int64_t n,
                                  cudaDataType type, void* a, int64_t lda, cudaDataType compute, void* on_device,
                                  size_t device_bytes, void* on_host, size_t host_bytes, int* info) {
  const bool good = dense(n, n, lda) && type == compute, upper = fill == CUBLAS_FILL_MODE_UPPER;
  return run("cusolverDnXpotrf", handle, {on_device, device_bytes, on_host, host_bytes}, good, [=] {
    const Tensor to = matrix(a, n, n, lda, dtype_of(type)), factor = room_for(to), found = new_info();
    hb::cholesky_kernel(kCPU)(packed(to), factor, upper, found);
    to.copy_(upper ? factor + to.tril(-1) : factor + to.triu(1));
    tell(info, found);
  });
}
cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t fill, int64_t n,
                                  int64_t columns, cudaDataType type, const void* a, int64_t lda, cudaDataType b_type,
                                  void* b, int64_t ldb, int* info) {
  const bool good = dense(n, n, lda) && dense(n, columns, ldb) && type == b_type;
  return run("cusolverDnXpotrs", handle->stream, good, [=] {
    const Tensor to = matrix(b, n, columns, ldb, dtype_of(type)), x = room_for(to);
    hb::cholesky_solve_kernel(kCPU)(matrix(a, n, n, lda, dtype_of(type)), packed(to), x,
                                    fill == CUBLAS_FILL_MODE_UPPER);
    to.copy_(x);
    *info = 0;
  });
}
cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n,
                                             cudaDataType type, const void*, int64_t lda, cudaDataType tau_type,
                                             const void*, cudaDataType compute, size_t* on_device, size_t* on_host) {
  return sizes(dense(m, n, lda) && type == compute && type == tau_type, on_device, on_host);
}
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                                  cudaDataType type, void* a, int64_t lda, cudaDataType tau_type, void* tau,
                                  cudaDataType compute, void* on_device, size_t device_bytes, void* on_host,
                                  size_t host_bytes, int* info) {
  const bool good = dense(m, n, lda) && type == compute && type == tau_type;
  return run("cusolverDnXgeqrf", handle, {on_device, device_bytes, on_host, host_bytes}, good, [=] {
    const Tensor to = matrix(a, m, n, lda, dtype_of(type)), factored = room_for(to);
    hb::geqrf_kernel(kCPU)(packed(to), factored, row(tau, std::min(m, n), dtype_of(type)));
    to.copy_(factored);
    *info = 0;
  });
}
cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                             cublasFillMode_t, int64_t n, cudaDataType type, const void*, int64_t lda,
                                             cudaDataType w_type, const void*, cudaDataType compute, size_t* on_device,
                                             size_t* on_host) {
  const bool good = dense(n, n, lda) && type == compute && dtype_of(w_type) == hb::to_real_type(dtype_of(type));
  return sizes(good, on_device, on_host);
}
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t job,
                                  cublasFillMode_t fill, int64_t n, cudaDataType type, void* a, int64_t lda,
                                  cudaDataType w_type, void* w, cudaDataType compute, void* on_device,
                                  size_t device_bytes, void* on_host, size_t host_bytes, int* info) {
  const bool good = dense(n, n, lda) && type == compute, wanted = job == CUSOLVER_EIG_MODE_VECTOR;
  return run("cusolverDnXsyevd", handle, {on_device, device_bytes, on_host, host_bytes}, good, [=] {
    const Tensor to = matrix(a, n, n, lda, dtype_of(type)), vectors = wanted ? room_for(to) : Tensor(),
                 found = new_info();
    hb::eigh_kernel(kCPU)(packed(to), fill == CUBLAS_FILL_MODE_UPPER, row(w, n, dtype_of(w_type)), vectors, found);
    if (wanted)
      to.copy_(vectors);
    else
      to.fill_(NAN);
    tell(info, found);
  });
}
cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t left,
                                            cusolverEigMode_t, int64_t n, cudaDataType type, const void*, int64_t lda,
                                            cudaDataType w_type, const void*, cudaDataType, const void*, int64_t,
                                            cudaDataType vr_type, const void*, int64_t ldvr, cudaDataType compute,
                                            size_t* on_device, size_t* on_host) {
  const bool good = left == CUSOLVER_EIG_MODE_NOVECTOR && dense(n, n, lda) && ldvr >= n && type == compute &&
                    type == vr_type && dtype_of(w_type) == hb::to_complex_type(dtype_of(type));
  return sizes(good, on_device, on_host);
}
// Of real matrices the columns of a pair are real and imaginary parts.
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t left,
                                 cusolverEigMode_t right, int64_t n, cudaDataType type, void* a, int64_t lda,
                                 cudaDataType w_type, void* w, cudaDataType, void*, int64_t, cudaDataType, void* vr,
                                 int64_t ldvr, cudaDataType compute, void* on_device, size_t device_bytes,
                                 void* on_host, size_t host_bytes, int* info) {
  const bool good = left == CUSOLVER_EIG_MODE_NOVECTOR && dense(n, n, lda) && type == compute;
  const bool wanted = right == CUSOLVER_EIG_MODE_VECTOR;
  return run("cusolverDnXgeev", handle, {on_device, device_bytes, on_host, host_bytes}, good, [=] {
    const Tensor from = matrix(a, n, n, lda, dtype_of(type)), values = row(w, n, dtype_of(w_type)), found = new_info();
    const Tensor vectors = wanted ? hb::empty_strided({1, n, n}, {n * n, 1, n}, host(dtype_of(w_type))) : Tensor();
    hb::eig_kernel(kCPU)(packed(from), values, vectors, found);
    tell(info, found);
    if (!wanted) return;
    const Tensor to = matrix(vr, n, n, ldvr, dtype_of(type));
    if (from.is_complex()) {
      to.copy_(vectors);
      return;
    }
    const Tensor real = hb::real(vectors), imaginary = hb::imag(vectors), of_values = hb::imag(values)[0];
    for (int64_t c = 0; c < n; ++c) {
      const auto side = of_values[c].item<double>();
      to.select(2, c).copy_(side < 0 ? -imaginary.select(2, c) : real.select(2, c));
    }
  });
}
cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, signed char left,
                                             signed char right, int64_t m, int64_t n, cudaDataType type, const void*,
                                             int64_t lda, cudaDataType s_type, const void*, cudaDataType u_type,
                                             const void*, int64_t ldu, cudaDataType vt_type, const void*, int64_t ldvt,
                                             cudaDataType compute, size_t* on_device, size_t* on_host) {
  const bool good = m >= n && dense(m, n, lda) && left == right && ldu >= m && ldvt >= n && type == compute &&
                    type == u_type && type == vt_type && dtype_of(s_type) == hb::to_real_type(dtype_of(type));
  return sizes(good, on_device, on_host);
}
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t, signed char left, signed char,
                                  int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType s_type,
                                  void* s, cudaDataType, void* u, int64_t ldu, cudaDataType, void* vt, int64_t ldvt,
                                  cudaDataType compute, void* on_device, size_t device_bytes, void* on_host,
                                  size_t host_bytes, int* info) {
  const bool good = m >= n && dense(m, n, lda) && type == compute, wanted = left != 'N';
  return run("cusolverDnXgesvd", handle, {on_device, device_bytes, on_host, host_bytes}, good, [=] {
    const Tensor from = matrix(a, m, n, lda, dtype_of(type)), found = new_info();
    Tensor to_u, to_vt, vectors, others;
    if (wanted) {
      to_u = matrix(u, m, left == 'S' ? n : m, ldu, dtype_of(type)), to_vt = matrix(vt, n, n, ldvt, dtype_of(type));
      vectors = room_for(to_u), others = room_for(to_vt);
    }
    hb::svd_kernel(kCPU)(packed(from), vectors, row(s, n, dtype_of(s_type)), others, found);
    tell(info, found);
    from.fill_(NAN);
    if (wanted) to_u.copy_(vectors), to_vt.copy_(others);
  });
}

#define HB_SOLVER_TYPED(T, letter, kind)                                                                              \
  cusolverStatus_t cusolverDn##letter##kind##gqr_bufferSize(cusolverDnHandle_t, int, int, int, const T*, int,         \
                                                            const T*, int* room) {                                    \
    *room = kElements;                                                                                                \
    return CUSOLVER_STATUS_SUCCESS;                                                                                   \
  }                                                                                                                   \
  cusolverStatus_t cusolverDn##letter##kind##gqr(cusolverDnHandle_t h, int m, int n, int k, T* a, int lda,            \
                                                 const T* tau, T* work, int room, int* info) {                        \
    return form_q("cusolverDn" #letter #kind "gqr", h, m, n, k, a, lda, tau, work, room, info);                       \
  }                                                                                                                   \
  cusolverStatus_t cusolverDn##letter##kind##mqr_bufferSize(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t,  \
                                                            int, int, int, const T*, int, const T*, const T*, int,    \
                                                            int* room) {                                              \
    *room = kElements;                                                                                                \
    return CUSOLVER_STATUS_SUCCESS;                                                                                   \
  }                                                                                                                   \
  cusolverStatus_t cusolverDn##letter##kind##mqr(cusolverDnHandle_t h, cublasSideMode_t side, cublasOperation_t form, \
                                                 int m, int n, int k, const T* a, int lda, const T* tau, T* c,        \
                                                 int ldc, T* work, int room, int* info) {                             \
    return times_q("cusolverDn" #letter #kind "mqr", h, side, form, m, n, k, a, lda, tau, c, ldc, work, room, info);  \
  }                                                                                                                   \
  cublasStatus_t cublas##letter##trsm_v2(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill,              \
                                         cublasOperation_t form, cublasDiagType_t diagonal, int m, int n, const T*,   \
                                         const T* a, int lda, T* b, int ldb) {                                        \
    return trsm("cublas" #letter "trsm", h, side, fill, form, diagonal, m, n, a, lda, b, ldb);                        \
  }                                                                                                                   \
  SOFTWARE_CUDA_SYMBOL(cusolverDn##letter##kind##gqr_bufferSize);                                                     \
  SOFTWARE_CUDA_SYMBOL(cusolverDn##letter##kind##gqr);                                                                \
  SOFTWARE_CUDA_SYMBOL(cusolverDn##letter##kind##mqr_bufferSize);                                                     \
  SOFTWARE_CUDA_SYMBOL(cusolverDn##letter##kind##mqr);                                                                \
  SOFTWARE_CUDA_SYMBOL(cublas##letter##trsm_v2);
HB_SOLVER_TYPED(float, S, or)
HB_SOLVER_TYPED(double, D, or)
HB_SOLVER_TYPED(cuComplex, C, un)
HB_SOLVER_TYPED(cuDoubleComplex, Z, un)

}  // extern "C"

SOFTWARE_CUDA_SYMBOL(cusolverDnCreate);
SOFTWARE_CUDA_SYMBOL(cusolverDnSetStream);
SOFTWARE_CUDA_SYMBOL(cusolverDnCreateParams);
SOFTWARE_CUDA_SYMBOL(cublasCreate_v2);
SOFTWARE_CUDA_SYMBOL(cublasSetStream_v2);
SOFTWARE_CUDA_SYMBOL(cusolverDnXgetrf_bufferSize);
SOFTWARE_CUDA_SYMBOL(cusolverDnXgetrf);
SOFTWARE_CUDA_SYMBOL(cusolverDnXgetrs);
SOFTWARE_CUDA_SYMBOL(cusolverDnXpotrf_bufferSize);
SOFTWARE_CUDA_SYMBOL(cusolverDnXpotrf);
SOFTWARE_CUDA_SYMBOL(cusolverDnXpotrs);
SOFTWARE_CUDA_SYMBOL(cusolverDnXgeqrf_bufferSize);
SOFTWARE_CUDA_SYMBOL(cusolverDnXgeqrf);
SOFTWARE_CUDA_SYMBOL(cusolverDnXsyevd_bufferSize);
SOFTWARE_CUDA_SYMBOL(cusolverDnXsyevd);
SOFTWARE_CUDA_SYMBOL(cusolverDnXgeev_bufferSize);
SOFTWARE_CUDA_SYMBOL(cusolverDnXgeev);
SOFTWARE_CUDA_SYMBOL(cusolverDnXgesvd_bufferSize);
SOFTWARE_CUDA_SYMBOL(cusolverDnXgesvd);
