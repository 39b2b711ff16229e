#pragma once
// What Jacobi's methods share: which pairs are turned side by side, and by how much.

#include "cuda/kernel_file.h"
#include "formulas/math.h"

namespace hb::cuda {

constexpr int kSweeps = 40;

struct Pair {
  int p, q;  // q is n where p has nobody to play with
};
/// Pair i of (n + 1) / 2 of a round, as in a tournament: one player stays, the others go round.
__device__ inline Pair pair_of(int n, int round, int i) {
  const int last = (n + 1) / 2 * 2 - 1;
  const int a = (round + i) % last, b = i == 0 ? last : (round + last - i) % last;
  return a < b ? Pair{a, b} : Pair{b, a};
}
__host__ __device__ inline int rounds_of(int n) { return (n + 1) / 2 * 2 - 1; }

/// Tangent, cosine and sine of the angle that makes (xx, size; size, yy) diagonal: xx - t size, yy + t size.
template <class R>
struct Rotation {
  R t, c, s;
  __device__ Rotation(R xx, R yy, R size) {
    const R zeta = (yy - xx) * (R(0.5) / size);
    t = (zeta < 0 ? R(-1) : R(1)) / (std::abs(zeta) + math::hypot(R(1), zeta));
    c = 1 / std::sqrt(1 + t * t), s = c * t;
  }
};

}  // namespace hb::cuda
