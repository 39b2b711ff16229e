// Variances and standard deviations, alone and with the mean.
#include "cuda/fold.h"
#include "cuda/moments.h"
#include "cuda/register.h"

namespace hb::cuda {
namespace {

struct MomentsResults {
  char *out, *mean;  // mean may be absent
  ScalarType dtype, mean_dtype;
  Places kept, mean_kept;
  double divisor;
  bool root;
  __device__ void store(int64_t output, const Moments& m) const {
    const double v = m.m2 / divisor;
    store_as<double>(out + kept(output), dtype, root ? math::sqrt(v) : v);
    if (mean) store_as<double>(mean + mean_kept(output), mean_dtype, m.mean);
  }
};

/// Any layout and dtype.
struct Work {
  const char* in;
  ScalarType dtype;
  Places kept, reduced;
  Groups groups;
};
template <class X>
using Spread = SpreadOf<X, MomentsResults>;
using Any = Spread<double>;

__global__ void __launch_bounds__(kThreads) moments_groups(HB_ARGUMENT(Work) w, HB_ARGUMENT(MomentsResults) results) {
  HB_SHARED(Moments, shared, kThreads);
  const Groups& g = w.groups;
  const int64_t blocks = (g.outputs + kThreads / g.width - 1) / (kThreads / g.width);
  for (int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    const Member m(g, block);
    const bool there = m.output < g.outputs;
    const char* from = w.in + (there ? w.kept(m.output) : 0);
    Any::Mine<1> mine;
    for (int64_t i = m.rank; there && i < g.count; i += g.width) {
      const double x = load_as<double>(from + w.reduced(i), w.dtype);
      mine.begin(x);
      mine.take<0>(x, i);
    }
    const Moments all = merge_group(mine.part(), g, m, shared, Any::merged);
    if (there && m.rank == 0) results.store(m.output, all);
  }
}

void moments_cuda(const ReduceLoop& l, const ReduceLoop* mean, double correction, bool root) {
  if (l.outputs == 0 || l.count == 0) return;
  MomentsResults results{l.out, nullptr, l.out_dtype, kFloat, {}, {}, 0, root};
  results.kept = places("var", l.kept, l.kept_out, l.outputs);
  results.divisor = std::max(static_cast<double>(l.count) - correction, 0.0);
  if (mean) {
    results.mean = mean->out, results.mean_dtype = mean->out_dtype;
    results.mean_kept = places("var", mean->kept, mean->kept_out, mean->outputs);
  }
  if (l.in_dtype == kFloat && reduce_neighbours<Spread<float>>(l, results)) return;
  if (l.in_dtype == kHalf && reduce_neighbours<Spread<Half>>(l, results)) return;
  if (l.in_dtype == kBFloat16 && reduce_neighbours<Spread<BFloat16>>(l, results)) return;
  if (l.in_dtype == kDouble && reduce_neighbours<Spread<double>>(l, results)) return;
  Work w{l.in, l.in_dtype, places("var", l.kept, l.kept_in, l.outputs), places("var", l.reduced, l.reduced_in, l.count),
         groups_for(l.outputs, l.count, along_reduced(l), false)};
  HB_LAUNCH(moments_groups, w.groups.blocks(), kThreads, 0, current_stream(), w, results);
}

HB_REGISTER_CUDA(moments_kernel, moments_cuda);

}  // namespace
}  // namespace hb::cuda
