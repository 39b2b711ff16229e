#pragma once
// Decompositions of matrices so small that calling a library for each takes longer than computing them. Columns lie
// together.

#include <cmath>
#include <utility>

#include "cpu/lapack/stack.h"

namespace hb::cpu::lapack {

constexpr int64_t kSmall = 12;

/// The size that pivots are chosen by, as LAPACK's.
template <class T>
inline auto pivot_size(const T& x) {
  if constexpr (kIsComplex<T>)
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}

/// getrf of a square matrix.
template <class T>
void small_lu(int64_t n, T* a, int32_t* pivots, int32_t& state) {
  state = 0;
  for (int64_t j = 0; j < n; ++j) {
    T* column = a + j * n;
    int64_t p = j;
    for (int64_t i = j + 1; i < n; ++i)
      if (pivot_size(column[i]) > pivot_size(column[p])) p = i;
    pivots[j] = static_cast<int32_t>(p + 1);
    if (column[p] == T(0)) {
      if (state == 0) state = static_cast<int32_t>(j + 1);
      continue;
    }
    if (p != j)
      for (int64_t c = 0; c < n; ++c) std::swap(a[c * n + j], a[c * n + p]);
    const T pivot = column[j];
    for (int64_t i = j + 1; i < n; ++i) column[i] = column[i] / pivot;
    for (int64_t c = j + 1; c < n; ++c) {
      T* other = a + c * n;
      const T factor = other[j];
      for (int64_t i = j + 1; i < n; ++i) other[i] -= column[i] * factor;
    }
  }
}

/// getrs with the matrix itself; `columns` of n right sides, in place.
template <class T>
void small_lu_solve(int64_t n, int64_t columns, const T* lu, int64_t leading, const int32_t* pivots, T* x) {
  for (int64_t c = 0; c < columns; ++c, x += n) {
    for (int64_t i = 0; i < n; ++i) std::swap(x[i], x[pivots[i] - 1]);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j + 1; i < n; ++i) x[i] -= lu[j * leading + i] * x[j];
    for (int64_t j = n - 1; j >= 0; --j) {
      x[j] = x[j] / lu[j * leading + j];
      for (int64_t i = 0; i < j; ++i) x[i] -= lu[j * leading + i] * x[j];
    }
  }
}

/// potrf of the lower triangle of real numbers. Returns the order of the first leading minor that is not positive, or
/// 0.
template <class T>
int32_t small_cholesky(int64_t n, T* a) {
  for (int64_t j = 0; j < n; ++j) {
    T* column = a + j * n;
    if (!(column[j] > T(0))) return static_cast<int32_t>(j + 1);
    const T root = std::sqrt(column[j]);
    column[j] = root;
    for (int64_t i = j + 1; i < n; ++i) column[i] = column[i] / root;
    for (int64_t c = j + 1; c < n; ++c) {
      T* other = a + c * n;
      for (int64_t i = c; i < n; ++i) other[i] -= column[i] * column[c];
    }
  }
  return 0;
}

}  // namespace hb::cpu::lapack
