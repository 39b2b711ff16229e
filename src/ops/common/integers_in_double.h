#pragma once
// Integers that are computed with in double.

#include <halfbridge/ops.h>

namespace hb::ops {

/// Below this every integer is a double.
constexpr double kExactInDouble = 0x1p53;

/// The largest magnitude in a defined or undefined tensor of doubles; 0 of none.
inline double largest_magnitude(const Tensor& t) {
  return t.defined() && t.numel() ? t.abs().max().item<double>() : 0.0;
}

}  // namespace hb::ops
