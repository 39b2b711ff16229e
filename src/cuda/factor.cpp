// LU, Cholesky, and what is solved with their triangles: small matrices by kernels, others by cuSOLVER and cuBLAS, a
// call for each matrix of a stack.
#include <map>

#include <halfbridge/error.h>

#include "backend/decompositions.h"
#include "cuda/matrices.h"
#include "cuda/register.h"
#include "cuda/small_matrices.h"
#include "cuda/solver.h"

namespace hb::cuda {

const Library& cusolver() {
  static const auto* const library =
      new Library("cuSOLVER", {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"}, "cusolver");
  return *library;
}
const Library& cublas() {
  static const auto* const library =
      new Library("cuBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}, "cublas");
  return *library;
}
void fail_solver(const char* library, int status, const char* call) {
  HB_CHECK(false, "[", current_function(), "] ", call, " failed with ", library, "'s status ", status);
  __builtin_unreachable();
}
cusolverDnHandle_t cusolver_handle() {
  thread_local auto* const handles = new std::map<DeviceIndex, cusolverDnHandle_t>;  // it may end before the thread
  cusolverDnHandle_t& handle = (*handles)[current_device()];
  const Unrecorded guard;
  if (!handle) HB_CUSOLVER(cusolverDnCreate, &handle);
  HB_CUSOLVER(cusolverDnSetStream, handle, current_stream());
  return handle;
}
cusolverDnParams_t cusolver_params() {
  static const cusolverDnParams_t params = [] {
    cusolverDnParams_t made = nullptr;
    HB_CUSOLVER(cusolverDnCreateParams, &made);
    return made;
  }();
  return params;
}
cublasHandle_t cublas_handle() {
  thread_local auto* const handles = new std::map<DeviceIndex, cublasHandle_t>;
  cublasHandle_t& handle = (*handles)[current_device()];
  const Unrecorded guard;
  if (!handle) HB_CUBLAS(cublasCreate_v2, &handle);
  HB_CUBLAS(cublasSetStream_v2, handle, current_stream());
  return handle;
}

void triangular_solve(const Triangular& t, const Tensor& a, const Tensor& x, int64_t m, int64_t n) {
  const Tensor rows = x.narrow(1, 0, m);
  if (t.left && small_solve({SmallSystem::triangle, t.upper, t.unit, t.form != CUBLAS_OP_N, t.form == CUBLAS_OP_C},
                            a.narrow(1, 0, m), {}, rows, rows))
    return;
  const Stack triangle(a), to(x);
  const cublasHandle_t handle = cublas_handle();
  const auto side = t.left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
  const auto fill = t.upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const auto diagonal = t.unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  for (int64_t i = 0; i < to.count; ++i) {
    const auto call = [&](auto one, auto routine) {
      using V = decltype(one);
      routine(handle, side, fill, t.form, diagonal, static_cast<int>(m), static_cast<int>(n), &one,
              static_cast<const V*>(triangle.at(i)), static_cast<int>(triangle.leading), static_cast<V*>(to.at(i)),
              static_cast<int>(to.leading));
    };
    switch (x.scalar_type()) {
      case kFloat:
        call(1.0f, [](auto... p) { HB_CUBLAS(cublasStrsm_v2, p...); });
        break;
      case kDouble:
        call(1.0, [](auto... p) { HB_CUBLAS(cublasDtrsm_v2, p...); });
        break;
      case kComplexFloat:
        call(cuComplex{1, 0}, [](auto... p) { HB_CUBLAS(cublasCtrsm_v2, p...); });
        break;
      default:
        call(cuDoubleComplex{1, 0}, [](auto... p) { HB_CUBLAS(cublasZtrsm_v2, p...); });
    }
  }
}

namespace {

void lu_factor(const Tensor& a, const Tensor& lu, const Tensor& pivots, const Tensor& info) {
  if (small_lu(a, lu, pivots, info)) return;
  copy_values(lu, a);
  const Stack to(lu);
  const cudaDataType_t type = data_type(lu.scalar_type());
  const int64_t k = std::min(to.rows, to.columns);
  const cusolverDnHandle_t handle = cusolver_handle();
  Workspace work;
  HB_CUSOLVER(cusolverDnXgetrf_bufferSize, handle, cusolver_params(), to.rows, to.columns, type, to.data, to.leading,
              type, &work.device, &work.host);
  work.make();
  const Scratch<int64_t> wide(to.count * k);
  for (int64_t i = 0; i < to.count; ++i)
    HB_CUSOLVER(cusolverDnXgetrf, handle, cusolver_params(), to.rows, to.columns, type, to.at(i), to.leading,
                wide.get() + i * k, type, work.on_device(), work.device, work.on_host(), work.host,
                static_cast<int*>(element(info, i)));
  narrow_pivots(static_cast<int32_t*>(element(pivots, 0)), wide.get(), to.count * k);
}

void lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& right, const Tensor& x, MatrixForm form) {
  const Tensor swaps = pivots.contiguous();
  const SmallSystem system{SmallSystem::lu, false, false, form != MatrixForm::plain, form == MatrixForm::adjoint};
  if (small_solve(system, lu, swaps, right, x)) return;
  const Tensor columns = in_columns(lu);
  copy_values(x, right);
  const Stack factors(columns), to(x);
  const cudaDataType_t type = data_type(x.scalar_type());
  const auto letter = form == MatrixForm::plain                           ? CUBLAS_OP_N
                      : form == MatrixForm::transposed || !x.is_complex() ? CUBLAS_OP_T
                                                                          : CUBLAS_OP_C;
  const Scratch<int64_t> wide(swaps.numel());
  const Scratch<int> unused(1);
  widen_pivots(wide.get(), static_cast<const int32_t*>(element(swaps, 0)), swaps.numel(), to.rows);
  for (int64_t i = 0; i < to.count; ++i)
    HB_CUSOLVER(cusolverDnXgetrs, cusolver_handle(), cusolver_params(), letter, to.rows, to.columns, type,
                factors.at(i), factors.leading, wide.get() + i * swaps.size(1), type, to.at(i), to.leading,
                unused.get());
}

void solve_triangular(const Tensor& a, const Tensor& right, const Tensor& x, bool upper, bool left, bool unit) {
  const SmallSystem system{SmallSystem::triangle, upper, unit, !left};
  if (left ? small_solve(system, a, {}, right, x)
           : small_solve(system, a, {}, right.transpose(1, 2), x.transpose(1, 2)))
    return;
  copy_values(x, right);
  // A matrix by rows is the transposed one by columns, whose other triangle is filled.
  const Tensor turned = a.transpose(1, 2);
  if (!by_columns(a) && by_columns(turned))
    return triangular_solve({left, !upper, unit, CUBLAS_OP_T}, turned, x, x.size(1), x.size(2));
  triangular_solve({left, upper, unit, CUBLAS_OP_N}, in_columns(a), x, x.size(1), x.size(2));
}

cublasFillMode_t triangle_of(bool upper) { return upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER; }

void cholesky(const Tensor& a, const Tensor& factor, bool upper, const Tensor& info) {
  if (small_cholesky(a, factor, upper, info)) return;
  copy_values(factor, a);
  const Stack to(factor);
  const cudaDataType_t type = data_type(factor.scalar_type());
  const cusolverDnHandle_t handle = cusolver_handle();
  Workspace work;
  HB_CUSOLVER(cusolverDnXpotrf_bufferSize, handle, cusolver_params(), triangle_of(upper), to.rows, type, to.data,
              to.leading, type, &work.device, &work.host);
  work.make();
  for (int64_t i = 0; i < to.count; ++i)
    HB_CUSOLVER(cusolverDnXpotrf, handle, cusolver_params(), triangle_of(upper), to.rows, type, to.at(i), to.leading,
                type, work.on_device(), work.device, work.on_host(), work.host, static_cast<int*>(element(info, i)));
  clear_other_triangle(factor, upper);
}

void cholesky_solve(const Tensor& factor, const Tensor& right, const Tensor& x, bool upper) {
  if (small_solve({SmallSystem::cholesky, upper, false, upper, upper}, factor, {}, right, x)) return;
  const Tensor columns = in_columns(factor);
  copy_values(x, right);
  const Stack factors(columns), to(x);
  const cudaDataType_t type = data_type(x.scalar_type());
  const Scratch<int> unused(1);
  for (int64_t i = 0; i < to.count; ++i)
    HB_CUSOLVER(cusolverDnXpotrs, cusolver_handle(), cusolver_params(), triangle_of(upper), to.rows, to.columns, type,
                factors.at(i), factors.leading, type, to.at(i), to.leading, unused.get());
}

void cholesky_inverse(const Tensor& factor, const Tensor& inverse, bool upper) {
  const Tensor zeros = empty({factor.size(0)}, factor.options().dtype(kInt));
  find_zero_on_diagonal(factor, static_cast<int32_t*>(element(zeros, 0)));
  const auto zero = zeros.max().item<int32_t>();
  HB_CHECK(zero == 0, "[cholesky_inverse] expected a factor without zeros on its diagonal, got one at ", zero);
  cholesky_solve(factor, eye(factor.size(1), factor.options()).expand(factor.sizes()), inverse, upper);
}

HB_REGISTER_CUDA(lu_factor_kernel, lu_factor);
HB_REGISTER_CUDA(lu_solve_kernel, lu_solve);
HB_REGISTER_CUDA(solve_triangular_kernel, solve_triangular);
HB_REGISTER_CUDA(cholesky_kernel, cholesky);
HB_REGISTER_CUDA(cholesky_solve_kernel, cholesky_solve);
HB_REGISTER_CUDA(cholesky_inverse_kernel, cholesky_inverse);

}  // namespace
}  // namespace hb::cuda
