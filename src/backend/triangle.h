#pragma once

#include <algorithm>

#include "backend/kernel.h"

namespace hb {

/// Copies (matrices, rows, columns), contiguous, with zeros where column - row > diagonal (lower) or < diagonal. `in`
/// may be `out`.
struct Triangle {
  int64_t matrices, rows, columns, diagonal, itemsize;
  bool lower;

  /// Which columns [from, to) of a row are kept.
  constexpr int64_t from(int64_t row) const { return lower ? 0 : std::clamp<int64_t>(row + diagonal, 0, columns); }
  constexpr int64_t to(int64_t row) const {
    return lower ? std::clamp<int64_t>(row + diagonal + 1, 0, columns) : columns;
  }
  /// How many elements the rows before `row` keep.
  constexpr int64_t before(int64_t row) const {
    // A row's line reaches one column further than the line before it, between its first and its last column.
    const int64_t reach = lower ? diagonal + 1 : diagonal;
    const int64_t first = std::clamp<int64_t>(-reach, 0, row), last = std::clamp<int64_t>(columns - reach, 0, row);
    const int64_t sum = (last - first) * reach + (last - first) * (first + last - 1) / 2 + (row - last) * columns;
    return lower ? sum : row * columns - sum;
  }
};
HB_NO_OPERANDS(Triangle)
HB_API inline Kernel<void(const Triangle& t, void* out, const void* in)> triangle_kernel{"tril"};
/// The places (2, count) of its elements, row by row: `rows` and `columns` are the addresses of both lines.
HB_API inline Kernel<void(const Triangle& t, int64_t* rows, int64_t* columns)> triangle_places_kernel{"tril_indices"};

}  // namespace hb
