#pragma once
// Where the elements of a resampled line come from.

#include <cmath>
#include <cstdint>

#include "formulas/cubic_weight.h"

namespace hb {

template <class C, bool cubic>
struct Taps {
  static constexpr int kCount = cubic ? 4 : 2;
  int64_t at[kCount];  // in order
  C weight[kCount];
};

/// A line of `in` elements as one of `out`. C: the precision of positions, in which `step` is the elements of the one
/// for each of the other.
struct Resampling {
  int64_t in, out;
  double step;
  bool corners, cubic;  // corners: the first and last elements of both lines meet, not their borders

  template <class C>
  HB_HD C source(int64_t i) const {
    if (corners) return static_cast<C>(i) * static_cast<C>(step);
    const C at = static_cast<C>(step) * (static_cast<C>(i) + C(0.5)) - C(0.5);
    return !cubic && at < 0 ? C(0) : at;
  }
  template <class C, bool kCubic>
  HB_HD Taps<C, kCubic> taps(int64_t i) const {
    Taps<C, kCubic> t;
    const C at = source<C>(i);
    if constexpr (kCubic) {
      const auto base = static_cast<int64_t>(std::floor(at));
      const C part = within_one(at - static_cast<C>(base));
      t.weight[0] = cubic_weight<C>(part + 1, false), t.weight[1] = cubic_weight<C>(part, true);
      t.weight[2] = cubic_weight<C>(1 - part, true), t.weight[3] = cubic_weight<C>(2 - part, false);
      for (int k = 0; k < 4; ++k) {
        const int64_t place = base - 1 + k;
        t.at[k] = place < 0 ? 0 : place < in ? place : in - 1;
      }
    } else {
      const auto whole = static_cast<int64_t>(at);
      const int64_t low = whole < in ? whole : in - 1;
      const C part = within_one(at - static_cast<C>(low));
      t.at[0] = low, t.at[1] = low < in - 1 ? low + 1 : low;
      t.weight[0] = C(1) - part, t.weight[1] = part;
    }
    return t;
  }
  /// No element before this one has a tap as far as element `place`.
  HB_HD int64_t first_near(int64_t place) const {
    if (step <= 0) return 0;
    const double reach = cubic ? 2 : 1, shift = corners ? 0 : 0.5;
    const double first = (static_cast<double>(place) - reach + shift) / step - shift - 2;  // 2: for roundings
    return first > 0 ? static_cast<int64_t>(first) : 0;
  }

 private:
  template <class C>
  static HB_HD C within_one(C x) {
    return x < 0 ? C(0) : x > 1 ? C(1) : x;
  }
};

}  // namespace hb
