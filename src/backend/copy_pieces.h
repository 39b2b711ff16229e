#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/kernel.h"

namespace hb {

/// Pieces of memory that are copied in one call, elements of `size` bytes.
struct PieceCopy {
  void* out;
  const void* in;
  int64_t count;
};
inline void operands(capture::Operands& v, PieceCopy& p) { v.writes(p.out), v.reads(p.in); }
HB_API inline Kernel<void(size_t size, ArrayRef<PieceCopy> pieces)> copy_pieces_kernel{"copy_"};

}  // namespace hb
