// Selection from lines: a block for each of many or short ones, several launches for a few long ones.
#include <algorithm>

#include "cuda/last_block.h"
#include "cuda/select_digits.h"

namespace hb::cuda {
namespace {

constexpr int kSelectThreads = 512, kMostHeld = 4096;
/// Elements of a line that a thread keeps in registers.
template <class W>
constexpr int kHeldByThread = sizeof(W) == 8 ? 8 : 16;
constexpr int threads_holding(int held) { return held > 0 ? kMostHeld / held : kSelectThreads; }

/// A block for a line: its elements stay in registers where each thread has kHeld at most, else they are read again.
template <class W, int kHeld>
struct BlockLine {
  const SelectedLines& s;
  LineOf<W> line;
  W held[kHeld > 0 ? kHeld : 1];  // keys
  __device__ BlockLine(const SelectedLines& of, int64_t number) : s(of), line(of, number) {
#pragma unroll
    for (int k = 0; k < kHeld; ++k) held[k] = place(k) < s.l.n ? line.bits(place(k)) : W{0};
#pragma unroll
    for (int k = 0; k < kHeld; ++k) held[k] = line.key(held[k], s.rule);
  }
  /// Calls f(i, key) for this thread's elements.
  template <class F>
  __device__ void each(const F& f) const {
    if constexpr (kHeld == 0) {
      each_key(line, place(0), static_cast<int>(s.l.n), static_cast<int>(blockDim.x), s.rule, f);
    } else {
#pragma unroll
      for (int k = 0; k < kHeld; ++k)
        if (place(k) < s.l.n) f(place(k), held[k]);
    }
  }
  __device__ static int place(int k) { return static_cast<int>(threadIdx.x + k * blockDim.x); }
};

template <class W, int kHeld>
__global__ void __launch_bounds__(threads_holding(kHeld), kHeld == 16 ? 3 : 1)
    select_by_blocks(HB_ARGUMENT(SelectedLines) s, int digit_bits) {
  HB_SHARED(int, bins, kBinsRoom);
  HB_SHARED(Sought<W>, sought, 1);
  HB_SHARED(Passed, of_warps, kWarp);
  HB_SHARED(int, nans, 1);
  const BlockLine<W, kHeld> own(s, blockIdx.x);
  const LineOf<W>& line = own.line;
  const int self = static_cast<int>(threadIdx.x), n = static_cast<int>(s.l.n);
  if (self == 0) *sought = Sought<W>(s), *nans = 0;
  __syncthreads();
  if (s.middle != Middle::none && s.rule.floating) {
    int mine = 0;
    own.each([&](int, W key) { mine += line.is_nan(key, s.rule); });
    if (mine) atomicAdd(nans, mine);
    __syncthreads();
    if (self == 0) sought->set_middle(s.middle, n, *nans);
    __syncthreads();
  }
  while (!sought->is_found(s)) {
    const Sought<W> known = *sought;
    const Digit digit(known.left, digit_bits);
    for (int k = self; k < digit.bins; k += static_cast<int>(blockDim.x)) bins[spread(k)] = 0;
    __syncthreads();
    own.each([&](int, W key) {
      if (known.has(key)) atomicAdd(&bins[spread(digit.of(key))], 1);
    });
    __syncthreads();
    take_digit(sought, bins, digit, reinterpret_cast<int*>(of_warps));
  }
  const Sought<W> found = *sought;
  if (s.order.count > 1 || found.alike > 1) return store_wanted(s, line, found, 0, n, {0, 0}, of_warps);
  int at = -1;
  own.each([&](int i, W key) {
    if (found.has(key)) at = i;
  });
  if (at >= 0) store_selected(s, line, 0, at);
}

// --- a few long lines, a row of blocks for each

constexpr int kDigitBits = 11;

template <class W>
struct LongLine {
  Sought<W> sought;  // from the first launch on
  int nans;
  int bins[kMostBins];
};
template <class W>
struct LongLines {
  SelectedLines s;
  LongLine<W>* lines;
  Passed* passed;  // of each part of each line
  int part;        // elements
  int* counters;

  /// The elements of this block.
  __device__ int from() const { return static_cast<int>(blockIdx.x) * part; }
  __device__ int end() const { return static_cast<int>(s.l.n - from() < part ? s.l.n : int64_t{from()} + part); }
};

template <class W>
__global__ void __launch_bounds__(kSelectThreads) find_digit(HB_ARGUMENT(LongLines<W>) a, bool first) {
  HB_SHARED(int, bins, kBinsRoom);
  HB_SHARED(int, of_warps, kWarp);
  LongLine<W>& of_line = a.lines[blockIdx.y];
  const SelectedLines& s = a.s;
  const LineOf<W> line(s, blockIdx.y);
  const Sought<W> sought = first ? Sought<W>(s) : of_line.sought;
  if (!first && sought.is_found(s)) return;
  const Digit digit(sought.left, kDigitBits);
  const int self = static_cast<int>(threadIdx.x);
  for (int k = self; k < kMostBins; k += kSelectThreads) bins[spread(k)] = 0;
  __syncthreads();
  int nans = 0;
  each_key(line, a.from() + self, a.end(), kSelectThreads, s.rule, [&](int, W key) {
    nans += line.is_nan(key, s.rule);
    if (sought.has(key)) atomicAdd(&bins[spread(digit.of(key))], 1);
  });
  if (first && nans) atomicAdd(&of_line.nans, nans);
  __syncthreads();
  for (int k = self; k < kMostBins; k += kSelectThreads)
    if (bins[spread(k)]) atomicAdd(&of_line.bins[k], bins[spread(k)]);
  if (!is_last_block(a.counters + blockIdx.y, static_cast<int>(gridDim.x))) return;
  for (int k = self; k < kMostBins; k += kSelectThreads)
    bins[spread(k)] = written_by_others(&of_line.bins[k]), of_line.bins[k] = 0;
  if (first && self == 0) {
    of_line.sought = sought;
    of_line.sought.set_middle(s.middle, static_cast<int>(s.l.n), written_by_others(&of_line.nans));
  }
  __syncthreads();
  take_digit(&of_line.sought, bins, digit, of_warps);
}

template <class W>
__global__ void __launch_bounds__(kSelectThreads) count_passed(HB_ARGUMENT(LongLines<W>) a) {
  HB_SHARED(Passed, of_warps, kWarp);
  const LineOf<W> line(a.s, blockIdx.y);
  const Sought<W> sought = a.lines[blockIdx.y].sought;
  Passed mine{0, 0};
  each_key(line, a.from() + static_cast<int>(threadIdx.x), a.end(), kSelectThreads, a.s.rule,
           [&](int, W key) { count_element(mine, sought, key); });
  mine = warp_total(mine);
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = mine;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int k = 1; k < kSelectThreads / kWarp; ++k) mine.before += of_warps[k].before, mine.alike += of_warps[k].alike;
  a.passed[int64_t{blockIdx.y} * gridDim.x + blockIdx.x] = mine;
}

template <class W>
__global__ void __launch_bounds__(kSelectThreads) store_part(HB_ARGUMENT(LongLines<W>) a) {
  HB_SHARED(Passed, of_warps, kWarp);
  const Passed* const of_parts = a.passed + int64_t{blockIdx.y} * gridDim.x;
  const Passed own = of_parts[blockIdx.x];
  const Sought<W> sought = a.lines[blockIdx.y].sought;
  const bool one = a.s.order.count == 1;
  if ((one || own.before == 0) && own.alike == 0) return;
  Passed before{0, 0};
  for (unsigned k = threadIdx.x; k < blockIdx.x; k += kSelectThreads)
    before.before += of_parts[k].before, before.alike += of_parts[k].alike;
  before = warp_total(before);
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = before;
  __syncthreads();
  before = {0, 0};
  for (int k = 0; k < kSelectThreads / kWarp; ++k)
    before.before += of_warps[k].before, before.alike += of_warps[k].alike;
  __syncthreads();  // they were read
  const bool some_alike = before.alike <= sought.rank && (!one || before.alike + own.alike > sought.rank);
  if (!some_alike && (one || own.before == 0)) return;
  store_wanted(a.s, LineOf<W>(a.s, blockIdx.y), sought, a.from(), a.end(), before, of_warps);
}

template <class W>
void select_long(const SelectedLines& s, int64_t lines, int64_t parts) {
  const int64_t part = ((s.l.n + parts - 1) / parts + kSelectThreads - 1) / kSelectThreads * kSelectThreads;
  parts = (s.l.n + part - 1) / part;
  const Scratch<LongLine<W>> of_lines(lines);
  const Scratch<Passed> passed(lines * parts);
  const auto stream = current_stream();
  check(cudaMemsetAsync(of_lines.get(), 0, static_cast<size_t>(lines) * sizeof(LongLine<W>), stream), "select");
  const LongLines<W> a{s, of_lines.get(), passed.get(), static_cast<int>(part), block_counters(stream)};
  const dim3 grid(static_cast<unsigned>(parts), static_cast<unsigned>(lines));
  for (int left = s.rule.bits; left > 0; left -= kDigitBits)
    HB_LAUNCH(find_digit<W>, grid, kSelectThreads, 0, stream, a, left == s.rule.bits);
  HB_LAUNCH(count_passed<W>, grid, kSelectThreads, 0, stream, a);
  HB_LAUNCH(store_part<W>, grid, kSelectThreads, 0, stream, a);
}

template <class W>
void select_of(const SelectedLines& s) {
  constexpr int64_t kLeastPart = 16384, kEnough = 528;  // blocks: four on each multiprocessor of a large GPU
  const int64_t lines = s.l.outer * s.l.inner;
  const int64_t parts = std::min((s.l.n + kLeastPart - 1) / kLeastPart, kEnough / lines);
  if (parts > 1) return select_long<W>(s, lines, parts);
  const auto blocks = static_cast<unsigned>(lines);
  constexpr int kHeld = kHeldByThread<W>;
  if (s.l.n <= 1024)
    HB_LAUNCH((select_by_blocks<W, kHeld>), blocks, 128, 0, current_stream(), s, 8);
  else if (s.l.n <= kMostHeld)
    HB_LAUNCH((select_by_blocks<W, kHeld>), blocks, threads_holding(kHeld), 0, current_stream(), s, kDigitBits);
  else
    HB_LAUNCH((select_by_blocks<W, 0>), blocks, kSelectThreads, 0, current_stream(), s, kDigitBits);
}

void median(const Tensor& values, const Tensor& indices, const Tensor& in, Lines l, bool of_numbers) {
  if (l.outer * l.inner == 0) return;
  HB_CHECK(l.n < INT32_MAX && l.outer * l.inner < INT32_MAX, "[", current_function(),
           "] expected fewer than 2^31 lines and elements in each on CUDA, got ", l.outer * l.inner, " of ", l.n);
  with_ordered(current_function(), in.scalar_type(), [&](auto type) {
    select_lines({values.impl().raw_data(), static_cast<int64_t*>(indices.impl().raw_data()), in.impl().raw_data(), l,
                  Order{0, 1, false}, key_rule<decltype(type)>(), of_numbers ? Middle::of_numbers : Middle::of_all});
  });
}
HB_REGISTER_CUDA(median_kernel, median);

}  // namespace

void select_lines(const SelectedLines& s) {
  switch (s.rule.bits) {
    case 8:
      return select_of<uint8_t>(s);
    case 16:
      return select_of<uint16_t>(s);
    case 32:
      return select_of<uint32_t>(s);
    default:
      return select_of<uint64_t>(s);
  }
}

}  // namespace hb::cuda
