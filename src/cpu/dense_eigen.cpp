// Eigenvalues and eigenvectors of general matrices: Hessenberg form by reflections, Schur form by shifted QR steps,
// vectors by back substitution (Golub and Van Loan, Matrix Computations, chapter 7).
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/dense_matrix.h"

namespace hb::cpu::dense {
namespace {

using Z = Complex<double>;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMaxSteps = 60;  // per eigenvalue

double size1(const Z& z) { return std::fabs(z.real()) + std::fabs(z.imag()); }

/// A square matrix by rows.
struct Square {
  Z* data;
  int64_t n;
  Z& operator()(int64_t i, int64_t j) const { return data[i * n + j]; }
};

/// h = q^H a q with zeros below the first subdiagonal; q starts as the identity.
void to_hessenberg(Square h, Square q) {
  const int64_t n = h.n;
  std::vector<Z> v(n);
  for (int64_t k = 0; k + 2 < n; ++k) {
    double tail = 0;
    for (int64_t i = k + 2; i < n; ++i) tail += norm(h(i, k));
    if (tail == 0) continue;
    const double head = abs(h(k + 1, k)), length = std::sqrt(tail + head * head);
    const Z phase = head == 0 ? Z(1) : h(k + 1, k) / Z(head);
    for (int64_t i = k + 1; i < n; ++i) v[i] = h(i, k);
    v[k + 1] += phase * Z(length);
    double vv = 0;
    for (int64_t i = k + 1; i < n; ++i) vv += norm(v[i]);
    const auto from_left = [&](Square m, int64_t first) {
      for (int64_t j = first; j < n; ++j) {
        Z sum;
        for (int64_t i = k + 1; i < n; ++i) sum += conj(v[i]) * m(i, j);
        sum *= Z(2 / vv);
        for (int64_t i = k + 1; i < n; ++i) m(i, j) -= v[i] * sum;
      }
    };
    const auto from_right = [&](Square m) {
      for (int64_t i = 0; i < n; ++i) {
        Z sum;
        for (int64_t j = k + 1; j < n; ++j) sum += m(i, j) * v[j];
        sum *= Z(2 / vv);
        for (int64_t j = k + 1; j < n; ++j) m(i, j) -= sum * conj(v[j]);
      }
    };
    from_left(h, k), from_right(h), from_right(q);
    for (int64_t i = k + 2; i < n; ++i) h(i, k) = Z();
  }
}

/// The eigenvalue of the last two rows and columns that is nearer to the last element (Wilkinson's shift).
Z shift_of(Square h, int64_t last) {
  const Z a = h(last - 1, last - 1), b = h(last - 1, last), c = h(last, last - 1), d = h(last, last);
  const Z half = (a - d) * Z(0.5), product = b * c;
  if (product == Z()) return d;
  const Z root = std::sqrt(std::complex<double>(half * half + product));
  const Z sum = norm(half + root) > norm(half - root) ? half + root : half - root;
  return d - product / sum;
}

/// One QR step on rows and columns [first, last] of h.
void qr_step(Square h, Square q, int64_t first, int64_t last, const Z& shift) {
  const int64_t n = h.n;
  struct Rotation {
    double c;
    Z s;
  };
  std::vector<Rotation> rotations(last - first);
  for (int64_t i = first; i <= last; ++i) h(i, i) -= shift;
  for (int64_t k = first; k < last; ++k) {
    const Z x = h(k, k), y = h(k + 1, k);
    const double length = std::hypot(abs(x), abs(y)), head = abs(x);
    Rotation& r = rotations[k - first];
    if (length == 0) {
      r = {1, Z()};
      continue;
    }
    const Z phase = head == 0 ? Z(1) : x / Z(head);
    r = {head / length, phase * conj(y) / Z(length)};
    for (int64_t j = k; j < n; ++j) {
      const Z above = h(k, j), below = h(k + 1, j);
      h(k, j) = above * Z(r.c) + r.s * below;
      h(k + 1, j) = below * Z(r.c) - conj(r.s) * above;
    }
  }
  for (int64_t k = first; k < last; ++k) {
    const Rotation& r = rotations[k - first];
    const auto turn = [&](Square m, int64_t rows) {
      for (int64_t i = 0; i < rows; ++i) {
        const Z left = m(i, k), right = m(i, k + 1);
        m(i, k) = left * Z(r.c) + conj(r.s) * right;
        m(i, k + 1) = right * Z(r.c) - r.s * left;
      }
    };
    turn(h, std::min(k + 2, last) + 1);
    turn(q, n);
  }
  for (int64_t i = first; i <= last; ++i) h(i, i) += shift;
}

/// h becomes triangular. False where the steps do not converge.
bool to_schur(Square h, Square q) {
  double scale = 0;
  for (int64_t i = 0; i < h.n * h.n; ++i) scale = std::max(scale, size1(h.data[i]));
  if (!std::isfinite(scale)) return false;
  int steps = 0;
  for (int64_t last = h.n - 1; last > 0;) {
    int64_t first = last;
    for (; first > 0; --first) {
      double near = size1(h(first - 1, first - 1)) + size1(h(first, first));
      if (near == 0) near = scale;
      if (size1(h(first, first - 1)) <= kEpsilon * near) break;
    }
    if (first > 0) h(first, first - 1) = Z();
    if (first == last) {
      --last, steps = 0;
      continue;
    }
    if (++steps > kMaxSteps) return false;
    // Now and then another shift, for matrices on which the usual one runs in circles.
    const Z shift = steps % 10 == 0 ? h(last, last) + Z(size1(h(last, last - 1))) : shift_of(h, last);
    qr_step(h, q, first, last, shift);
  }
  return true;
}

/// Columns of v: q times the eigenvectors of the triangular t, of length 1, their largest element real.
void back_substitute(Square t, Square q, Square v) {
  const int64_t n = t.n;
  double scale = 0;
  for (int64_t i = 0; i < n * n; ++i) scale = std::max(scale, size1(t.data[i]));
  const double smallest = std::max(kEpsilon * scale, std::numeric_limits<double>::min());
  std::vector<Z> x(n), column(n);
  for (int64_t k = 0; k < n; ++k) {
    x[k] = Z(1);
    for (int64_t i = k - 1; i >= 0; --i) {
      Z sum;
      for (int64_t j = i + 1; j <= k; ++j) sum += t(i, j) * x[j];
      Z gap = t(k, k) - t(i, i);
      if (size1(gap) < smallest) gap = Z(smallest);
      x[i] = sum / gap;
    }
    double length = 0;
    Z largest;
    for (int64_t i = 0; i < n; ++i) {
      Z sum;
      for (int64_t j = 0; j <= k; ++j) sum += q(i, j) * x[j];
      column[i] = sum, length += norm(sum);
      if (norm(sum) > norm(largest) * (1 + 64 * kEpsilon)) largest = sum;
    }
    const Z factor = conj(largest) / Z(abs(largest) * std::sqrt(length));
    for (int64_t i = 0; i < n; ++i) v(i, k) = column[i] * factor;
  }
}

/// For a real matrix: eigenvalues that differ from real ones by rounding become real, others exact pairs.
void pair_up(Z* values, Square v, double tolerance) {
  const int64_t n = v.n;
  std::vector<bool> done(n, false);
  for (int64_t k = 0; k < n; ++k) {
    if (done[k]) continue;
    done[k] = true;
    if (std::fabs(values[k].imag()) <= tolerance) {
      values[k].imag(0);
      for (int64_t i = 0; i < n; ++i) v(i, k).imag(0);
      continue;
    }
    int64_t partner = -1;
    for (int64_t j = k + 1; j < n; ++j)
      if (!done[j] && (partner < 0 || norm(values[j] - conj(values[k])) < norm(values[partner] - conj(values[k]))))
        partner = j;
    if (partner < 0 || norm(values[partner] - conj(values[k])) > norm(values[k]) * 1e-12) continue;
    done[partner] = true;
    values[partner] = conj(values[k]);
    for (int64_t i = 0; i < n; ++i) v(i, partner) = conj(v(i, k));
  }
}

}  // namespace

bool general_eigen(Z* a, int64_t n, bool real, Z* values, Z* vectors) {
  std::vector<Z> turns(n * n);
  for (int64_t i = 0; i < n; ++i) turns[i * n + i] = Z(1);
  const Square h{a, n}, q{turns.data(), n}, v{vectors, n};
  double size = 0;
  for (int64_t i = 0; i < n * n; ++i) size = std::max(size, size1(a[i]));
  to_hessenberg(h, q);
  if (!to_schur(h, q)) return false;
  for (int64_t i = 0; i < n; ++i) values[i] = h(i, i);
  back_substitute(h, q, v);
  if (real) pair_up(values, v, 16 * kEpsilon * static_cast<double>(n) * size);
  return true;
}

}  // namespace hb::cpu::dense
