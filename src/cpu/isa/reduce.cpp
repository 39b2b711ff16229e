#include "cpu/isa/reducer.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Calls f(reducer) with one for a compute type.
template <class F>
void with_reducer(const ReduceLoop& loop, ReduceOp op, ScalarType compute, const ReduceFinish& finish, const F& f) {
  if (compute == kFloat) return f(Reducer<float>(loop, op, finish));
  if (compute == kDouble) return f(Reducer<double>(loop, op, finish));
  f(Reducer<int64_t>(loop, op, finish));
}

/// A row of floats that becomes one, by one thread: what Reducer computes, without its preparations. False where the
/// reduction is another.
bool reduce_run_to_float(const ReduceLoop& loop, ReduceOp op, ScalarType compute, const ReduceFinish& finish) {
  const bool floats = compute == kFloat && loop.in_dtype == kFloat && loop.out_dtype == kFloat;
  if (!floats || loop.outputs != 1 || loop.count > kRun || loop.reduced.size() != 1 ||
      loop.reduced_in[0] != static_cast<int64_t>(sizeof(float)))
    return false;
  const auto put = [&]<ReduceOp which>(std::integral_constant<ReduceOp, which>) {
    const float run = reduce_run<which, float>(reinterpret_cast<const float*>(loop.in), loop.count);
    const double total = finished(merge<which, double>(start<which, float>(), static_cast<double>(run)), finish);
    *reinterpret_cast<float*>(loop.out) = static_cast<float>(total);
    return true;
  };
  if (op == ReduceOp::sum) return put(std::integral_constant<ReduceOp, ReduceOp::sum>());
  return op == ReduceOp::square_sum && put(std::integral_constant<ReduceOp, ReduceOp::square_sum>());
}

void reduce(const ReduceLoop& loop, ReduceOp op, ScalarType compute, const ReduceFinish& finish) {
  if (loop.outputs == 0 || loop.count == 0) return;
  if (reduce_run_to_float(loop, op, compute, finish)) return;
  with_reducer(loop, op, compute, finish, [](const auto& reducer) { reducer.run(); });
}

HB_REGISTER_ISA(reduce_kernel, reduce);

template <class Reducer>
using TotalOf = typename std::decay_t<Reducer>::W;

}  // namespace

void WholeReduction::take(const char* block, int64_t n, Total& total) const {
  with_reducer(loop, op, compute, finish, [&](const auto& reducer) {
    using W = TotalOf<decltype(reducer)>;
    static_assert(sizeof(W) == sizeof total.bits);
    const W before = total.begun ? std::bit_cast<W>(total.bits) : reducer.start_of_block();
    total = {true, std::bit_cast<uint64_t>(reducer.take_block(block, n, before))};
  });
}

void WholeReduction::store(const Total* totals, int threads) const {
  with_reducer(loop, op, compute, finish, [&](const auto& reducer) {
    using W = TotalOf<decltype(reducer)>;
    std::vector<W> partial;
    for (int t = 0; t < threads; ++t)
      partial.push_back(totals[t].begun ? std::bit_cast<W>(totals[t].bits) : reducer.start_of_block());
    reducer.merge_parts(partial.data(), threads);
  });
}

}  // namespace hb::cpu::HB_ISA
