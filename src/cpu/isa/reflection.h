#pragma once
// Householder's reflections, with which columns are made zero below a place (larfg and larf of LAPACK).

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/isa/row_sums.h"
#include "cpu/lapack/own_loops.h"

namespace hb::cpu::HB_ISA {
namespace {

/// A column's reflection, as larfg's: v[0] becomes what is left of the column, the others the vector with v[0] = 1.
template <class T>
bool reflection(int64_t n, T* v, T& tau) {
  const T below = dot_of_run(v + 1, v + 1, n - 1);
  constexpr T kLeast = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
  tau = 0;
  if (below == 0) return std::all_of(v + 1, v + n, [](T x) { return x == 0; });
  const T alpha = v[0], norm = std::sqrt(alpha * alpha + below);
  if (!(below > kLeast) || !std::isfinite(norm)) return false;
  const T beta = -std::copysign(norm, alpha), scale = T(1) / (alpha - beta);
  tau = (beta - alpha) / beta;
  for (int64_t i = 1; i < n; ++i) v[i] *= scale;
  v[0] = beta;
  return true;
}

/// The vector of reflection k of columns of m elements, with zeros before it from where whole vectors begin.
template <class T>
class Reflector {
 public:
  Reflector(int64_t m, int64_t k, const T* column, T tau)
      : begin_(k / kShort * kShort), first_(k - begin_), n_(m - begin_), tau_(tau) {
    std::fill_n(v_, first_, T(0));
    v_[first_] = 1;
    std::copy(column + k + 1, column + m, v_ + first_ + 1);
  }
  /// 1 - tau v v^T times a column.
  void apply(T* column) const {
    T* __restrict x = column + begin_;
    const T by = tau_ * dot_of_run(v_, x, n_);
    for (int64_t i = first_; i < n_; ++i) x[i] -= by * v_[i];
  }

 private:
  int64_t begin_, first_, n_;
  T tau_;
  alignas(64) T v_[lapack::kLargestOwnQr];
};

/// OwnLoops<T>::form_q.
template <class T>
void form_q(int64_t m, int64_t columns, int64_t count, T* q, const T* tau) {
  for (int64_t c = count; c < columns; ++c) {
    std::fill_n(q + c * m, m, T(0));
    q[c * m + c] = 1;
  }
  for (int64_t k = count - 1; k >= 0; --k) {
    const Reflector<T> h(m, k, q + k * m, tau[k]);
    std::fill_n(q + k * m, m, T(0));
    q[k * m + k] = 1;
    if (tau[k] == 0) continue;  // whatever the vector holds
    for (int64_t c = k; c < columns; ++c) h.apply(q + c * m);
  }
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
