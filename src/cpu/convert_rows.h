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

/// Copies rows from one dtype to another. Places come by reference: a caller has just moved on one of their members,
/// and a copy of a structure reads across members before they have arrived in memory.
using ConvertRows = void (*)(const RowsAt& to, const RowsAt& from, Rows rows);

/// For types of which at least one is uint16, uint32 or uint64. Written once, for any CPU: such tensors are converted
/// when they come in and seldom later.
ConvertRows convert_wide_unsigned(ScalarType to, ScalarType from);

}  // namespace hb::cpu
