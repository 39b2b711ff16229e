#pragma once
// Decompositions of batches of matrices. Matrices are contiguous: the last two dimensions, all others
// flattened to one; float or double. `info` (int64, one per matrix) is 0, or says what LAPACK's info says.
#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// a (b, m, n) = q (b, m, k) r (b, min(k, m), n); k = min(m, n) or m.
inline Kernel<void(const Tensor& a, const Tensor& q, const Tensor& r)> qr_kernel{"linalg_qr"};
/// lu (b, n, n) holds the matrices and becomes L and U; pivots (b, n) of int64: row i was exchanged with row
/// pivots[i].
inline Kernel<void(const Tensor& lu, const Tensor& pivots, const Tensor& info)> lu_kernel{"linalg_lu_factor"};
/// x (b, n, columns) holds right-hand sides and becomes solutions.
inline Kernel<void(const Tensor& lu, const Tensor& pivots, const Tensor& x)> lu_solve_kernel{"linalg_lu_solve"};
/// a (b, n, n) becomes its lower Cholesky factor.
inline Kernel<void(const Tensor& a, const Tensor& info)> cholesky_kernel{"linalg_cholesky"};
/// Reads the lower triangle of a (b, n, n), which becomes its eigenvectors (columns); values (b, n)
/// ascend.
inline Kernel<void(const Tensor& a, const Tensor& values)> eigh_kernel{"linalg_eigh"};
/// a (b, n, n) of complex128 is overwritten; values (b, n) and vectors (b, n, n; columns) of the same dtype. info is 1
/// where the algorithm did not converge. `real`: the imaginary parts of a are zero.
inline Kernel<void(const Tensor& a, bool real, const Tensor& values, const Tensor& vectors, const Tensor& info)>
    eig_kernel{"linalg_eig"};
/// a (b, m, n), m >= n: u (b, m, n), s (b, n) descending, v (b, n, n) with a = u diag(s) v^T.
inline Kernel<void(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& v)> svd_kernel{"linalg_svd"};

}  // namespace hb
