// Sampling at positions of a grid, over channels-last memory: each element of a sample is a run of channels.

#include <vector>

#include "cpu/isa/vec.h"
#include "formulas/grid_sample.h"

namespace hb::cpu::HB_ISA {
namespace {

using namespace grid;

/// All elements of a sample.
template <class C, Interpolation mode, int kDims>
struct Sample {
  static constexpr int kCount = Taps<C, mode, kDims>::kCount;
  int64_t at[kCount];
  C weight[kCount], slope[kDims][kCount];  // slope: in the order of the grid

  __attribute__((always_inline)) Sample(const GridSampling& s, const C* grid) {
    const Taps<C, mode, kDims> taps(s, grid);
    for (int k = 0; k < kCount; ++k) {
      at[k] = taps.place(s, k);
      // What lies at infinity, outside of a volume, counts as 0; of images it is NaN, as in LibTorch.
      weight[k] = kDims == 3 && at[k] < 0 ? C(0) : taps.weight(k);
      for (int g = 0; g < kDims; ++g) slope[g][k] = taps.slope(k, g);
    }
  }
};

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

/// Calls f with the rule, and the number of channels as a constant where that pays.
template <class F>
void with_channels(const GridSampling& s, const F& f) {
  with_rule(s, [&](auto mode, auto dims) {
    if (s.channels == 1) return f(mode, dims, Constant<1>());
    if (s.channels == 3) return f(mode, dims, Constant<3>());
    return f(mode, dims, s.channels);
  });
}

template <class C>
void sample_as(const GridSampling& s, void* out) {
  with_channels(
      s, [&](auto mode, auto dims, auto channels) { sample<C, mode(), dims()>(s, channels, static_cast<C*>(out)); });
}
template <class C>
void sample_backward_as(const GridSampling& s, const void* grad, void* grad_in, void* grad_grid) {
  with_channels(s, [&](auto mode, auto dims, auto channels) {
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
