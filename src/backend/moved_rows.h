#pragma once

#include "backend/kernel.h"

namespace hb {

/// Rows of `whole` elements: every second one from `first` on is the next of `count` that a row of the input has, all
/// others are zero.
struct Spaced {
  int64_t rows, whole, first, count, itemsize;
};
HB_NO_OPERANDS(Spaced)
HB_API inline Kernel<void(const Spaced& s, void* out, const void* in)> spaced_kernel{"slice"};

/// Elements of `a` and `b`, n of each, in turn.
HB_API inline Kernel<void(int64_t itemsize, int64_t n, void* out, const void* a, const void* b)> interleaved_kernel{
    "stack"};

/// Rows that each have the next `bytes` of every part, one behind the other.
struct RowPart {
  const void* in;
  int64_t bytes;
};
inline void operands(capture::Operands& v, RowPart& p) { v.reads(p.in); }
HB_API inline Kernel<void(void* out, int64_t rows, ArrayRef<RowPart> parts)> joined_rows_kernel{"cat"};

/// Rows that begin at byte `start` of the input's and go on from their begin.
struct Turned {
  int64_t rows, row_bytes, start;
};
HB_NO_OPERANDS(Turned)
HB_API inline Kernel<void(const Turned& t, void* out, const void* in)> turned_kernel{"roll"};

}  // namespace hb
