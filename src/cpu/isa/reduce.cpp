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

void reduce(const ReduceLoop& loop, ReduceOp op, ScalarType compute, const ReduceFinish& finish) {
  if (loop.outputs == 0 || loop.count == 0) return;
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
