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

namespace {

/// The smallest and the largest of values that lie side by side.
template <class T>
struct Ends {
  static constexpr ReduceOp kLow = ReduceOp::min, kHigh = ReduceOp::max;
  T low = start<kLow, T>(), high = start<kHigh, T>();

  void take(const T* x, int64_t n) {
    T least, most;
    if (!ends_of_numbers(x, n, least, most)) least = reduce_run<kLow, T>(x, n), most = reduce_run<kHigh, T>(x, n);
    merge_with({least, most});
  }
  void merge_with(const Ends& other) { low = merge<kLow, T>(low, other.low), high = merge<kHigh, T>(high, other.high); }
  /// n values of another dtype.
  void take_converted(const char* x, int64_t n, int64_t size, ConvertRows load) {
    alignas(64) T values[kBuffer];
    for (int64_t i = 0; i < n; i += kBuffer) {
      const int64_t m = std::min(kBuffer, n - i);
      load({reinterpret_cast<char*>(values), sizeof(T), 0}, {const_cast<char*>(x) + i * size, size, 0}, {m, 1});
      take(values, m);
    }
  }
};

template <class T>
void range_of_row(const ReduceLoop& low, const ReduceLoop& high) {
  const auto size = static_cast<int64_t>(element_size(low.in_dtype));
  const ConvertRows load = convert_rows(dtype_of<T>::value, low.in_dtype);
  const int threads = threads_for(low.count, kGrain);
  std::vector<Ends<T>> ends(threads);
  parallel_ranges(0, low.count, threads, [&](int64_t from, int64_t to, int me) {
    const char* x = low.in + from * size;
    if (low.in_dtype == dtype_of<T>::value)
      ends[me].take(reinterpret_cast<const T*>(x), to - from);
    else
      ends[me].take_converted(x, to - from, size, load);
  });
  for (int t = 1; t < threads; ++t) ends[0].merge_with(ends[t]);
  const ConvertRows store = convert_rows(low.out_dtype, dtype_of<T>::value);
  store({low.out, 0, 0}, {reinterpret_cast<char*>(&ends[0].low), 0, 0}, {1, 1});
  store({high.out, 0, 0}, {reinterpret_cast<char*>(&ends[0].high), 0, 0}, {1, 1});
}

void range(const ReduceLoop& low, const ReduceLoop& high, ScalarType compute) {
  if (low.outputs == 0 || low.count == 0) return;
  const bool row = low.outputs == 1 && low.reduced.size() == 1 &&
                   low.reduced_in[0] == static_cast<int64_t>(element_size(low.in_dtype));
  if (row && compute == kFloat) return range_of_row<float>(low, high);
  if (row && compute == kDouble) return range_of_row<double>(low, high);
  if (row) return range_of_row<int64_t>(low, high);
  reduce(low, ReduceOp::min, compute, {});
  reduce(high, ReduceOp::max, compute, {});
}

HB_REGISTER_ISA(reduce_kernel, reduce);
HB_REGISTER_ISA(range_kernel, range);

}  // namespace
}  // namespace hb::cpu::HB_ISA
