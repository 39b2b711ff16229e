#pragma once

#include <cstdint>

#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {

/// A block of n1 rows of n0 elements; strides in bytes.
struct Rows {
  int64_t n0, n1;
};
struct RowsAt {
  char* data;
  int64_t s0, s1;
};

/// Copies rows from one dtype to another, as static_cast does; half types by way of float.
using ConvertRows = void (*)(RowsAt to, RowsAt from, Rows rows);
ConvertRows convert_rows(ScalarType to, ScalarType from);

}  // namespace hb::cpu::HB_ISA
