#pragma once
// Stacks of matrices as LAPACK's routines are given them, and how threads share a stack.
#include <algorithm>
#include <cmath>
#include <memory>

#include <halfbridge/tensor.h>

#include "backend/decompositions.h"
#include "cpu/lapack/in_use.h"
#include "cpu/lapack/library.h"
#include "cpu/parallel.h"

namespace hb::cpu::lapack {

/// The tensor's memory, for a kernel: the program does not learn its address.
template <class T>
T* elements(const Tensor& t) {
  return static_cast<T*>(t.impl().visible_data());
}

/// OpenBLAS 0.3.21's products of a complex matrix and a vector (cgemv and zgemv of "N", on every x86 CPU) read an
/// element more than the vector has. Where it is a row of a matrix, that is a leading dimension beyond the row's end.
/// So complex matrices are copied, and they and workspaces have memory behind them.
template <class T>
constexpr bool kReadsBeyond = kIsComplex<T>;

/// The elements of a tensor (count, rows, columns).
template <class T>
struct Stack {
  T* data;
  int64_t count, rows, columns;
  int64_t step, row, column;  // strides

  explicit Stack(const Tensor& t)
      : data(elements<T>(t)),
        count(t.size(0)),
        rows(t.size(1)),
        columns(t.size(2)),
        step(t.stride(0)),
        row(t.stride(1)),
        column(t.stride(2)) {}
  T* at(int64_t i) const { return data + i * step; }
  /// Whether LAPACK can read a matrix where it lies, `leading()` elements from one column to the next.
  bool by_columns() const { return !kReadsBeyond<T> && (row == 1 || rows == 1) && (column >= rows || columns == 1); }
  bool by_rows() const { return !kReadsBeyond<T> && (column == 1 || columns == 1) && (row >= columns || rows == 1); }
  Int leading() const { return static_cast<Int>(columns == 1 ? rows : column); }
  Int leading_row() const { return static_cast<Int>(rows == 1 ? columns : row); }

  /// Copies matrix i, from `first` on `count` columns, to columns `leading` apart.
  void pack(int64_t i, T* to, int64_t leading, int64_t first, int64_t many) const {
    const T* from = at(i) + first * column;
    if (row == 1) {
      for (int64_t c = 0; c < many; ++c) std::copy_n(from + c * column, rows, to + c * leading);
      return;
    }
    constexpr int64_t kBlock = 16;  // a block's lines stay in the first cache while it is turned around
    for (int64_t r0 = 0; r0 < rows; r0 += kBlock)
      for (int64_t c0 = 0; c0 < many; c0 += kBlock)
        for (int64_t c = c0; c < std::min(many, c0 + kBlock); ++c)
          for (int64_t r = r0; r < std::min(rows, r0 + kBlock); ++r) to[c * leading + r] = from[r * row + c * column];
  }
  void pack(int64_t i, T* to) const { pack(i, to, rows, 0, columns); }
};

template <class T>
std::unique_ptr<T[]> matrix_room(int64_t rows, int64_t columns) {
  return std::unique_ptr<T[]>(new T[std::max<int64_t>(rows * columns + (kReadsBeyond<T> ? rows : 0), 1)]);
}
/// A vector or a workspace of `n` elements, in which a routine may keep matrices of any leading dimension.
template <class T>
std::unique_ptr<T[]> room(int64_t n) {
  return matrix_room<T>(n, 1);
}

/// Where a routine writes matrix i, which lies by columns.
template <class T>
class Written {
 public:
  Written(const Stack<T>& s, int64_t i) : to_(s.at(i)), count_(s.rows * s.columns) {
    if constexpr (kReadsBeyond<T>) space_ = matrix_room<T>(s.rows, s.columns);
  }
  ~Written() {
    if (space_) std::copy_n(space_.get(), count_, to_);
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  T* data() const { return space_ ? space_.get() : to_; }

 private:
  T* to_;
  int64_t count_;
  std::unique_ptr<T[]> space_;
};

/// Matrix i where it lies, or its copy in `space`.
template <class T>
struct Readable {
  const T* data;
  Int leading;
  Readable(const Stack<T>& s, int64_t i, std::unique_ptr<T[]>& space) {
    if (s.by_columns()) {
      data = s.at(i), leading = s.leading();
      return;
    }
    if (!space) space = matrix_room<T>(s.rows, s.columns);
    s.pack(i, space.get());
    data = space.get(), leading = static_cast<Int>(s.rows);
  }
};

/// Threads share matrices, of which each takes `work` multiplications.
template <class F>
void each_range(int64_t count, int64_t work, const F& fn) {
  constexpr int64_t kWorth = 20000;  // multiplications that pay for a second thread
  const InUse in_use;
  parallel_for(0, count, std::max<int64_t>(1, kWorth / std::max<int64_t>(work, 1)), fn);
}

/// Threads share matrices, or the columns of their right-hand sides where there are fewer matrices than threads:
/// fn(matrix, first column, how many).
template <class F>
void each_block(int64_t count, int64_t columns, int64_t work, const F& fn) {
  constexpr int64_t kColumns = 32;
  const int64_t threads = threads_for(get_num_threads(), 1);
  const int64_t blocks =
      count >= threads ? 1 : std::clamp<int64_t>(columns / kColumns, 1, (threads + count - 1) / count);
  const int64_t each = (columns + blocks - 1) / blocks;
  each_range(count * blocks, work / blocks, [&](int64_t from, int64_t to) {
    for (int64_t u = from; u < to; ++u) {
      const int64_t first = u % blocks * each;
      if (first < columns) fn(u / blocks, first, std::min(each, columns - first));
    }
  });
}

/// The size that a routine put at the front of its workspace; a float may have rounded it down.
template <class T>
Int asked(const T& answer) {
  if constexpr (kIsComplex<T>)
    return asked(answer.real());
  else
    return static_cast<Int>(std::nextafter(answer, INFINITY) + 1);
}

}  // namespace hb::cpu::lapack
