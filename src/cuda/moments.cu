// Variances and standard deviations, alone and with the mean.
#include "cuda/fold.h"
#include "cuda/register.h"

namespace hb::cuda {
namespace {

/// Count, mean and sum of squared deviations.
struct Moments {
  double n, mean, m2;
};

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

/// A thread sums deviations from its first element, and their squares, without divisions; parts are joined as Chan,
/// Golub and LeVeque do. As an element of the thread is what is subtracted, a large mean swallows no small variance.
template <class X_>
struct Spread {
  using X = X_;
  using Part = Moments;
  static constexpr int kBlocks = 2;

  template <int kChains>
  struct Mine {
    double shift = 0, sum[kChains] = {}, squares[kChains] = {};
    int n = 0;
    __device__ void prepare(const MomentsResults&) {}
    __device__ void begin(double x) {
      if (n == 0) shift = x - x == 0 ? x : 0;  // infinity stays one in the mean
    }
    template <int k>
    __device__ void take(double x, int64_t) {
      const double d = x - shift;
      sum[k] += d, squares[k] += d * d;
      ++n;
    }
    __device__ void edge(double x, int64_t index) { take<0>(x, index); }
    __device__ Moments part() const {
      if (n == 0) return none();
      double s = sum[0], q = squares[0];
      for (int k = 1; k < kChains; ++k) s += sum[k], q += squares[k];
      const double mean = s / n, m2 = q - s * mean;
      return {static_cast<double>(n), shift + mean, m2 < 0 ? 0 : m2};
    }
  };
  using Results = MomentsResults;

  __device__ static Moments none() { return {0, 0, 0}; }
  __device__ static Moments merged(const Moments& a, const Moments& b) {
    if (b.n == 0) return a;
    if (a.n == 0) return b;
    const double n = a.n + b.n, d = b.mean - a.mean, share = b.n / n;
    return {n, a.mean + d * share, a.m2 + b.m2 + d * d * a.n * share};
  }
  __device__ static Moments from_lane(const Moments& m, int lanes) {
    return {__shfl_xor_sync(kFullWarp, m.n, lanes), __shfl_xor_sync(kFullWarp, m.mean, lanes),
            __shfl_xor_sync(kFullWarp, m.m2, lanes)};
  }
  __device__ static Moments from_other(const Moments* at) {
    return {written_by_others(&at->n), written_by_others(&at->mean), written_by_others(&at->m2)};
  }
};

/// Any layout and dtype.
struct Work {
  const char* in;
  ScalarType dtype;
  Places kept, reduced;
  Groups groups;
};
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
