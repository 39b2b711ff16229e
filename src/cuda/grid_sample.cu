// Sampling at positions of a grid.
#include "cuda/kernel_file.h"
#include "cuda/planes.h"
#include "formulas/grid_sample.h"

namespace hb::cuda {
namespace {

using grid::Taps;

/// A thread for several channels of a sample; neighbours write neighbours.
template <int kEach, class C, Interpolation mode, int kDims>
__global__ void __launch_bounds__(kThreads)
    sample(HB_ARGUMENT(GridSampling) s, PlaneWalk walk, int64_t plane, C* out) {
  using At = Taps<C, mode, kDims>;
  const int64_t element = s.channels_first ? 1 : s.channels;  // how far apart they are, of a channel
  const int64_t channel = s.channels_first ? plane : 1, written = s.channels_first ? s.samples : 1;
  HB_GRID_LOOP(i, walk.threads()) {
    const PlanesOfThread<kEach> of =
        s.channels_first ? PlanesOfThread<kEach>(walk, i) : PlanesOfThread<kEach>(walk, i / walk.step, i % walk.step);
    const int64_t image = of.position / s.samples, which = of.position - image * s.samples;
    const C* const from = static_cast<const C*>(s.in) + image * plane * s.channels;
    const At at(s, static_cast<const C*>(s.grid) + of.position * kDims);
    C sum[kEach] = {};
    for (int t = 0; t < At::kCount; ++t) {
      const int64_t place = at.place(s, t);
      if (place < 0) continue;
      const C weight = at.weight(t);
      for (int k = 0; k < kEach; ++k) sum[k] += from[place * element + of[k] * channel] * weight;
    }
    C* const to = out + image * s.samples * s.channels + which * element;
    for (int k = 0; k < kEach; ++k)
      if (of.has(k)) to[of[k] * written] = sum[k];
  }
}

/// A warp for each sample. What several samples give one element is added in any order.
template <class C, Interpolation mode, int kDims>
__global__ void __launch_bounds__(kThreads)
    sample_backward(HB_ARGUMENT(GridSampling) s, int64_t plane, const C* grad, C* grad_in, C* grad_grid) {
  using At = Taps<C, mode, kDims>;
  const int64_t which = team_row();
  if (which >= s.batch * s.samples) return;
  const int64_t image = which / s.samples * plane;
  const At at(s, static_cast<const C*>(s.grid) + which * kDims);
  C by_grid[kDims] = {};
  for (int k = 0; k < At::kCount; ++k) {
    const int64_t place = at.place(s, k);
    if (place < 0) continue;
    const int64_t first = (image + place) * s.channels;
    const C weight = at.weight(k);
    C along = 0;
    for (int64_t c = threadIdx.x; c < s.channels; c += kWarp) {
      const C g = grad[which * s.channels + c];
      if (grad_in) atomicAdd(grad_in + first + c, weight * g);
      along += g * static_cast<const C*>(s.in)[first + c];
    }
    if (mode != Interpolation::nearest)
      for (int d = 0; d < kDims; ++d) by_grid[d] += at.slope(k, d) * along;
  }
  if (!grad_grid) return;
  for (int d = 0; d < kDims; ++d) {
    const C total = team_sum(by_grid[d]);
    if (threadIdx.x == 0) grad_grid[which * kDims + d] = total;
  }
}

template <class F>
void with_kind(ScalarType dtype, const GridSampling& s, const F& f) {
  grid::with_rule(s,
                  [&](auto mode, auto dims) { dtype == kDouble ? f(double(), mode, dims) : f(float(), mode, dims); });
}

void grid_sample(ScalarType dtype, const GridSampling& s, void* out) {
  if (s.batch * s.samples * s.channels == 0) return;
  with_kind(dtype, s, [&](auto type, auto mode, auto dims) {
    using C = decltype(type);
    with_planes(s.batch * s.samples, s.channels, [&](auto each, const PlaneWalk& walk) {
      HB_LAUNCH((sample<each(), C, mode(), static_cast<int>(dims())>), blocks_for(walk.threads()), kThreads, 0,
                current_stream(), s, walk, grid::plane_of(s), static_cast<C*>(out));
    });
  });
}

void grid_sample_backward(ScalarType dtype, const GridSampling& s, const void* grad, void* grad_in, void* grad_grid) {
  const int64_t samples = s.batch * s.samples, plane = grid::plane_of(s);
  if (grad_in) {
    const int64_t elements = s.batch * plane * s.channels;
    const auto bytes = static_cast<size_t>(elements) * element_size(dtype);
    if (bytes) check(cudaMemsetAsync(grad_in, 0, bytes, current_stream()), "grid_sampler_backward");
  }
  if (samples == 0) return;
  with_kind(dtype, s, [&](auto type, auto mode, auto dims) {
    using C = decltype(type);
    const Teams teams(samples, 1);
    HB_LAUNCH((sample_backward<C, mode(), static_cast<int>(dims())>), teams.grid, teams.block, 0, current_stream(), s,
              plane, static_cast<const C*>(grad), static_cast<C*>(grad_in), static_cast<C*>(grad_grid));
  });
}

HB_REGISTER_CUDA(grid_sample_kernel, grid_sample);
HB_REGISTER_CUDA(grid_sample_backward_kernel, grid_sample_backward);

}  // namespace
}  // namespace hb::cuda
