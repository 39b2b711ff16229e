#pragma once

#include "backend/kernel.h"

namespace hb {

/// Copies (matrices, rows, columns), contiguous, with zeros where column - row > diagonal (lower) or < diagonal. `in`
/// may be `out`.
struct Triangle {
  int64_t matrices, rows, columns, diagonal, itemsize;
  bool lower;
};
HB_NO_OPERANDS(Triangle)
HB_API inline Kernel<void(const Triangle& t, void* out, const void* in)> triangle_kernel{"tril"};

}  // namespace hb
