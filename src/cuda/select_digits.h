#pragma once
// Radix selection: the key of the last element that is wanted of a line is found digit by digit, from the highest, by
// counting the digits of the elements that have those found so far. Then the elements are compared with it.

#include "cuda/select.h"

namespace hb::cuda {

constexpr int kMostBins = 2048, kKeyLoads = 8;
constexpr int kBinsRoom = kMostBins + kMostBins / kWarp;

/// What is known of the last element that is wanted.
template <class W>
struct Sought {
  W digits, known;  // its key's digits, and the bits where they are known
  int left;         // bits below them
  int rank;         // its place among the elements that have these digits
  int alike;        // how many those are

  Sought() = default;
  __device__ explicit Sought(const SelectedLines& s)
      : digits(0),
        known(0),
        left(s.rule.bits),
        rank(static_cast<int>(s.middle == Middle::none ? s.order.from + s.order.count - 1 : (s.l.n - 1) / 2)),
        alike(static_cast<int>(s.l.n)) {}
  /// Among NaNs, which are the last of the order.
  __device__ void set_middle(Middle middle, int n, int nans) {
    if (middle == Middle::of_all && nans > 0) rank = n - nans;
    if (middle == Middle::of_numbers) rank = n - nans > 1 ? (n - nans - 1) / 2 : 0;
  }
  /// Whether the elements that have these digits are wanted without a look at the others.
  __device__ bool is_found(const SelectedLines& s) const {
    return left == 0 || alike == (s.order.count == 1 ? 1 : rank + 1);
  }
  __device__ bool has(W key) const { return static_cast<W>(key & known) == digits; }
  __device__ bool comes_after(W key) const { return static_cast<W>(key & known) < digits; }
};

/// Where the next digit of `bits` bits, or fewer, stands.
struct Digit {
  int shift, bins;
  __device__ Digit(int left, int bits) : shift(left > bits ? left - bits : 0), bins(1 << bits) {}
  template <class W>
  __device__ int of(W key) const {
    return static_cast<int>(key >> shift) & (bins - 1);
  }
};

/// A line's element i, and its key.
template <class W>
struct LineOf {
  const W* first;
  int64_t to, step;
  W flip;
  __device__ LineOf(const SelectedLines& s, int64_t line)
      : first(static_cast<const W*>(s.in) + line / s.l.inner * s.l.n * s.l.inner + line % s.l.inner),
        to(line / s.l.inner * s.order.count * s.l.inner + line % s.l.inner),
        step(s.l.inner),
        flip(static_cast<W>(s.order.descending ? ~W{0} : W{0})) {}
  __device__ W bits(int i) const { return first[i * step]; }
  __device__ W key(W bits, const KeyRule& rule) const { return static_cast<W>(key_of_bits(bits, rule) ^ flip); }
  __device__ bool is_nan(W key, const KeyRule& rule) const {
    return rule.floating && static_cast<W>(key ^ flip) == static_cast<W>(~W{0});
  }
};

/// Calls f(i, key) for elements [from, end): this thread's are `by` apart. With several loads under way.
template <class W, class F>
__device__ inline void each_key(const LineOf<W>& line, int from, int end, int by, const KeyRule& rule, const F& f) {
  for (int64_t first = from; first < end; first += int64_t{kKeyLoads} * by) {
    W bits[kKeyLoads];
#pragma unroll
    for (int e = 0; e < kKeyLoads; ++e) {
      const int64_t i = first + int64_t{e} * by;
      bits[e] = i < end ? line.bits(static_cast<int>(i)) : W{0};
    }
#pragma unroll
    for (int e = 0; e < kKeyLoads; ++e)
      if (first + int64_t{e} * by < end) f(static_cast<int>(first + int64_t{e} * by), line.key(bits[e], rule));
  }
}

/// What the threads of the block before this one have; all call it.
__device__ inline int before_in_block(int mine, int* of_warps) {
  const int lane = static_cast<int>(threadIdx.x % kWarp), warp = static_cast<int>(threadIdx.x / kWarp);
  int sum = mine;
  for (int by = 1; by < kWarp; by *= 2) {
    const int earlier = __shfl_up_sync(kFullWarp, sum, static_cast<unsigned>(by));
    if (lane >= by) sum += earlier;
  }
  if (lane == kWarp - 1) of_warps[warp] = sum;
  __syncthreads();
  int before = sum - mine;
  for (int k = 0; k < warp; ++k) before += of_warps[k];
  return before;
}

/// The next digit of *sought, which bins have been counted for; all threads of the block call it.
template <class W>
__device__ inline void take_digit(Sought<W>* sought, const int* bins, const Digit& digit, int* of_warps) {
  const int each = digit.bins / static_cast<int>(blockDim.x), first = static_cast<int>(threadIdx.x) * each;
  int count = 0;
  for (int k = 0; k < each; ++k) count += bins[spread(first + k)];
  Sought<W> next = *sought;
  int before = before_in_block(count, of_warps);
  if (next.rank >= before && next.rank < before + count) {
    int k = first;
    while (next.rank >= before + bins[spread(k)]) before += bins[spread(k++)];
    next.digits = static_cast<W>(next.digits | static_cast<W>(static_cast<W>(k) << digit.shift));
    next.known = static_cast<W>(~W{0} << digit.shift);
    next.left = digit.shift;
    next.rank -= before;
    next.alike = bins[spread(k)];
    *sought = next;
  }
  __syncthreads();
}

/// Elements of a part of a line: those before the sought one, and those like it.
struct Passed {
  int before, alike;
};
template <class W>
__device__ inline void count_element(Passed& passed, const Sought<W>& sought, W key) {
  passed.before += sought.comes_after(key);
  passed.alike += sought.has(key);
}
__device__ inline Passed warp_total(Passed mine) {
  for (int lanes = kWarp / 2; lanes; lanes /= 2) {
    mine.before += __shfl_xor_sync(kFullWarp, mine.before, lanes);
    mine.alike += __shfl_xor_sync(kFullWarp, mine.alike, lanes);
  }
  return mine;
}

template <class W>
__device__ inline void store_selected(const SelectedLines& s, const LineOf<W>& line, int slot, int i) {
  const int64_t to = line.to + slot * line.step;
  if (s.values) static_cast<W*>(s.values)[to] = line.bits(i);
  if (s.indices) s.indices[to] = i;
}

/// Stores what is wanted of elements [from, end), before which the line has `passed`. Each warp takes a stretch of
/// them.
template <class W>
__device__ inline void store_wanted(const SelectedLines& s, const LineOf<W>& line, const Sought<W>& sought, int from,
                                    int end, Passed passed, Passed* of_warps) {
  const int lane = static_cast<int>(threadIdx.x % kWarp), warp = static_cast<int>(threadIdx.x / kWarp);
  const int64_t warps = blockDim.x / kWarp, each = (end - from + warps * kWarp - 1) / (warps * kWarp) * kWarp;
  const int64_t begins = from + warp * each;
  const int first = static_cast<int>(begins < end ? begins : end);
  const int last = static_cast<int>(begins + each < end ? begins + each : end);
  Passed mine{0, 0};
  each_key(line, first + lane, last, kWarp, s.rule, [&](int, W key) { count_element(mine, sought, key); });
  mine = warp_total(mine);
  if (lane == 0) of_warps[warp] = mine;
  __syncthreads();
  for (int k = 0; k < warp; ++k) passed.before += of_warps[k].before, passed.alike += of_warps[k].alike;
  const bool one = s.order.count == 1;
  const unsigned earlier = (1u << lane) - 1;
#pragma unroll 4
  for (int base = first; base < last; base += kWarp) {
    const bool there = base + lane < last;
    const W key = line.key(there ? line.bits(base + lane) : W{0}, s.rule);
    const bool before = there && sought.comes_after(key), alike = there && sought.has(key);
    const unsigned befores = __ballot_sync(kFullWarp, before), alikes = __ballot_sync(kFullWarp, alike);
    const int rank = passed.alike + __popc(alikes & earlier), met = rank <= sought.rank ? rank : sought.rank + 1;
    if (one ? alike && rank == sought.rank : before || (alike && rank <= sought.rank))
      store_selected(s, line, one ? 0 : passed.before + __popc(befores & earlier) + met, base + lane);
    passed.before += __popc(befores), passed.alike += __popc(alikes);
  }
}

}  // namespace hb::cuda
