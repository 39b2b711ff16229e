// col2im: each element of an image is the sum of the windows' elements that were it. A thread for each position.
#include "backend/fold.h"

#include <algorithm>

#include "cuda/kernel_file.h"
#include "cuda/planes.h"
#include "cuda/pool_rules.h"

namespace hb::cuda {
namespace {

using Rule = PoolRuleOf<Divisor>;

Rule rule_of(const Windows& w, int64_t size, int64_t most) {
  return with_divisors({size, w.out, w.step, w.kernel, w.stride, w.padding}, most);
}
/// Of a plane.
struct Rules {
  Rule h, w;
  explicit Rules(const Fold& f) {
    int64_t most = f.height * f.width;  // of what is divided
    most = std::max({most, f.height + 2 * f.h.padding, f.width + 2 * f.w.padding});
    h = rule_of(f.h, f.height, most), w = rule_of(f.w, f.width, most);
  }
  HB_HD int64_t columns() const { return h.kernel * w.kernel * h.out * w.out; }
};
/// Calls f(window, which of its elements) for the windows along a dimension that element p is in.
template <class F>
__device__ inline void over_windows(const Rule& rule, int64_t p, const F& f) {
  for (int64_t o = rule.first_over(p), end = rule.end_over(p); o < end; ++o)
    if (rule.holds(o, p)) f(o, (p + rule.padding - o * rule.stride) / rule.step);
}

template <int kEach, class T>
__global__ void __launch_bounds__(kThreads)
    sum_windows(T* image, const T* columns, PlaneWalk walk, HB_ARGUMENT(Rules) rules) {
  using C = compute_t<T>;
  HB_GRID_LOOP(thread, walk.threads()) {
    const PlanesOfThread<kEach> of(walk, thread);
    const int64_t y = of.position / rules.w.in, x = of.position - y * rules.w.in;
    C sum[kEach] = {};
    over_windows(rules.h, y, [&](int64_t row, int64_t i) {
      over_windows(rules.w, x, [&](int64_t column, int64_t j) {
        const int64_t at = ((i * rules.w.kernel + j) * rules.h.out + row) * rules.w.out + column;
        for (int k = 0; k < kEach; ++k) sum[k] += widen<C>(columns[of[k] * rules.columns() + at]);
      });
    });
    for (int k = 0; k < kEach; ++k)
      if (of.has(k)) image[of[k] * walk.positions + of.position] = T(sum[k]);
  }
}

void columns_to_image(ScalarType dtype, const Fold& f, void* image, const void* columns) {
  if (f.planes * f.height * f.width == 0) return;
  HB_FLOATING_SWITCH("col2im", dtype, [&](auto type) {
    using T = decltype(type);
    with_planes(f.height * f.width, f.planes, [&](auto each, const PlaneWalk& walk) {
      HB_LAUNCH((sum_windows<each(), T>), blocks_for(walk.threads()), kThreads, 0, current_stream(),
                static_cast<T*>(image), static_cast<const T*>(columns), walk, Rules(f));
    });
  });
}
HB_REGISTER_CUDA(fold_kernel, columns_to_image);

}  // namespace
}  // namespace hb::cuda
