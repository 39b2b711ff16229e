#pragma once

#include <tuple>

#include <halfbridge/error.h>

namespace hb::bridge::optim {

/// "Invalid <what>: <value>", LibTorch's text, unless value >= 0.
inline void check_not_negative(double value, const char* what) { HB_CHECK(value >= 0, "Invalid ", what, ": ", value); }

inline void check_betas(const std::tuple<double, double>& betas) {
  const auto [beta1, beta2] = betas;
  HB_CHECK(0 <= beta1 && beta1 < 1.0, "Invalid beta parameter at index 0: ", beta1);
  HB_CHECK(0 <= beta2 && beta2 < 1.0, "Invalid beta parameter at index 1: ", beta2);
}

/// The flag of a rule, where it applies.
inline unsigned flag_if(bool on, unsigned flag) { return on ? flag : 0; }

}  // namespace hb::bridge::optim
