// LU and QR of matrices of middle size, and the list of all loops of such (cpu/lapack/own_loops.h).
#include "cpu/lapack/own_loops.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cpu/isa/own_eigh.h"
#include "cpu/isa/reflection.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int kPanel = 4;     // columns of a factor that are used at once
constexpr int kTogether = 2;  // right sides that share them: their numbers stay in registers

/// `kColumns` columns of x, from row 0 to `rows`: minus kPanel columns of a factor times the numbers `by`.
template <int kColumns, class T>
inline void take_panel(int64_t rows, const T* factor, int64_t leading, const T (&by)[kColumns][kPanel], T* x,
                       int64_t step) {
  HB_INDEPENDENT
  for (int64_t i = 0; i < rows; ++i)
    for (int c = 0; c < kColumns; ++c) {
      T sum = x[c * step + i];
      for (int p = 0; p < kPanel; ++p) sum -= factor[p * leading + i] * by[c][p];
      x[c * step + i] = sum;
    }
}

/// fn(number of columns as a constant, the first of them): kTogether and then one at a time.
template <class F>
inline void each_columns(int64_t first, int64_t end, const F& fn) {
  for (; first + kTogether <= end; first += kTogether) fn(std::integral_constant<int, kTogether>(), first);
  for (; first < end; ++first) fn(std::integral_constant<int, 1>(), first);
}

/// Rows [k, k + kPanel) of columns of x divided by L's triangle there, and the rows below without what follows of it.
template <int kColumns, class T>
inline void forward_panel(int64_t n, int64_t k, const T* l, int64_t leading, T* x, int64_t step) {
  const T* panel = l + k * leading;
  T by[kColumns][kPanel];
  for (int c = 0; c < kColumns; ++c)
    for (int p = 0; p < kPanel; ++p) {
      T v = x[c * step + k + p];
      for (int q = 0; q < p; ++q) v -= panel[q * leading + k + p] * by[c][q];
      x[c * step + k + p] = by[c][p] = v;
    }
  take_panel<kColumns>(n - k - kPanel, panel + k + kPanel, leading, by, x + k + kPanel, step);
}
/// The same of U, whose rows above follow.
template <int kColumns, class T>
inline void backward_panel(int64_t k, const T* u, int64_t leading, const T (&inverse)[kPanel], T* x, int64_t step) {
  const T* panel = u + k * leading;
  T by[kColumns][kPanel];
  for (int c = 0; c < kColumns; ++c)
    for (int p = kPanel - 1; p >= 0; --p) {
      T v = x[c * step + k + p];
      for (int q = kPanel - 1; q > p; --q) v -= panel[q * leading + k + p] * by[c][q];
      // A pivot that is not normal has no inverse.
      x[c * step + k + p] = by[c][p] = std::isfinite(inverse[p]) ? v * inverse[p] : v / panel[p * leading + k + p];
    }
  take_panel<kColumns>(k, panel, leading, by, x, step);
}

/// Column j of a panel that ends at `end`: its rows from j on are exchanged, divided and taken from the panel's rest.
template <class T>
void factor_column(int64_t n, int64_t j, int64_t begin, int64_t end, T* a, int32_t* pivots, int32_t& state) {
  T* column = a + j * n;
  int64_t p = j;
  for (int64_t i = j + 1; i < n; ++i)
    if (std::abs(column[i]) > std::abs(column[p])) p = i;
  pivots[j] = static_cast<int32_t>(p + 1);
  if (column[p] != T(0)) {
    for (int64_t c = begin; c < end; ++c) std::swap(a[c * n + j], a[c * n + p]);
    const T pivot = column[j];
    for (int64_t i = j + 1; i < n; ++i) column[i] /= pivot;
  } else if (state == 0) {
    state = static_cast<int32_t>(j + 1);
  }
  for (int64_t c = j + 1; c < end; ++c) {
    T* other = a + c * n;
    const T factor = other[j];
    HB_INDEPENDENT
    for (int64_t i = j + 1; i < n; ++i) other[i] -= column[i] * factor;
  }
}

/// What pivots [first, end) do to a column.
template <class T>
inline void exchange(T* column, const int32_t* pivots, int64_t first, int64_t end) {
  for (int64_t j = first; j < end; ++j) std::swap(column[j], column[pivots[j] - 1]);
}

template <class T>
void lu(int64_t n, T* a, int32_t* pivots, int32_t& state) {
  state = 0;
  for (int64_t k = 0; k < n; k += kPanel) {
    const int64_t end = std::min(n, k + kPanel);
    for (int64_t j = k; j < end; ++j) factor_column(n, j, k, end, a, pivots, state);
    each_columns(end, n, [&](auto columns, int64_t c) {
      for (int64_t i = c; i < c + columns; ++i) exchange(a + i * n, pivots, k, end);
      forward_panel<columns>(n, k, a, n, a + c * n, n);
    });
  }
  for (int64_t c = 0; c < n; ++c) exchange(a + c * n, pivots, (c / kPanel + 1) * kPanel, n);
}

template <class T>
void lu_solve(int64_t n, int64_t columns, const T* lu, int64_t leading, const int32_t* pivots, T* x) {
  const int64_t whole = n / kPanel * kPanel;
  for (int64_t c = 0; c < columns; ++c) exchange(x + c * n, pivots, 0, n);
  for (int64_t k = 0; k < whole; k += kPanel)
    each_columns(0, columns, [&](auto many, int64_t c) { forward_panel<many>(n, k, lu, leading, x + c * n, n); });
  for (int64_t c = 0; c < columns; ++c) {  // the few rows beside whole panels
    T* column = x + c * n;
    for (int64_t j = whole; j < n; ++j)
      for (int64_t i = j + 1; i < n; ++i) column[i] -= lu[j * leading + i] * column[j];
    for (int64_t j = n - 1; j >= whole; --j) {
      const T v = column[j] = column[j] / lu[j * leading + j];
      HB_INDEPENDENT
      for (int64_t i = 0; i < j; ++i) column[i] -= lu[j * leading + i] * v;
    }
  }
  for (int64_t k = whole - kPanel; k >= 0; k -= kPanel) {
    T inverse[kPanel];
    for (int p = 0; p < kPanel; ++p) inverse[p] = T(1) / lu[(k + p) * leading + k + p];
    each_columns(0, columns,
                 [&](auto many, int64_t c) { backward_panel<many>(k, lu, leading, inverse, x + c * n, n); });
  }
}

template <class T>
bool qr(int64_t m, int64_t n, T* a, T* tau) {
  if (sum_over<T>(m * n, [a](int64_t i) { return a[i] * 0; }) != 0) return false;  // not finite
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    if (!reflection(m - k, a + k * m + k, tau[k])) return false;
    if (tau[k] == 0) continue;
    const Reflector<T> h(m, k, a + k * m, tau[k]);
    for (int64_t c = k + 1; c < n; ++c) h.apply(a + c * m);
  }
  return true;
}

}  // namespace

template <class T>
const lapack::OwnLoops<T>& own_loops() {
  static const lapack::OwnLoops<T> loops{lu<T>, lu_solve<T>, qr<T>, form_q<T>, eigh<T>};
  return loops;
}
template const lapack::OwnLoops<float>& own_loops();
template const lapack::OwnLoops<double>& own_loops();

}  // namespace hb::cpu::HB_ISA
