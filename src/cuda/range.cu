// The smallest and the largest element in one pass.
#include "cuda/fold.h"
#include "cuda/reduce.h"
#include "cuda/register.h"

namespace hb::cuda {
namespace {

template <class C>
struct Ends {
  C low, high;
};
template <class X_>
struct Range : OneInput<X_> {
  using X = X_;
  using C = Loaded<X>;
  using Part = Ends<C>;
  static constexpr int kBlocks = 2;

  struct Results {
    char *low, *high;
    ScalarType dtype;
    Places kept;
    __device__ void store(int64_t output, const Part& ends) const {
      const int64_t at = kept(output);
      store_as<C>(low + at, dtype, ends.low), store_as<C>(high + at, dtype, ends.high);
    }
  };
  template <int kChains>
  struct Mine : Chains<Range, kChains> {
    template <int k>
    __device__ void take(C x, int64_t) {
      Part& ends = this->chain[k];
      ends = {formula::step<ReduceOp::min, C>(ends.low, x), formula::step<ReduceOp::max, C>(ends.high, x)};
    }
    __device__ void edge(C x, int64_t index) { take<0>(x, index); }
  };

  __device__ static Part none() { return {formula::start<ReduceOp::min, C>(), formula::start<ReduceOp::max, C>()}; }
  __device__ static Part merged(const Part& a, const Part& b) {
    return {formula::merge<ReduceOp::min, C>(a.low, b.low), formula::merge<ReduceOp::max, C>(a.high, b.high)};
  }
  __device__ static Part from_lane(const Part& ends, int lanes) {
    return {__shfl_xor_sync(kFullWarp, ends.low, lanes), __shfl_xor_sync(kFullWarp, ends.high, lanes)};
  }
  __device__ static Part from_other(const Part* at) {
    return {written_by_others(&at->low), written_by_others(&at->high)};
  }
};

template <class X>
bool range_of_neighbours(const ReduceLoop& low, const ReduceLoop& high) {
  const Places kept = places("aminmax", low.kept, low.kept_out, low.outputs);
  return reduce_neighbours<Range<X>>(low, {low.out, high.out, low.out_dtype, kept});
}
bool range_at_once(const ReduceLoop& low, const ReduceLoop& high) {
  switch (low.in_dtype) {
    case kFloat:
      return range_of_neighbours<float>(low, high);
    case kDouble:
      return range_of_neighbours<double>(low, high);
    case kHalf:
      return range_of_neighbours<Half>(low, high);
    case kBFloat16:
      return range_of_neighbours<BFloat16>(low, high);
    case kLong:
      return range_of_neighbours<int64_t>(low, high);
    default:
      return false;
  }
}
void range(const ReduceLoop& low, const ReduceLoop& high, ScalarType compute) {
  if (low.outputs == 0 || low.count == 0 || range_at_once(low, high)) return;
  reduce(low, ReduceOp::min, compute, {});
  reduce(high, ReduceOp::max, compute, {});
}
HB_REGISTER_CUDA(range_kernel, range);

}  // namespace
}  // namespace hb::cuda
