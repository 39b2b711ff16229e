#pragma once
// LU, QR and eigenvalues of real matrices whose sizes lie between those that the compiler unrolls (small.h) and those
// that pay for a library's preparations. Loops of the CPU's vectors; columns lie together.

#include <cstdint>

#include "backend/kernel.h"

namespace hb::cpu::lapack {

constexpr int64_t kLargestOwnLu = 256, kLargestOwnQr = 128, kLargestOwnEigh = 96;

template <class T>
struct OwnLoops {
  /// getrf of a square matrix.
  void (*lu)(int64_t n, T* a, int32_t* pivots, int32_t& state);
  /// getrs with the matrix itself; `columns` of n right sides, in place.
  void (*lu_solve)(int64_t n, int64_t columns, const T* lu, int64_t leading, const int32_t* pivots, T* x);
  /// geqrf (m, n). False where squares may leave the range of T: what is in `a` is of no use then.
  bool (*qr)(int64_t m, int64_t n, T* a, T* tau);
  /// orgqr: the first `columns` columns of Q in q (m, columns), in whose first columns the `count` reflections are.
  void (*form_q)(int64_t m, int64_t columns, int64_t count, T* q, const T* tau);
  /// syevd (n, n): eigenvalues of the triangle, in rising order, and with `vectors` their vectors in the columns of
  /// `a`. False where squares may leave the range of T or steps do not converge: `a` is as it was then.
  bool (*eigh)(int64_t n, T* a, bool upper, bool vectors, T* values);
};

}  // namespace hb::cpu::lapack

namespace hb::cpu {
namespace v3 {
template <class T>
const lapack::OwnLoops<T>& own_loops();
}
namespace v4 {
template <class T>
const lapack::OwnLoops<T>& own_loops();
}
}  // namespace hb::cpu

namespace hb::cpu::lapack {

template <class T>
const OwnLoops<T>& own_loops() {
  static const OwnLoops<T>& loops = isa_level() >= 4 ? v4::own_loops<T>() : v3::own_loops<T>();
  return loops;
}

}  // namespace hb::cpu::lapack
