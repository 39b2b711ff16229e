#pragma once

#include <cstdint>

#include <halfbridge/dtype.h>

namespace hb::cpu {

/// A block of n1 rows of n0 elements; strides in bytes.
struct Rows {
  int64_t n0, n1;
};
struct RowsAt {
  char* data;
  int64_t s0, s1;
};

/// Copies rows from one dtype to another.
using ConvertRows = void (*)(RowsAt to, RowsAt from, Rows rows);

/// For types of which at least one is uint16, uint32 or uint64. Written once, for any CPU: such tensors are converted
/// when they come in and seldom later.
ConvertRows convert_wide_unsigned(ScalarType to, ScalarType from);

}  // namespace hb::cpu
