// Eigenvalues of symmetric matrices of middle size (cpu/lapack/own_loops.h): a tridiagonal matrix by reflections, and
// its values by implicit QL steps with Wilkinson's shift (Golub and Van Loan, Matrix Computations, sections 8.3.1
// and 8.3.3).
#include "cpu/isa/own_eigh.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "cpu/isa/reflection.h"
#include "cpu/lapack/own_loops.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kMost = lapack::kLargestOwnEigh;
static_assert(kMost <= lapack::kLargestOwnQr, "a reflection has room for so many rows");
constexpr int kMostSteps = 30;  // of one value; two are usual

template <class T>
struct Rotation {
  T c, s;
};

/// A matrix T = Q^T A Q of three diagonals and its Q, whose columns are of n elements.
template <class T>
class Tridiagonal {
 public:
  explicit Tridiagonal(int64_t n) : n_(n), a_(new T[n * n]) {}
  T* q() { return a_.get(); }
  T* values() { return d_; }

  /// From a triangle of `a`. False where squares may leave the range of T.
  bool reduce(const T* a, bool upper) {
    mirror(a, upper);
    if (!in_range()) return false;
    tau_[0] = 0;
    for (int64_t k = 0; k + 1 < n_; ++k) {
      T* column = a_.get() + k * n_;
      d_[k] = column[k];
      if (!reflection(n_ - k - 1, column + k + 1, tau_[k + 1])) return false;
      e_[k] = column[k + 1];
      if (tau_[k + 1] != 0) take_both_sides(k);
    }
    d_[n_ - 1] = a_[n_ * n_ - 1], e_[n_ - 1] = 0;
    return true;
  }

  /// Q itself, where the vectors of its reflections are: they begin a row lower than those of a QR, as if its first
  /// column had none.
  void turn_to_q() {
    T* q = a_.get();
    for (int64_t c = n_ - 1; c > 0; --c) std::copy_n(q + (c - 1) * n_, n_, q + c * n_);
    form_q(n_, n_, n_, q, tau_);
  }

  /// The values, in place of the diagonal; the columns of Q become their vectors. False where steps do not converge.
  bool diagonalize(bool vectors) {
    for (int64_t low = 0; low < n_; ++low) {
      for (int steps = 0;; ++steps) {
        const int64_t high = block_end(low);
        if (high == low) break;
        if (steps == kMostSteps) return false;
        const int64_t from = step(low, high);
        if (vectors) rotate_columns(from, high);
      }
    }
    return true;
  }

 private:
  void mirror(const T* a, bool upper) {
    for (int64_t c = 0; c < n_; ++c)
      for (int64_t r = 0; r <= c; ++r) a_[c * n_ + r] = a_[r * n_ + c] = upper ? a[c * n_ + r] : a[r * n_ + c];
  }
  bool in_range() const {
    const T sum = sum_over<T>(n_ * n_, [a = a_.get()](int64_t i) { return a[i] * a[i]; });
    constexpr T kLeast = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
    return sum == 0 || (sum > kLeast && std::isfinite(sum));
  }

  /// Reflection k from both sides: A - v w^T - w v^T, where w = p - v (tau p^T v / 2) and p = tau A v.
  void take_both_sides(int64_t k) {
    const int64_t first = k + 1, m = n_ - first;
    const T tau = tau_[first];
    T* corner = a_.get() + first * n_ + first;
    T* const stored = a_.get() + k * n_ + first;
    T v[kMost], w[kMost];
    v[0] = 1;
    std::copy(stored + 1, stored + m, v + 1);
    for (int64_t c = 0; c < m; ++c) w[c] = tau * dot_of_run(corner + c * n_, v, m);
    const T half = tau * dot_of_run(w, v, m) / 2;
    for (int64_t i = 0; i < m; ++i) w[i] -= half * v[i];
    for (int64_t c = 0; c < m; ++c) {
      T* __restrict x = corner + c * n_;
      const T by_w = w[c], by_v = v[c];
      for (int64_t i = 0; i < m; ++i) x[i] -= v[i] * by_w + w[i] * by_v;
    }
  }

  /// The last row of the block that begins at `low`: the number beside it is as good as zero.
  int64_t block_end(int64_t low) const {
    constexpr T kEpsilon = std::numeric_limits<T>::epsilon();
    for (int64_t m = low; m + 1 < n_; ++m)
      if (std::abs(e_[m]) <= kEpsilon / 2 * (std::abs(d_[m]) + std::abs(d_[m + 1]))) return m;
    return n_ - 1;
  }

  /// One step of rows [low, high], whose rotations are kept. Returns the first row that it came to.
  int64_t step(int64_t low, int64_t high) {
    const T half = (d_[low + 1] - d_[low]) / (2 * e_[low]);
    const T root = std::sqrt(half * half + 1);
    T g = d_[high] - d_[low] + e_[low] / (half + std::copysign(root, half));
    T s = 1, c = 1, p = 0;
    for (int64_t i = high - 1; i >= low; --i) {
      const T f = s * e_[i], b = c * e_[i];
      const T r = std::sqrt(f * f + g * g);
      e_[i + 1] = r;
      if (r == 0) {  // the block falls apart here
        d_[i + 1] -= p;
        e_[high] = 0;
        return i + 1;
      }
      const T by = 1 / r;
      s = f * by, c = g * by;
      g = d_[i + 1] - p;
      const T t = (d_[i] - g) * s + 2 * c * b;
      p = s * t;
      d_[i + 1] = g + p;
      g = c * t - b;
      rotation_[i] = {c, s};
    }
    d_[low] -= p, e_[low] = g, e_[high] = 0;
    return low;
  }

  /// The rotations of a step, of columns i and i + 1 for i from high - 1 down to `from`.
  void rotate_columns(int64_t from, int64_t high) {
    constexpr int64_t kRows = 64;
    for (int64_t row = 0; row < n_; row += kRows) {
      const int64_t rows = std::min(kRows, n_ - row);
      T carried[kRows];
      std::copy_n(a_.get() + high * n_ + row, rows, carried);
      for (int64_t i = high - 1; i >= from; --i) {
        const T* __restrict x = a_.get() + i * n_ + row;
        T* __restrict y = a_.get() + (i + 1) * n_ + row;
        const auto [c, s] = rotation_[i];
        for (int64_t k = 0; k < rows; ++k) {
          const T before = carried[k];
          y[k] = s * x[k] + c * before;
          carried[k] = c * x[k] - s * before;
        }
      }
      std::copy_n(carried, rows, a_.get() + from * n_ + row);
    }
  }

  int64_t n_;
  std::unique_ptr<T[]> a_;
  T d_[kMost], e_[kMost];
  T tau_[kMost];  // of the reflection that begins in a row; that of row 0 is none
  Rotation<T> rotation_[kMost];
};

}  // namespace

template <class T>
bool eigh(int64_t n, T* a, bool upper, bool vectors, T* values) {
  Tridiagonal<T> m(n);
  if (!m.reduce(a, upper)) return false;
  if (vectors) m.turn_to_q();
  if (!m.diagonalize(vectors)) return false;
  int64_t order[kMost];
  std::iota(order, order + n, 0);
  std::stable_sort(order, order + n, [d = m.values()](int64_t i, int64_t j) { return d[i] < d[j]; });
  for (int64_t k = 0; k < n; ++k) {
    values[k] = m.values()[order[k]];
    if (vectors) std::copy_n(m.q() + order[k] * n, n, a + k * n);
  }
  return true;
}

template bool eigh<float>(int64_t n, float* a, bool upper, bool vectors, float* values);
template bool eigh<double>(int64_t n, double* a, bool upper, bool vectors, double* values);

}  // namespace hb::cpu::HB_ISA
