#pragma once

#include <cmath>
#include <cstdint>

#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {

/// A row of a product of two vectors: a sum of one term, which begins with 0, as that of any product. One rounding, and
/// the same bits wherever it is compiled.
template <class T>
inline void outer_row(T x, const T* row, int64_t n, T* out) {
  HB_INDEPENDENT
  for (int64_t j = 0; j < n; ++j) out[j] = std::fma(x, row[j], T(0));
}

}  // namespace hb::cpu::HB_ISA
