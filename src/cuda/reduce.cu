// Reductions of any layout.
#include "cuda/reduce.h"

#include "cuda/fold.h"
#include "cuda/register.h"

namespace hb::cuda {
namespace {

struct ReduceWork {
  const char* in;
  char* out;
  ScalarType in_dtype, out_dtype;
  Places kept_in, kept_out, reduced;
  Groups groups;
  ReduceFinish finish;
};

/// Sums of floats are carried on in double.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;

template <ReduceOp op, class T>
__device__ T loaded(const ReduceWork& w, const char* at) {
  T x = load_as<T>(at, w.in_dtype);
  if constexpr (op == ReduceOp::power_sum && std::is_floating_point_v<T>)
    x = math::pow(math::abs(x), static_cast<T>(w.finish.p));
  return x;
}

/// partial (splits, outputs) gets parts of the results where there are several splits.
template <ReduceOp op, class T>
__global__ void __launch_bounds__(kThreads, std::is_same_v<T, double> ? 1 : 0)
    reduce_groups(HB_ARGUMENT(ReduceWork) w, Wide<T>* partial) {
  using W = Wide<T>;
  HB_SHARED(W, shared, kThreads);
  const Groups& g = w.groups;
  const int64_t each = (g.count + g.splits - 1) / g.splits, begin = blockIdx.y * each;
  const int64_t end = begin + each < g.count ? begin + each : g.count;
  const int64_t blocks = (g.outputs + kThreads / g.width - 1) / (kThreads / g.width);
  for (int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    const Member m(g, block);
    const bool there = m.output < g.outputs;
    const char* from = w.in + (there ? w.kept_in(m.output) : 0);
    W acc = formula::start<op, W>();
    if (there) {
      for (int64_t i = begin + m.rank; i < end; i += g.width)
        acc = formula::step<op, W>(acc, static_cast<W>(loaded<op, T>(w, from + w.reduced(i))));
    }
    acc = merge_group(acc, g, m, shared, [](W a, W b) { return formula::merge<op, W>(a, b); });
    if (!there || m.rank != 0) continue;
    if (g.splits > 1)
      partial[blockIdx.y * g.outputs + m.output] = acc;
    else
      store_as<W>(w.out + w.kept_out(m.output), w.out_dtype, finished(acc, w.finish));
  }
}

template <ReduceOp op, class T>
__global__ void __launch_bounds__(kThreads) reduce_partial(HB_ARGUMENT(ReduceWork) w, const Wide<T>* partial) {
  using W = Wide<T>;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (int64_t o = grid_thread() / kWarp; o < w.groups.outputs; o += grid_threads() / kWarp) {
    W acc = formula::start<op, W>();
    for (int s = lane; s < w.groups.splits; s += kWarp)
      acc = formula::merge<op, W>(acc, partial[s * w.groups.outputs + o]);
    for (int lanes = kWarp / 2; lanes > 0; lanes /= 2)
      acc = formula::merge<op, W>(acc, __shfl_xor_sync(kFullWarp, acc, lanes));
    if (lane == 0) store_as<W>(w.out + w.kept_out(o), w.out_dtype, finished(acc, w.finish));
  }
}

template <ReduceOp op, class T>
void launch(const ReduceWork& w) {
  const Groups& g = w.groups;
  const Scratch<Wide<T>> partial(g.splits > 1 ? g.splits * g.outputs : 0);
  HB_LAUNCH((reduce_groups<op, T>), dim3(g.blocks(), static_cast<unsigned>(g.splits)), kThreads, 0, current_stream(), w,
            partial.get());
  if (g.splits > 1)
    HB_LAUNCH((reduce_partial<op, T>), blocks_for(g.outputs, kThreads / kWarp), kThreads, 0, current_stream(), w,
              static_cast<const Wide<T>*>(partial.get()));
}

template <class T>
void launch_op(ReduceOp op, const ReduceWork& w) {
  formula::with_reduction(op, [&](auto constant) { launch<constant(), T>(w); });
}

/// Neighbours of the dtypes and operations that programs have most of.
bool fold(const ReduceLoop& l, ReduceOp op, ScalarType compute, const ReduceFinish& finish) {
  if (compute == kLong) return fold_integers(l, op, finish);
  if (compute == kDouble) return l.in_dtype == kDouble && fold_doubles(l, op, finish);
  switch (l.in_dtype) {
    case kFloat:
      return fold_floats(l, op, finish);
    case kHalf:
      return fold_halves(l, op, finish);
    case kBFloat16:
      return fold_bfloat16s(l, op, finish);
    default:
      return false;
  }
}

void reduce_cuda(const ReduceLoop& l, ReduceOp op, ScalarType compute, const ReduceFinish& finish) {
  if (l.outputs == 0 || l.count == 0 || fold(l, op, compute, finish)) return;
  ReduceWork w{l.in, l.out, l.in_dtype, l.out_dtype, {}, {}, {}, {}, finish};
  w.kept_in = places("reduce", l.kept, l.kept_in, l.outputs);
  w.kept_out = places("reduce", l.kept, l.kept_out, l.outputs);
  w.reduced = places("reduce", l.reduced, l.reduced_in, l.count);
  w.groups = groups_for(l.outputs, l.count, along_reduced(l), true);
  if (compute == kFloat) return launch_op<float>(op, w);
  if (compute == kDouble) return launch_op<double>(op, w);
  launch_op<int64_t>(op, w);
}

HB_REGISTER_CUDA(reduce_kernel, reduce_cuda);

}  // namespace

void reduce(const ReduceLoop& l, ReduceOp op, ScalarType compute, const ReduceFinish& finish) {
  reduce_cuda(l, op, compute, finish);
}

}  // namespace hb::cuda
