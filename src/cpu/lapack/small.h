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

/// f(n) with the smallest sizes as constants: such loops are too short to be counted.
template <class F>
inline void with_small_size(int64_t n, const F& f) {
  if (n == 2) return f(std::integral_constant<int64_t, 2>());
  if (n == 3) return f(std::integral_constant<int64_t, 3>());
  if (n == 4) return f(std::integral_constant<int64_t, 4>());
  f(n);
}

/// getrf of a square matrix.
template <class T, class Size>
void small_lu_sized(Size size, T* a, int32_t* pivots, int32_t& state) {
  const int64_t n = size;
  state = 0;
#pragma GCC unroll 4
  for (int64_t j = 0; j < n; ++j) {
    T* column = a + j * n;
    int64_t p = j;
#pragma GCC unroll 4
    for (int64_t i = j + 1; i < n; ++i)
      if (pivot_size(column[i]) > pivot_size(column[p])) p = i;
    pivots[j] = static_cast<int32_t>(p + 1);
    if (column[p] != T(0)) {
      if (p != j)
#pragma GCC unroll 4
        for (int64_t c = 0; c < n; ++c) std::swap(a[c * n + j], a[c * n + p]);
      const T pivot = column[j];
#pragma GCC unroll 4
      for (int64_t i = j + 1; i < n; ++i) column[i] = column[i] / pivot;
    } else if (state == 0) {
      state = static_cast<int32_t>(j + 1);
    }
#pragma GCC unroll 4
    for (int64_t c = j + 1; c < n; ++c) {
      T* other = a + c * n;
      const T factor = other[j];
#pragma GCC unroll 4
      for (int64_t i = j + 1; i < n; ++i) other[i] -= column[i] * factor;
    }
  }
}

template <class T>
void small_lu(int64_t n, T* a, int32_t* pivots, int32_t& state) {
  with_small_size(n, [&](auto size) { small_lu_sized(size, a, pivots, state); });
}

/// One number of each of some right sides: of a right side alone the steps of a solution wait for each other.
template <class T, bool complex = kIsComplex<T>>
struct Lanes {
  static constexpr int64_t kCount = 16 / sizeof(T);
  typedef T type __attribute__((vector_size(16)));
  static type load(const T* x, int64_t step) {
    if constexpr (kCount == 2)
      return type{x[0], x[step]};
    else
      return type{x[0], x[step], x[2 * step], x[3 * step]};
  }
  static void store(type v, T* x, int64_t step) {
    for (int64_t l = 0; l < kCount; ++l) x[l * step] = v[l];
  }
};
template <class T>
struct Lanes<T, true> {
  static constexpr int64_t kCount = 1;
  using type = T;
  static T load(const T* x, int64_t) { return *x; }
  static void store(const T& v, T* x, int64_t) { *x = v; }
};

/// As many right sides as there are lanes, `step` elements from one to the next (0: it is one), in place.
template <class T, class Size>
void small_lu_solve_lanes(Size size, const T* lu, int64_t leading, const int32_t* pivots, T* x, int64_t step) {
  const int64_t n = size;
  typename Lanes<T>::type rows[kSmall];
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) rows[i] = Lanes<T>::load(x + i, step);
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) std::swap(rows[i], rows[pivots[i] - 1]);
#pragma GCC unroll 4
  for (int64_t j = 0; j < n; ++j)
#pragma GCC unroll 4
    for (int64_t i = j + 1; i < n; ++i) rows[i] -= rows[j] * lu[j * leading + i];
#pragma GCC unroll 4
  for (int64_t j = n - 1; j >= 0; --j) {
    rows[j] = rows[j] / lu[j * leading + j];
#pragma GCC unroll 4
    for (int64_t i = 0; i < j; ++i) rows[i] -= rows[j] * lu[j * leading + i];
  }
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) Lanes<T>::store(rows[i], x + i, step);
}

/// getrs with the matrix itself; `columns` of n right sides, in place.
template <class T>
void small_lu_solve(int64_t n, int64_t columns, const T* lu, int64_t leading, const int32_t* pivots, T* x) {
  constexpr int64_t kLanes = Lanes<T>::kCount;
  with_small_size(n, [&](auto size) {
    int64_t c = 0;
    for (; c + kLanes <= columns; c += kLanes) small_lu_solve_lanes(size, lu, leading, pivots, x + c * n, n);
    for (; c < columns; ++c) small_lu_solve_lanes(size, lu, leading, pivots, x + c * n, 0);
  });
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
