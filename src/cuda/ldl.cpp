// L D L^T of symmetric matrices by cuSOLVER, which has it not for hermitian ones of complex numbers.
#include <halfbridge/error.h>

#include "backend/decompositions.h"
#include "cuda/matrices.h"
#include "cuda/register.h"
#include "cuda/solver.h"

namespace hb::cuda {
namespace {

#define HB_SYTRF(V, letter)                                                                                    \
  int factor_room(cusolverDnHandle_t h, int n, V* a, int lda) {                                                \
    int room = 0;                                                                                              \
    HB_CUSOLVER(cusolverDn##letter##sytrf_bufferSize, h, n, a, lda, &room);                                    \
    return room;                                                                                               \
  }                                                                                                            \
  void factor(cusolverDnHandle_t h, int n, V* a, int lda, int32_t* pivots, V* work, int room, int32_t* info) { \
    HB_CUSOLVER(cusolverDn##letter##sytrf, h, CUBLAS_FILL_MODE_LOWER, n, a, lda, pivots, work, room, info);    \
  }
HB_SYTRF(float, S)
HB_SYTRF(double, D)
HB_SYTRF(cuComplex, C)
HB_SYTRF(cuDoubleComplex, Z)
#undef HB_SYTRF

void check_symmetric(const char* name, const Tensor& a, bool hermitian) {
  if (hermitian && a.is_complex())
    HB_NOT_SUPPORTED("[", name, "] hermitian matrices of complex numbers are not supported on CUDA");
}

void ldl_factor(const Tensor& a, const Tensor& ld, const Tensor& pivots, bool hermitian, const Tensor& info) {
  check_symmetric("linalg_ldl_factor", a, hermitian);
  copy_values(ld, a);
  clear_other_triangle(ld, false);
  const Stack to(ld);
  const int n = static_cast<int>(to.rows), leading = static_cast<int>(to.leading);
  const cusolverDnHandle_t handle = cusolver_handle();
  with_solver_type(ld.scalar_type(), [&](auto zero) {
    using V = decltype(zero);
    const int room = factor_room(handle, n, static_cast<V*>(to.at(0)), leading);
    const Scratch<V> work(room);
    for (int64_t i = 0; i < to.count; ++i)
      factor(handle, n, static_cast<V*>(to.at(i)), leading, static_cast<int32_t*>(element(pivots, i * n)), work.get(),
             room, static_cast<int32_t*>(element(info, i)));
  });
}

void ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& right, const Tensor& x, bool hermitian) {
  check_symmetric("linalg_ldl_solve", ld, hermitian);
  const Tensor columns = in_columns(ld), wide = pivots.to(kLong);
  copy_values(x, right);
  const Stack factors(columns), to(x);
  const cudaDataType_t type = data_type(x.scalar_type());
  const cusolverDnHandle_t handle = cusolver_handle();
  const auto pivots_of = [&](int64_t i) { return static_cast<const int64_t*>(element(wide, i * to.rows)); };
  Workspace work;
  HB_CUSOLVER(cusolverDnXsytrs_bufferSize, handle, CUBLAS_FILL_MODE_LOWER, to.rows, to.columns, type, factors.at(0),
              factors.leading, pivots_of(0), type, to.at(0), to.leading, &work.device, &work.host);
  work.make();
  const Scratch<int> unused(1);
  for (int64_t i = 0; i < to.count; ++i)
    HB_CUSOLVER(cusolverDnXsytrs, handle, CUBLAS_FILL_MODE_LOWER, to.rows, to.columns, type, factors.at(i),
                factors.leading, pivots_of(i), type, to.at(i), to.leading, work.on_device(), work.device,
                work.on_host(), work.host, unused.get());
}

HB_REGISTER_CUDA(ldl_factor_kernel, ldl_factor);
HB_REGISTER_CUDA(ldl_solve_kernel, ldl_solve);

}  // namespace
}  // namespace hb::cuda
