#pragma once
// Where a sample at a position of a grid takes its elements from, and how much of each.

#include <cmath>

#include "backend/grid_sample.h"
#include "formulas/cubic_weight.h"
#include "formulas/host_device.h"

namespace hb::grid {

/// One element along one dimension: where it stands (-1: outside), its weight, the weight's derivative by the grid.
template <class C>
struct Tap {
  int64_t at;
  C weight, slope;
};

/// Moves a position into [0, n - 1] and multiplies `slope` by the derivative. The border itself has none, as in
/// LibTorch.
template <class C>
HB_HD C inside(C x, int64_t n, const GridSampling& s, C& slope) {
  const C top = static_cast<C>(n - 1);
  if (s.padding == GridPadding::reflection) {
    const C low = s.align_corners ? C(0) : C(-0.5), span = s.align_corners ? top : static_cast<C>(n);
    const C distance = std::abs(x - low), flips = span > 0 ? std::floor(distance / span) : C(0);
    const C rest = span > 0 ? distance - flips * span : C(0);
    const bool odd = flips - 2 * std::floor(flips / 2) != 0;
    if (odd != (x < low)) slope = -slope;
    x = odd ? span - rest + low : rest + low;
  }
  slope = x > 0 && x < top ? slope : C(0);
  return x > 0 ? x < top ? x : top : C(0);  // NaN: 0
}

template <class C>
HB_HD Tap<C> tap_at(C whole, int64_t n, C weight, C slope) {
  const bool within = whole >= 0 && whole <= static_cast<C>(n - 1);
  return {within ? static_cast<int64_t>(whole) : -1, weight, slope};
}

constexpr int taps_of(Interpolation mode) {
  return mode == Interpolation::nearest ? 1 : mode == Interpolation::bilinear ? 2 : 4;
}

/// The elements along one dimension of n for coordinate g of the grid.
template <Interpolation mode, class C>
HB_HD void find(C g, int64_t n, const GridSampling& s, Tap<C>* tap) {
  const C size = static_cast<C>(n);
  C slope = (s.align_corners ? size - 1 : size) / 2;
  C x = s.align_corners ? (g + 1) * slope : ((g + 1) * size - 1) / 2;
  if (mode != Interpolation::bicubic && s.padding != GridPadding::zeros) x = inside(x, n, s, slope);
  if constexpr (mode == Interpolation::nearest) {
    tap[0] = tap_at(std::nearbyint(x), n, C(1), C(0));
  } else if constexpr (mode == Interpolation::bilinear) {
    const C low = std::floor(x), part = x - low;
    tap[0] = tap_at(low, n, 1 - part, -slope);
    tap[1] = tap_at(low + 1, n, part, slope);
  } else {
    constexpr C a = C(-0.75);
    const C low = std::floor(x), part = x - low;
    for (int k = 0; k < 4; ++k) {
      const C d = k < 2 ? part + static_cast<C>(1 - k) : static_cast<C>(k - 1) - part;
      const bool near = k == 1 || k == 2;
      const C by_distance = near ? (3 * (a + 2) * d - 2 * (a + 3)) * d : (3 * a * d - 10 * a) * d + 8 * a;
      C at = low + static_cast<C>(k - 1), ignored = 0;
      if (s.padding != GridPadding::zeros) at = inside(at, n, s, ignored);
      tap[k] = tap_at(at, n, cubic_weight<C>(d, near), k < 2 ? by_distance * slope : -by_distance * slope);
    }
  }
}

constexpr int power(int base, int exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }

/// The elements of a sample: the combinations of those along each dimension.
template <class C, Interpolation mode, int kDims>
struct Taps {
  static constexpr int kTaps = taps_of(mode), kCount = power(kTaps, kDims);
  Tap<C> tap[kDims][kTaps];

  HB_HD Taps(const GridSampling& s, const C* grid) {
    for (int d = 0; d < kDims; ++d) find<mode>(grid[kDims - 1 - d], s.size[d], s, tap[d]);
  }
  HB_HD const Tap<C>& along(int d, int k) const {
    for (int e = kDims - 1; e > d; --e) k /= kTaps;
    return tap[d][k % kTaps];
  }
  /// The place of element k in an image, -1: outside.
  HB_HD int64_t place(const GridSampling& s, int k) const {
    int64_t place = 0;
    bool outside = false;
    for (int d = 0; d < kDims; ++d) {
      const int64_t at = along(d, k).at;
      place = place * s.size[d] + at, outside |= at < 0;
    }
    return outside ? -1 : place;
  }
  HB_HD C weight(int k) const {
    C product = 1;
    for (int d = 0; d < kDims; ++d) product *= along(d, k).weight;
    return product;
  }
  /// The derivative of the weight by coordinate `g` of the grid.
  HB_HD C slope(int k, int g) const {
    const int d = kDims - 1 - g;
    C by = along(d, k).slope;
    for (int e = 0; e < kDims; ++e) by *= e == d ? C(1) : along(e, k).weight;
    return by;
  }
};

HB_HD int64_t plane_of(const GridSampling& s) {
  int64_t n = 1;
  for (int d = 0; d < s.dims; ++d) n *= s.size[static_cast<size_t>(d)];
  return n;
}

template <int64_t n>
using Constant = std::integral_constant<int64_t, n>;

/// Calls f(mode, dims) with both as constants.
template <class F>
void with_rule(const GridSampling& s, const F& f) {
  const auto with_dims = [&](auto mode) { return s.dims == 2 ? f(mode, Constant<2>()) : f(mode, Constant<3>()); };
  switch (s.mode) {
    case Interpolation::nearest:
      return with_dims(std::integral_constant<Interpolation, Interpolation::nearest>());
    case Interpolation::bilinear:
      return with_dims(std::integral_constant<Interpolation, Interpolation::bilinear>());
    case Interpolation::bicubic:
      return f(std::integral_constant<Interpolation, Interpolation::bicubic>(), Constant<2>());
  }
}

}  // namespace hb::grid
