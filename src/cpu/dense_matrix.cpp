#include "cpu/dense_matrix.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace hb::cpu::dense {

namespace {

/// (I - tau v v^T) applied to rows [first, m) and columns [from, to) of c (m, stride); v[first] = 1, stored
/// with step `v_step`.
void reflect(double* c, int64_t stride, int64_t first, int64_t m, int64_t from, int64_t to, const double* v,
             int64_t v_step, double tau, std::vector<double>& sums) {
  if (tau == 0 || from >= to) return;
  const auto component = [&](int64_t row) { return row == first ? 1.0 : v[row * v_step]; };
  std::fill(sums.begin() + from, sums.begin() + to, 0.0);
  for (int64_t row = first; row < m; ++row) {
    const double vi = component(row);
    const double* values = c + row * stride;
    for (int64_t j = from; j < to; ++j) sums[j] += vi * values[j];
  }
  for (int64_t row = first; row < m; ++row) {
    const double factor = tau * component(row);
    double* values = c + row * stride;
    for (int64_t j = from; j < to; ++j) values[j] -= factor * sums[j];
  }
}

}  // namespace

void qr_in_place(double* a, int64_t m, int64_t n, double* tau) {
  std::vector<double> sums(n);
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    double below = 0;
    for (int64_t i = k + 1; i < m; ++i) below += a[i * n + k] * a[i * n + k];
    const double alpha = a[k * n + k];
    if (below == 0) {
      tau[k] = 0;
      continue;
    }
    const double beta = -std::copysign(std::sqrt(alpha * alpha + below), alpha);
    tau[k] = (beta - alpha) / beta;
    for (int64_t i = k + 1; i < m; ++i) a[i * n + k] /= alpha - beta;
    a[k * n + k] = beta;
    reflect(a, n, k, m, k + 1, n, a + k, n, tau[k], sums);
  }
}

void form_q(const double* a, int64_t m, int64_t n, const double* tau, int64_t reflectors, double* q, int64_t columns) {
  std::fill(q, q + m * columns, 0.0);
  for (int64_t i = 0; i < std::min(m, columns); ++i) q[i * columns + i] = 1;
  std::vector<double> sums(columns);
  // From the last on, a reflector meets nonzero values only right of its own column.
  for (int64_t k = std::min(reflectors, columns) - 1; k >= 0; --k)
    reflect(q, columns, k, m, k, columns, a + k, n, tau[k], sums);
}

int64_t lu_in_place(double* a, int64_t n, int64_t* pivots) {
  int64_t singular = 0;
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::fabs(a[i * n + k]) > std::fabs(a[best * n + k])) best = i;
    pivots[k] = best;
    if (best != k) std::swap_ranges(a + k * n, a + (k + 1) * n, a + best * n);
    const double pivot = a[k * n + k];
    if (pivot == 0) {
      if (singular == 0) singular = k + 1;
      continue;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] /= pivot;
      for (int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return singular;
}

void lu_solve(const double* lu, int64_t n, const int64_t* pivots, double* b, int64_t columns) {
  const auto row = [&](int64_t i) { return b + i * columns; };
  const auto subtract = [&](int64_t from, double factor, int64_t what) {
    for (int64_t j = 0; j < columns; ++j) row(from)[j] -= factor * row(what)[j];
  };
  for (int64_t k = 0; k < n; ++k)
    if (pivots[k] != k) std::swap_ranges(row(k), row(k) + columns, row(pivots[k]));
  for (int64_t i = 1; i < n; ++i)
    for (int64_t k = 0; k < i; ++k) subtract(i, lu[i * n + k], k);
  for (int64_t i = n - 1; i >= 0; --i) {
    for (int64_t k = i + 1; k < n; ++k) subtract(i, lu[i * n + k], k);
    for (int64_t j = 0; j < columns; ++j) row(i)[j] /= lu[i * n + i];
  }
}

int64_t cholesky_in_place(double* a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const double rest = a[i * n + j] - std::inner_product(a + i * n, a + i * n + j, a + j * n, 0.0);
      if (i == j && !(rest > 0)) return i + 1;
      a[i * n + j] = i == j ? std::sqrt(rest) : rest / a[j * n + j];
    }
    std::fill(a + i * n + i + 1, a + (i + 1) * n, 0.0);
  }
  return 0;
}

}  // namespace hb::cpu::dense
