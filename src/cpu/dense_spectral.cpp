// Eigenvalues and singular values by Jacobi rotations: slower than bidiagonalisation for large matrices, and
// as accurate as any.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cpu/dense_matrix.h"

namespace hb::cpu::dense {

namespace {

constexpr int kMaxSweeps = 60;

struct Rotation {
  double c, s;
};

/// The rotation that makes the off-diagonal element of [[a, b], [b, d]] zero.
Rotation diagonalise(double a, double b, double d) {
  const double zeta = (d - a) / (2 * b);
  const double t = std::copysign(1.0, zeta) / (std::fabs(zeta) + std::hypot(1.0, zeta));
  const double c = 1 / std::hypot(1.0, t);
  return {c, c * t};
}

void rotate(double* x, double* y, int64_t n, Rotation r) {
  for (int64_t i = 0; i < n; ++i) {
    const double xi = x[i], yi = y[i];
    x[i] = r.c * xi - r.s * yi;
    y[i] = r.s * xi + r.c * yi;
  }
}

double dot(const double* x, const double* y, int64_t n) { return std::inner_product(x, x + n, y, 0.0); }

/// Rotates rows of w (n, m) until they are orthogonal, and rows of v (n, n) along with them.
void orthogonalise_rows(double* w, int64_t n, int64_t m, double* v) {
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p + 1 < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        double *x = w + p * m, *y = w + q * m;
        const double xx = dot(x, x, m), yy = dot(y, y, m), xy = dot(x, y, m);
        if (std::fabs(xy) <= 1e-15 * std::sqrt(xx * yy) || xy == 0) continue;
        const Rotation r = diagonalise(xx, xy, yy);
        rotate(x, y, m, r);
        rotate(v + p * n, v + q * n, n, r);
        rotated = true;
      }
    }
    if (!rotated) return;
  }
}

/// Replaces rows of u (n, m) from `first` on by unit vectors orthogonal to all rows before them.
void complete_rows(double* u, int64_t n, int64_t m, int64_t first) {
  int64_t axis = 0;
  for (int64_t row = first; row < n; ++row) {
    double* x = u + row * m;
    for (double length = 0; length < 0.5 && axis < m; ++axis) {
      std::fill(x, x + m, 0.0);
      x[axis] = 1;
      for (int pass = 0; pass < 2; ++pass)
        for (int64_t k = 0; k < row; ++k) {
          const double along = dot(x, u + k * m, m);
          for (int64_t i = 0; i < m; ++i) x[i] -= along * u[k * m + i];
        }
      length = std::sqrt(dot(x, x, m));
      if (length < 1.0 / (2 * std::sqrt(static_cast<double>(m)))) {
        length = 0;
        continue;
      }
      for (int64_t i = 0; i < m; ++i) x[i] /= length;
      length = 1;
    }
  }
}

}  // namespace

void svd(const double* a, int64_t m, int64_t n, double* u, double* s, double* v) {
  std::vector<double> w(n * m), rotations(n * n, 0.0), lengths(n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) w[j * m + i] = a[i * n + j];
  for (int64_t j = 0; j < n; ++j) rotations[j * n + j] = 1;
  orthogonalise_rows(w.data(), n, m, rotations.data());
  for (int64_t j = 0; j < n; ++j) lengths[j] = std::sqrt(dot(&w[j * m], &w[j * m], m));
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return lengths[x] > lengths[y]; });
  std::vector<double> left(n * m);
  int64_t rank = 0;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t from = order[j];
    s[j] = lengths[from];
    for (int64_t i = 0; i < n; ++i) v[i * n + j] = rotations[from * n + i];
    if (s[j] <= 1e-300) continue;
    for (int64_t i = 0; i < m; ++i) left[j * m + i] = w[from * m + i] / s[j];
    rank = j + 1;
  }
  complete_rows(left.data(), n, m, rank);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) u[i * n + j] = left[j * m + i];
}

void symmetric_eigen(double* a, int64_t n, double* values) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) a[i * n + j] = a[j * n + i];
  std::vector<double> vectors(n * n, 0.0);  // one per row
  for (int64_t i = 0; i < n; ++i) vectors[i * n + i] = 1;
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    double off = 0, all = 0;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) (i == j ? all : off) += a[i * n + j] * a[i * n + j];
    // Below this only rounding errors of earlier rotations are left.
    if (off <= n * n * 1e-32 * all) break;
    for (int64_t p = 0; p + 1 < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        if (std::fabs(a[p * n + q]) <= 1e-17 * std::sqrt(all / n)) continue;
        const Rotation r = diagonalise(a[p * n + p], a[p * n + q], a[q * n + q]);
        rotate(a + p * n, a + q * n, n, r);
        for (int64_t i = 0; i < n; ++i) rotate(&a[i * n + p], &a[i * n + q], 1, r);
        rotate(&vectors[p * n], &vectors[q * n], n, r);
      }
    }
  }
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return a[x * n + x] < a[y * n + y]; });
  for (int64_t j = 0; j < n; ++j) values[j] = a[order[j] * n + order[j]];
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) a[i * n + j] = vectors[order[j] * n + i];
}

}  // namespace hb::cpu::dense
