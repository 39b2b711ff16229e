#pragma once
// Stacks of small matrices, each of which some lanes of a warp, or a block, decompose in shared memory: a launch for a
// whole stack. False, and nothing done, where the matrices are too large.

#include <cstdint>

#include <halfbridge/tensor.h>

namespace hb::cuda {

constexpr int64_t kSmallSide = 32;

/// As lu_factor_kernel and cholesky_kernel.
bool small_lu(const Tensor& a, const Tensor& lu, const Tensor& pivots, const Tensor& info);
bool small_cholesky(const Tensor& a, const Tensor& factor, bool upper, const Tensor& info);

/// What x solves: form(A) x = right. Of A a triangle is read, both of an LU, or one of a Cholesky factor.
struct SmallSystem {
  enum Kind { triangle, lu, cholesky } kind;
  bool upper = false, unit = false, turned = false, conjugate = false;  // form(A) is A turned, conjugated
};
/// `right` may be x itself; pivots are those of an LU.
bool small_solve(const SmallSystem& system, const Tensor& a, const Tensor& pivots, const Tensor& right,
                 const Tensor& x);

/// QR of `a`, or, with `given` factors, of the reflections that it holds: Q and R, or the reflections with their
/// factors `tau`, each undefined where it is not wanted; with `tau` the reflections are left below R.
bool small_qr(const Tensor& a, const Tensor& given, const Tensor& q, const Tensor& r, const Tensor& tau);

/// As svd_kernel.
bool small_svd(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& info);
/// Of matrices by columns, which are finite: as eigh_kernel, with the vectors in place of the matrices where `vectors`.
bool small_eigh(const Tensor& matrices, bool upper, const Tensor& values, bool vectors, const Tensor& info);

}  // namespace hb::cuda
