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
  int64_t from(int64_t row) const { return lower ? 0 : std::clamp<int64_t>(row + diagonal, 0, columns); }
  int64_t to(int64_t row) const { return lower ? std::clamp<int64_t>(row + diagonal + 1, 0, columns) : columns; }
};
HB_NO_OPERANDS(Triangle)
HB_API inline Kernel<void(const Triangle& t, void* out, const void* in)> triangle_kernel{"tril"};
/// The places (2, count) of its elements, row by row: `rows` and `columns` are the addresses of both lines.
HB_API inline Kernel<void(const Triangle& t, int64_t* rows, int64_t* columns)> triangle_places_kernel{"tril_indices"};

}  // namespace hb
