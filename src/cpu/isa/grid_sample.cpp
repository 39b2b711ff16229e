// Sampling at positions of a grid, over channels-last memory: each element of a sample is a run of channels.
#include "backend/grid_sample.h"

#include <vector>

#include "cpu/isa/vec.h"
#include "formulas/cubic_weight.h"

namespace hb::cpu::HB_ISA {
namespace {

/// One element along one dimension: where it stands (-1: outside), its weight, the weight's derivative by the grid.
template <class C>
struct Tap {
  int64_t at;
  C weight, slope;
};

/// Moves a position into [0, n - 1] and multiplies `slope` by the derivative. The border itself has none, as in
/// LibTorch.
template <class C>
inline C inside(C x, int64_t n, const GridSampling& s, C& slope) {
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
inline Tap<C> tap_at(C whole, int64_t n, C weight, C slope) {
  const bool within = whole >= 0 && whole <= static_cast<C>(n - 1);
  return {within ? static_cast<int64_t>(whole) : -1, weight, slope};
}

constexpr int taps_of(Interpolation mode) {
  return mode == Interpolation::nearest ? 1 : mode == Interpolation::bilinear ? 2 : 4;
}

/// The elements along one dimension of n for coordinate g of the grid.
template <Interpolation mode, class C>
inline void find(C g, int64_t n, const GridSampling& s, Tap<C>* tap) {
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

/// All elements of a sample.
template <class C, Interpolation mode, int kDims>
struct Sample {
  static constexpr int kTaps = taps_of(mode), kCount = power(kTaps, kDims);
  int64_t at[kCount];
  C weight[kCount], slope[kDims][kCount];  // slope: in the order of the grid

  __attribute__((always_inline)) Sample(const GridSampling& s, const C* grid) {
    Tap<C> tap[kDims][kTaps];
    for (int d = 0; d < kDims; ++d) find<mode>(grid[kDims - 1 - d], s.size[d], s, tap[d]);
    for (int k = 0; k < kCount; ++k) {
      int which[kDims];
      for (int d = kDims - 1, rest = k; d >= 0; --d, rest /= kTaps) which[d] = rest % kTaps;
      int64_t place = 0;
      bool outside = false;
      C product = 1;
      for (int d = 0; d < kDims; ++d) {
        const Tap<C>& t = tap[d][which[d]];
        place = place * s.size[d] + t.at, outside |= t.at < 0, product *= t.weight;
      }
      at[k] = outside ? -1 : place, weight[k] = product;
      for (int d = 0; d < kDims; ++d) {
        C by = tap[d][which[d]].slope;
        for (int e = 0; e < kDims; ++e) by *= e == d ? C(1) : tap[e][which[e]].weight;
        slope[kDims - 1 - d][k] = by;
      }
    }
  }
};

int64_t plane_of(const GridSampling& s) {
  int64_t n = 1;
  for (int d = 0; d < s.dims; ++d) n *= s.size[d];
  return n;
}

/// `channels`: s.channels, as a constant where short loops would cost more than what is in them.
template <class C, Interpolation mode, int kDims, class N>
void sample(const GridSampling& s, N channels, C* out) {
  using At = Sample<C, mode, kDims>;
  const int64_t plane = plane_of(s);
  const std::vector<C> zeros(channels);
  parallel_for(0, s.batch * s.samples, std::max<int64_t>(1, kGrain / 8 / channels), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const C* image = static_cast<const C*>(s.in) + i / s.samples * plane * channels;
      const At at(s, static_cast<const C*>(s.grid) + i * kDims);
      const C* row[At::kCount];
      for (int k = 0; k < At::kCount; ++k) row[k] = at.at[k] < 0 ? zeros.data() : image + at.at[k] * channels;
      C* __restrict y = out + i * channels;
      for (int64_t c = 0; c < channels; ++c) {
        C sum = row[0][c] * at.weight[0];
        for (int k = 1; k < At::kCount; ++k) sum += row[k][c] * at.weight[k];
        y[c] = sum;
      }
    }
  });
}

template <class C>
inline C dot(const C* a, const C* b, int64_t n) {
  constexpr int64_t kLanes = 8;
  C lane[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t j = 0; j < kLanes; ++j) lane[j] += a[i + j] * b[i + j];
  C total = ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
  for (; i < n; ++i) total += a[i] * b[i];
  return total;
}

template <class C, Interpolation mode, int kDims, class N>
void sample_backward(const GridSampling& s, N channels, const C* grad, C* grad_in, C* grad_grid) {
  using At = Sample<C, mode, kDims>;
  const int64_t plane = plane_of(s);
  parallel_for(0, s.batch, 1, [&](int64_t from, int64_t to) {
    if (grad_in) std::fill(grad_in + from * plane * channels, grad_in + to * plane * channels, C(0));
    for (int64_t i = from * s.samples; i < to * s.samples; ++i) {
      const int64_t image = i / s.samples * plane;
      const At at(s, static_cast<const C*>(s.grid) + i * kDims);
      const C* g = grad + i * channels;
      C by_grid[kDims] = {};
      for (int k = 0; k < At::kCount; ++k) {
        if (at.at[k] < 0) continue;
        const int64_t place = (image + at.at[k]) * channels;
        if (grad_in) {
          C* __restrict to = grad_in + place;
          for (int64_t c = 0; c < channels; ++c) to[c] += at.weight[k] * g[c];
        }
        if (grad_grid && mode != Interpolation::nearest) {
          const C along = dot(g, static_cast<const C*>(s.in) + place, channels);
          for (int d = 0; d < kDims; ++d) by_grid[d] += at.slope[d][k] * along;
        }
      }
      if (grad_grid) std::copy(by_grid, by_grid + kDims, grad_grid + i * kDims);
    }
  });
}

template <int64_t n>
using Constant = std::integral_constant<int64_t, n>;

/// Calls f with the interpolation, the number of dimensions and that of channels, as constants where that pays.
template <class F>
void with_rule(const GridSampling& s, const F& f) {
  const auto with_channels = [&](auto mode, auto dims) {
    if (s.channels == 1) return f(mode, dims, Constant<1>());
    if (s.channels == 3) return f(mode, dims, Constant<3>());
    return f(mode, dims, s.channels);
  };
  const auto with_dims = [&](auto mode) {
    return s.dims == 2 ? with_channels(mode, Constant<2>()) : with_channels(mode, Constant<3>());
  };
  switch (s.mode) {
    case Interpolation::nearest:
      return with_dims(std::integral_constant<Interpolation, Interpolation::nearest>());
    case Interpolation::bilinear:
      return with_dims(std::integral_constant<Interpolation, Interpolation::bilinear>());
    case Interpolation::bicubic:
      return with_channels(std::integral_constant<Interpolation, Interpolation::bicubic>(), Constant<2>());
  }
}

template <class C>
void sample_as(const GridSampling& s, void* out) {
  with_rule(s,
            [&](auto mode, auto dims, auto channels) { sample<C, mode(), dims()>(s, channels, static_cast<C*>(out)); });
}
template <class C>
void sample_backward_as(const GridSampling& s, const void* grad, void* grad_in, void* grad_grid) {
  with_rule(s, [&](auto mode, auto dims, auto channels) {
    sample_backward<C, mode(), dims()>(s, channels, static_cast<const C*>(grad), static_cast<C*>(grad_in),
                                       static_cast<C*>(grad_grid));
  });
}

void grid_sample(ScalarType dtype, const GridSampling& s, void* out) {
  dtype == kDouble ? sample_as<double>(s, out) : sample_as<float>(s, out);
}
void grid_sample_backward(ScalarType dtype, const GridSampling& s, const void* grad, void* grad_in, void* grad_grid) {
  dtype == kDouble ? sample_backward_as<double>(s, grad, grad_in, grad_grid)
                   : sample_backward_as<float>(s, grad, grad_in, grad_grid);
}

HB_REGISTER_ISA(grid_sample_kernel, grid_sample);
HB_REGISTER_ISA(grid_sample_backward_kernel, grid_sample_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
