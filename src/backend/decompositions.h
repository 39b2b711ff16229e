#pragma once
// Decompositions of stacks of matrices (b, m, n) of float, double or complex numbers. Operands may have any strides;
// results lie by columns (strides m * n, 1, m), as LAPACK writes them. `info` and `pivots` (int32, b matrices) hold
// what LAPACK's hold. No stack is empty, and no matrix of one.
#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// Throw on the CPU, so that a captured step throws again: with the first matrix whose code in `info` (int32, one for
/// each) is not 0, which takes the place of each {} in the text; where not all of one bool is true.
HB_API inline Kernel<void(const Tensor& info, const char* name, const char* text)> check_info_kernel{"check_info"};
HB_API inline Kernel<void(const Tensor& finite, const char* name, const char* text)> check_finite_kernel{
    "check_finite"};

enum class MatrixForm { plain, transposed, adjoint };
/// LAPACK's drivers for least squares.
enum class LeastSquares { gels, gelsy, gelsd, gelss };

/// a (b, m, n): lu holds L (without its diagonal) and U; row i was exchanged with row pivots[i] (from 1), pivots (b,
/// k); k = min(m, n).
HB_API inline Kernel<void(const Tensor& a, const Tensor& lu, const Tensor& pivots, const Tensor& info)>
    lu_factor_kernel{"linalg_lu_factor"};
/// order (b, m) of int64: row i of P^T A is row order[i] of A, after the exchanges pivots (b, k). Throws for others.
HB_API inline Kernel<void(const Tensor& pivots, const Tensor& order)> pivot_order_kernel{"lu_unpack"};
/// x (b, n, c) solves form(A) x = right, where lu (b, n, n) holds A's factors.
HB_API inline Kernel<void(const Tensor& lu, const Tensor& pivots, const Tensor& right, const Tensor& x,
                          MatrixForm form)>
    lu_solve_kernel{"linalg_lu_solve"};
/// x solves A x = right, or x A = right unless `left`, for a triangular A of which the other triangle is not read.
HB_API inline Kernel<void(const Tensor& a, const Tensor& right, const Tensor& x, bool upper, bool left, bool unit)>
    solve_triangular_kernel{"linalg_solve_triangular"};

/// a (b, n, n), of which one triangle is read, = L L^H or, with `upper`, U^H U. The other triangle becomes zero.
HB_API inline Kernel<void(const Tensor& a, const Tensor& factor, bool upper, const Tensor& info)> cholesky_kernel{
    "linalg_cholesky"};
/// x (b, n, c) solves A x = right, where factor (b, n, n) is A's Cholesky factor.
HB_API inline Kernel<void(const Tensor& factor, const Tensor& right, const Tensor& x, bool upper)>
    cholesky_solve_kernel{"cholesky_solve"};
/// The inverse (b, n, n) of the matrix whose Cholesky factor this is.
HB_API inline Kernel<void(const Tensor& factor, const Tensor& inverse, bool upper)> cholesky_inverse_kernel{
    "cholesky_inverse"};

/// a (b, n, n), of which the lower triangle is read, = P L D (P L)^T, or D (P L)^H where `hermitian`: ld holds D's
/// blocks of one or two rows, below them L's columns, and zeros above. pivots (b, n): a row of a block of one was
/// exchanged with row pivots[i] (from 1), the last row of a block of two with row -pivots[i].
HB_API inline Kernel<void(const Tensor& a, const Tensor& ld, const Tensor& pivots, bool hermitian, const Tensor& info)>
    ldl_factor_kernel{"linalg_ldl_factor"};
/// x (b, n, c) solves A x = right, where ld (b, n, n) and pivots (b, n) hold A's factors; pivots that are none have
/// been refused.
HB_API inline Kernel<void(const Tensor& ld, const Tensor& pivots, const Tensor& right, const Tensor& x, bool hermitian)>
    ldl_solve_kernel{"linalg_ldl_solve"};

/// a (b, m, n) = q (b, m, c) r (b, min(c, m), n), c = min(m, n) or m; q may be undefined.
HB_API inline Kernel<void(const Tensor& a, const Tensor& q, const Tensor& r)> qr_kernel{"linalg_qr"};
/// a (b, m, n): R, and below it the reflections' vectors, whose factors are tau (b, min(m, n)).
HB_API inline Kernel<void(const Tensor& a, const Tensor& reflections, const Tensor& tau)> geqrf_kernel{"geqrf"};
/// The first n columns of the product of the reflections (b, m, n) with factors tau (b, k), k <= n <= m.
HB_API inline Kernel<void(const Tensor& reflections, const Tensor& tau, const Tensor& q)> householder_kernel{
    "linalg_householder_product"};
/// out (b, m, n): Q c, or c Q unless `left`; with `adjoint` Q^H in the place of Q.
HB_API inline Kernel<void(const Tensor& reflections, const Tensor& tau, const Tensor& c, const Tensor& out, bool left,
                          bool adjoint)>
    ormqr_kernel{"ormqr"};

/// a (b, n, n), of which one triangle is read: real values (b, n) ascend; vectors (b, n, n) are columns, or undefined.
/// Matrices with infinities have NaN for results.
HB_API inline Kernel<void(const Tensor& a, bool upper, const Tensor& values, const Tensor& vectors, const Tensor& info)>
    eigh_kernel{"linalg_eigh"};
/// a (b, n, n), finite: complex values (b, n) and vectors (b, n, n), columns, or undefined.
HB_API inline Kernel<void(const Tensor& a, const Tensor& values, const Tensor& vectors, const Tensor& info)> eig_kernel{
    "linalg_eig"};
/// a (b, m, n), finite: u (b, m, k), real s (b, k) descending, vh (b, k, n), k = min(m, n), or u (b, m, m) and
/// vh (b, n, n), or both undefined.
HB_API inline Kernel<void(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& info)>
    svd_kernel{"linalg_svd"};
/// x (b, max(m, n), c) by columns holds right-hand sides (m rows) and becomes solutions (n rows), below which gels and
/// gelsd leave what squares to the residuals. rank (b, int64) and real values (b, min(m, n)) as the driver has them.
HB_API inline Kernel<void(const Tensor& a, const Tensor& x, LeastSquares driver, double rcond, const Tensor& rank,
                          const Tensor& values, const Tensor& info)>
    least_squares_kernel{"linalg_lstsq"};

/// Calls fn(T()) with the element type of `t`.
template <class F>
void with_matrix_type(const Tensor& t, const F& fn) {
  switch (t.scalar_type()) {
    case kFloat:
      return fn(float());
    case kDouble:
      return fn(double());
    case kComplexFloat:
      return fn(Complex<float>());
    case kComplexDouble:
      return fn(Complex<double>());
    default:
      HB_CHECK(false, "[linalg] expected float, double or complex matrices, got ", t.scalar_type());
  }
}

}  // namespace hb
