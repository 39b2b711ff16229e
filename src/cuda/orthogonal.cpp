// QR, products of Householder reflections and least squares: of small matrices by kernels, of others by cuSOLVER.
#include <halfbridge/error.h>

#include "backend/decompositions.h"
#include "cuda/matrices.h"
#include "cuda/register.h"
#include "cuda/small_matrices.h"
#include "cuda/solver.h"

namespace hb::cuda {
namespace {

/// The routines whose names tell the type of an element: letter S, D, C or Z, and `or` or `un`.
template <class V>
struct Typed;
#define HB_TYPED(V, letter, kind)                                                                                     \
  template <>                                                                                                         \
  struct Typed<V> {                                                                                                   \
    static void form_q(cusolverDnHandle_t h, int m, int n, int k, void* a, int lda, const void* tau, void* work,      \
                       int room, int* info) {                                                                         \
      HB_CUSOLVER(cusolverDn##letter##kind##gqr, h, m, n, k, static_cast<V*>(a), lda, static_cast<const V*>(tau),     \
                  static_cast<V*>(work), room, info);                                                                 \
    }                                                                                                                 \
    static int form_q_room(cusolverDnHandle_t h, int m, int n, int k, const void* a, int lda, const void* tau) {      \
      int room = 0;                                                                                                   \
      HB_CUSOLVER(cusolverDn##letter##kind##gqr_bufferSize, h, m, n, k, static_cast<const V*>(a), lda,                \
                  static_cast<const V*>(tau), &room);                                                                 \
      return room;                                                                                                    \
    }                                                                                                                 \
    static void times_q(cusolverDnHandle_t h, cublasSideMode_t side, cublasOperation_t form, int m, int n, int k,     \
                        const void* a, int lda, const void* tau, void* c, int ldc, void* work, int room, int* info) { \
      HB_CUSOLVER(cusolverDn##letter##kind##mqr, h, side, form, m, n, k, static_cast<const V*>(a), lda,               \
                  static_cast<const V*>(tau), static_cast<V*>(c), ldc, static_cast<V*>(work), room, info);            \
    }                                                                                                                 \
    static int times_q_room(cusolverDnHandle_t h, cublasSideMode_t side, cublasOperation_t form, int m, int n, int k, \
                            const void* a, int lda, const void* tau, const void* c, int ldc) {                        \
      int room = 0;                                                                                                   \
      HB_CUSOLVER(cusolverDn##letter##kind##mqr_bufferSize, h, side, form, m, n, k, static_cast<const V*>(a), lda,    \
                  static_cast<const V*>(tau), static_cast<const V*>(c), ldc, &room);                                  \
      return room;                                                                                                    \
    }                                                                                                                 \
  };
HB_TYPED(float, S, or)
HB_TYPED(double, D, or)
HB_TYPED(cuComplex, C, un)
HB_TYPED(cuDoubleComplex, Z, un)
#undef HB_TYPED

Tensor new_tau(const Tensor& matrices) {
  return empty({matrices.size(0), std::min(matrices.size(1), matrices.size(2))}, matrices.options());
}

/// `matrices`, by columns, becomes R and the reflections below it, whose factors go to the rows of tau.
void factor(const Tensor& matrices, const Tensor& tau) {
  const Stack to(matrices);
  const cudaDataType_t type = data_type(matrices.scalar_type());
  const cusolverDnHandle_t handle = cusolver_handle();
  Workspace work;
  HB_CUSOLVER(cusolverDnXgeqrf_bufferSize, handle, cusolver_params(), to.rows, to.columns, type, to.data, to.leading,
              type, element(tau, 0), type, &work.device, &work.host);
  work.make();
  const Scratch<int> unused(1);
  for (int64_t i = 0; i < to.count; ++i)
    HB_CUSOLVER(cusolverDnXgeqrf, handle, cusolver_params(), to.rows, to.columns, type, to.at(i), to.leading, type,
                element(tau, i * tau.size(1)), type, work.on_device(), work.device, work.on_host(), work.host,
                unused.get());
}

/// q, in whose first columns the reflections are, becomes the first columns of their product.
void form_q(const Tensor& q, const Tensor& tau) {
  const Stack to(q);
  const int m = static_cast<int>(to.rows), n = static_cast<int>(to.columns), k = static_cast<int>(tau.size(1)),
            leading = static_cast<int>(to.leading);
  const cusolverDnHandle_t handle = cusolver_handle();
  with_solver_type(q.scalar_type(), [&](auto zero) {
    using V = decltype(zero);
    const int room = Typed<V>::form_q_room(handle, m, n, k, to.data, leading, element(tau, 0));
    const Scratch<V> work(room);
    const Scratch<int> unused(1);
    for (int64_t i = 0; i < to.count; ++i)
      Typed<V>::form_q(handle, m, n, k, to.at(i), leading, element(tau, i * tau.size(1)), work.get(), room,
                       unused.get());
  });
}

/// c = Q c or c Q unless `left`, with Q^H in the place of Q where `adjoint`; all by columns.
void times_q(const Tensor& reflections, const Tensor& tau, const Tensor& c, bool left, bool adjoint) {
  const Stack vectors(reflections), to(c);
  const auto side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
  const auto form = !adjoint ? CUBLAS_OP_N : c.is_complex() ? CUBLAS_OP_C : CUBLAS_OP_T;
  const int m = static_cast<int>(to.rows), n = static_cast<int>(to.columns), k = static_cast<int>(tau.size(1)),
            lda = static_cast<int>(vectors.leading), ldc = static_cast<int>(to.leading);
  const cusolverDnHandle_t handle = cusolver_handle();
  with_solver_type(c.scalar_type(), [&](auto zero) {
    using V = decltype(zero);
    const int room =
        Typed<V>::times_q_room(handle, side, form, m, n, k, vectors.data, lda, element(tau, 0), to.data, ldc);
    const Scratch<V> work(room);
    const Scratch<int> unused(1);
    for (int64_t i = 0; i < to.count; ++i)
      Typed<V>::times_q(handle, side, form, m, n, k, vectors.at(i), lda, element(tau, i * tau.size(1)), to.at(i), ldc,
                        work.get(), room, unused.get());
  });
}

void qr(const Tensor& a, const Tensor& q, const Tensor& r) {
  if (small_qr(a, {}, q, r, {})) return;
  const Tensor factored = copied_columns(a), tau = new_tau(a);
  factor(factored, tau);
  copy_upper(r, factored);
  if (!q.defined()) return;
  const int64_t k = tau.size(1);
  copy_values(q.narrow(2, 0, k), factored.narrow(2, 0, k));
  form_q(q, tau);
}
void geqrf(const Tensor& a, const Tensor& reflections, const Tensor& tau) {
  if (small_qr(a, {}, {}, reflections, tau)) return;
  copy_values(reflections, a);
  factor(reflections, tau);
}
void householder(const Tensor& reflections, const Tensor& tau, const Tensor& q) {
  if (small_qr(reflections, tau, q, {}, {})) return;
  copy_values(q, reflections);
  form_q(q, tau);
}
void ormqr(const Tensor& reflections, const Tensor& tau, const Tensor& c, const Tensor& out, bool left, bool adjoint) {
  copy_values(out, c);
  times_q(in_columns(reflections), tau, out, left, adjoint);
}

/// gels, the only driver here: by QR of A, or of A^H where A has more columns than rows. For matrices of full rank.
void least_squares(const Tensor& a, const Tensor& x, LeastSquares, double, const Tensor&, const Tensor&,
                   const Tensor& info) {
  const int64_t m = a.size(1), n = a.size(2), columns = x.size(2);
  const Tensor factored = copied_columns(m >= n ? a : adjoint_of(a)), tau = new_tau(factored);
  factor(factored, tau);
  find_zero_on_diagonal(factored, static_cast<int32_t*>(element(info, 0)));
  const auto adjoint_form = a.is_complex() ? CUBLAS_OP_C : CUBLAS_OP_T;
  if (m >= n) {
    times_q(factored, tau, x, true, true);
    triangular_solve({true, true, false, CUBLAS_OP_N}, factored, x, n, columns);
  } else {
    triangular_solve({true, true, false, adjoint_form}, factored, x, m, columns);
    times_q(factored, tau, x, true, false);
  }
}

HB_REGISTER_CUDA(qr_kernel, qr);
HB_REGISTER_CUDA(geqrf_kernel, geqrf);
HB_REGISTER_CUDA(householder_kernel, householder);
HB_REGISTER_CUDA(ormqr_kernel, ormqr);
HB_REGISTER_CUDA(least_squares_kernel, least_squares);

}  // namespace
}  // namespace hb::cuda
