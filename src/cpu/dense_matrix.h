#pragma once
// Decompositions of one dense matrix in double, row-major, without a library. The sign conventions are
// LAPACK's.
#include <cstdint>
#include <vector>

#include <halfbridge/complex.h>

namespace hb::cpu::dense {

/// Householder QR of a (m, n): R in the upper triangle, the reflectors below it, their factors in tau (min(m,
/// n)).
void qr_in_place(double* a, int64_t m, int64_t n, double* tau);
/// The first `columns` columns of Q (m, columns), from `reflectors` reflectors stored by qr_in_place in a (m,
/// n).
void form_q(const double* a, int64_t m, int64_t n, const double* tau, int64_t reflectors, double* q, int64_t columns);

/// LU with row exchanges of a (n, n): row i was exchanged with row pivots[i]. Returns the number (from 1) of
/// the first zero on U's diagonal, or 0.
int64_t lu_in_place(double* a, int64_t n, int64_t* pivots);
/// Solves A X = B in place of b (n, columns), A as lu_in_place left it.
void lu_solve(const double* lu, int64_t n, const int64_t* pivots, double* b, int64_t columns);

/// The lower Cholesky factor in place of a (n, n), zeros above it. Returns the order of the first leading
/// minor that is not positive, or 0.
int64_t cholesky_in_place(double* a, int64_t n);

/// Eigenvalues of the symmetric a (n, n; its lower triangle is read) in ascending order; a becomes their
/// eigenvectors, one per column.
void symmetric_eigen(double* a, int64_t n, double* values);

/// Eigenvalues (n) of any a (n, n), which is overwritten, and their eigenvectors, one per column; `real`: a is real, so
/// that eigenvalues are real or come in exact pairs. False where the algorithm does not converge.
bool general_eigen(Complex<double>* a, int64_t n, bool real, Complex<double>* values, Complex<double>* vectors);

/// a (m, n) = U diag(S) V^T with m >= n: u (m, n), s (n) descending, v (n, n).
void svd(const double* a, int64_t m, int64_t n, double* u, double* s, double* v);

}  // namespace hb::cpu::dense
