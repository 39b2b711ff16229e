#pragma once
// The parts of cuSOLVER and cuBLAS that Halfbridge uses, as the software device has them. Names, numbers and contracts
// are theirs.

#include "software_cuda/cublas_lt.h"
#include "software_cuda/cufft.h"

enum cusolverStatus_t { CUSOLVER_STATUS_SUCCESS = 0, CUSOLVER_STATUS_INVALID_VALUE = 3 };
enum cusolverEigMode_t { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };
using cudaDataType = cudaDataType_t;
using cuComplex = cufftComplex;
using cuDoubleComplex = cufftDoubleComplex;
struct cusolverDnContext;
struct cusolverDnParams;
struct cublasContext;
using cusolverDnHandle_t = cusolverDnContext*;
using cusolverDnParams_t = cusolverDnParams*;
using cublasHandle_t = cublasContext*;

extern "C" {
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params);
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n,
                                             cudaDataType type, const void* a, int64_t lda, cudaDataType compute,
                                             size_t* on_device, size_t* on_host);
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type,
                                  void* a, int64_t lda, int64_t* pivots, cudaDataType compute, void* on_device,
                                  size_t device_bytes, void* on_host, size_t host_bytes, int* info);
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t, cusolverDnParams_t, cublasOperation_t form, int64_t n,
                                  int64_t columns, cudaDataType type, const void* a, int64_t lda, const int64_t* pivots,
                                  cudaDataType b_type, void* b, int64_t ldb, int* info);
cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t fill, int64_t n,
                                             cudaDataType type, const void* a, int64_t lda, cudaDataType compute,
                                             size_t* on_device, size_t* on_host);
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t fill, int64_t n,
                                  cudaDataType type, void* a, int64_t lda, cudaDataType compute, void* on_device,
                                  size_t device_bytes, void* on_host, size_t host_bytes, int* info);
cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t fill, int64_t n,
                                  int64_t columns, cudaDataType type, const void* a, int64_t lda, cudaDataType b_type,
                                  void* b, int64_t ldb, int* info);
cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n,
                                             cudaDataType type, const void* a, int64_t lda, cudaDataType tau_type,
                                             const void* tau, cudaDataType compute, size_t* on_device, size_t* on_host);
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type,
                                  void* a, int64_t lda, cudaDataType tau_type, void* tau, cudaDataType compute,
                                  void* on_device, size_t device_bytes, void* on_host, size_t host_bytes, int* info);
cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t job,
                                             cublasFillMode_t fill, int64_t n, cudaDataType type, const void* a,
                                             int64_t lda, cudaDataType w_type, const void* w, cudaDataType compute,
                                             size_t* on_device, size_t* on_host);
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t job, cublasFillMode_t fill,
                                  int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType w_type, void* w,
                                  cudaDataType compute, void* on_device, size_t device_bytes, void* on_host,
                                  size_t host_bytes, int* info);
cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t left,
                                            cusolverEigMode_t right, int64_t n, cudaDataType type, const void* a,
                                            int64_t lda, cudaDataType w_type, const void* w, cudaDataType vl_type,
                                            const void* vl, int64_t ldvl, cudaDataType vr_type, const void* vr,
                                            int64_t ldvr, cudaDataType compute, size_t* on_device, size_t* on_host);
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t left,
                                 cusolverEigMode_t right, int64_t n, cudaDataType type, void* a, int64_t lda,
                                 cudaDataType w_type, void* w, cudaDataType vl_type, void* vl, int64_t ldvl,
                                 cudaDataType vr_type, void* vr, int64_t ldvr, cudaDataType compute, void* on_device,
                                 size_t device_bytes, void* on_host, size_t host_bytes, int* info);
cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, signed char left,
                                             signed char right, int64_t m, int64_t n, cudaDataType type, const void* a,
                                             int64_t lda, cudaDataType s_type, const void* s, cudaDataType u_type,
                                             const void* u, int64_t ldu, cudaDataType vt_type, const void* vt,
                                             int64_t ldvt, cudaDataType compute, size_t* on_device, size_t* on_host);
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t, cusolverDnParams_t, signed char left, signed char right,
                                  int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType s_type,
                                  void* s, cudaDataType u_type, void* u, int64_t ldu, cudaDataType vt_type, void* vt,
                                  int64_t ldvt, cudaDataType compute, void* on_device, size_t device_bytes,
                                  void* on_host, size_t host_bytes, int* info);
cusolverStatus_t cusolverDnXsytrs_bufferSize(cusolverDnHandle_t, cublasFillMode_t fill, int64_t n, int64_t columns,
                                             cudaDataType type, const void* a, int64_t lda, const int64_t* pivots,
                                             cudaDataType b_type, void* b, int64_t ldb, size_t* on_device,
                                             size_t* on_host);
cusolverStatus_t cusolverDnXsytrs(cusolverDnHandle_t, cublasFillMode_t fill, int64_t n, int64_t columns,
                                  cudaDataType type, const void* a, int64_t lda, const int64_t* pivots,
                                  cudaDataType b_type, void* b, int64_t ldb, void* on_device, size_t device_bytes,
                                  void* on_host, size_t host_bytes, int* info);

#define HB_SOLVER_TYPED(T, letter, kind)                                                                               \
  cusolverStatus_t cusolverDn##letter##kind##gqr_bufferSize(cusolverDnHandle_t, int m, int n, int k, const T* a,       \
                                                            int lda, const T* tau, int* room);                         \
  cusolverStatus_t cusolverDn##letter##kind##gqr(cusolverDnHandle_t, int m, int n, int k, T* a, int lda, const T* tau, \
                                                 T* work, int room, int* info);                                        \
  cusolverStatus_t cusolverDn##letter##kind##mqr_bufferSize(cusolverDnHandle_t, cublasSideMode_t side,                 \
                                                            cublasOperation_t form, int m, int n, int k, const T* a,   \
                                                            int lda, const T* tau, const T* c, int ldc, int* room);    \
  cusolverStatus_t cusolverDn##letter##kind##mqr(cusolverDnHandle_t, cublasSideMode_t side, cublasOperation_t form,    \
                                                 int m, int n, int k, const T* a, int lda, const T* tau, T* c,         \
                                                 int ldc, T* work, int room, int* info);                               \
  cusolverStatus_t cusolverDn##letter##sytrf_bufferSize(cusolverDnHandle_t, int n, T* a, int lda, int* room);          \
  cusolverStatus_t cusolverDn##letter##sytrf(cusolverDnHandle_t, cublasFillMode_t fill, int n, T* a, int lda,          \
                                             int* pivots, T* work, int room, int* info);                               \
  cublasStatus_t cublas##letter##trsm_v2(cublasHandle_t, cublasSideMode_t side, cublasFillMode_t fill,                 \
                                         cublasOperation_t form, cublasDiagType_t diagonal, int m, int n,              \
                                         const T* alpha, const T* a, int lda, T* b, int ldb);
HB_SOLVER_TYPED(float, S, or)
HB_SOLVER_TYPED(double, D, or)
HB_SOLVER_TYPED(cuComplex, C, un)
HB_SOLVER_TYPED(cuDoubleComplex, Z, un)
#undef HB_SOLVER_TYPED
}
