// Weighted sums of a few elements along one dimension.
#include "backend/tap_sum.h"

#include "cuda/kernel_file.h"
#include "cuda/planes.h"

namespace hb::cuda {
namespace {

template <int kEach, bool cubic, class C>
__global__ void __launch_bounds__(kThreads) sum_taps(C* out, const C* in, PlaneWalk walk, Resampling rule, int64_t inner) {
  HB_GRID_LOOP(thread, walk.threads()) {
    const PlanesOfThread<kEach> of(walk, thread);
    const int64_t i = of.position / inner, c = of.position - i * inner;
    const auto taps = rule.taps<C, cubic>(i);
    C sum[kEach] = {};
    for (int t = 0; t < taps.kCount; ++t)
      for (int k = 0; k < kEach; ++k)
        sum[k] += taps.weight[t] * in[(of[k] * rule.in + taps.at[t]) * inner + c];
    for (int k = 0; k < kEach; ++k)
      if (of.has(k)) out[of[k] * walk.positions + of.position] = sum[k];
  }
}

/// The transpose: each element looks for those that it is a tap of, so that its sum has an order.
template <int kEach, bool cubic, class C>
__global__ void __launch_bounds__(kThreads)
    sum_to_taps(C* out, const C* in, PlaneWalk walk, Resampling rule, int64_t inner) {
  HB_GRID_LOOP(thread, walk.threads()) {
    const PlanesOfThread<kEach> of(walk, thread);
    const int64_t place = of.position / inner, c = of.position - place * inner;
    C sum[kEach] = {};
    for (int64_t i = rule.first_near(place); i < rule.out; ++i) {
      const auto taps = rule.taps<C, cubic>(i);
      if (taps.at[0] > place) break;
      if (taps.at[taps.kCount - 1] < place) continue;
      C weight = 0;
      for (int t = 0; t < taps.kCount; ++t)
        if (taps.at[t] == place) weight += taps.weight[t];
      for (int k = 0; k < kEach; ++k) sum[k] += weight * in[(of[k] * rule.out + i) * inner + c];
    }
    for (int k = 0; k < kEach; ++k)
      if (of.has(k)) out[of[k] * walk.positions + of.position] = sum[k];
  }
}

template <bool cubic, class C>
void launch_sums(const TapSum& s, bool adjoint, C* out, const C* in) {
  with_planes((adjoint ? s.rule.in : s.rule.out) * s.inner, s.outer, [&](auto each, const PlaneWalk& walk) {
    if (adjoint)
      HB_LAUNCH((sum_to_taps<each(), cubic, C>), blocks_for(walk.threads()), kThreads, 0, current_stream(), out, in,
                walk, s.rule, s.inner);
    else
      HB_LAUNCH((sum_taps<each(), cubic, C>), blocks_for(walk.threads()), kThreads, 0, current_stream(), out, in, walk,
                s.rule, s.inner);
  });
}

void tap_sum(ScalarType dtype, const TapSum& s, bool adjoint, void* out, const void* in) {
  const auto run = [&](auto type) {
    using C = decltype(type);
    auto *const to = static_cast<C*>(out);
    const auto *const from = static_cast<const C*>(in);
    s.rule.cubic ? launch_sums<true>(s, adjoint, to, from) : launch_sums<false>(s, adjoint, to, from);
  };
  dtype == kDouble ? run(double()) : run(float());
}
HB_REGISTER_CUDA(tap_sum_kernel, tap_sum);

}  // namespace
}  // namespace hb::cuda
