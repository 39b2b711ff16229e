#pragma once

#include "formulas/unary_formulas.h"

namespace hb::formula {

/// The slope of log_sigmoid, sigmoid(-x), of the exponential that log_sigmoid itself needs.
template <class T>
HB_HD_ALWAYS T log_sigmoid_slope(T x) {
  const T e = exact::exp(-math::abs(x));
  return (x < T(0) ? T(1) : e) / (T(1) + e);
}

}  // namespace hb::formula
