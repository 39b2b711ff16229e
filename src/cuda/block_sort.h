#pragma once
// Order along short lines: a block sorts a line in registers and shared memory.

#include <algorithm>
#include <cstdint>

#include "backend/sort.h"
#include "cuda/cub.h"
#include "cuda/sort_key.h"
#ifndef HB_SOFTWARE_CUDA
#include <cub/block/block_radix_sort.cuh>
#endif

namespace hb::cuda {

struct SortedLines {
  void* values;  // may be absent, as the indices
  int64_t* indices;
  const void* in;
  Lines l;
  Order order;
  KeyRule rule;
  const int64_t* names;  // of the elements of `in`; absent: their places in the line
};

/// Elements of a line; uint16_t stands for bytes, too. Loads come one after the other, without what needs their values.
template <class W, int kItems, class Index>
__device__ inline void load_bits(W (&bits)[kItems], const void* line, const SortedLines& s, const Index& index_of) {
  const bool bytes = sizeof(W) == 2 && s.rule.bits == 8;
  if (bytes) {
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int i = index_of(k);
      bits[k] = i >= 0 ? static_cast<const uint8_t*>(line)[i * s.l.inner] : W{0};
    }
  } else {
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int i = index_of(k);
      bits[k] = i >= 0 ? static_cast<const W*>(line)[i * s.l.inner] : W{0};
    }
  }
}

/// What is sorted for elements of W: a key with the place in its low bits if both fit one word, else two words. As
/// places ascend at first, and the sort is stable, its digits are those of keys alone.
template <class W>
struct SortedWord {
  static constexpr bool with_place = sizeof(W) < 8;
  using Key = std::conditional_t<sizeof(W) == 2, uint32_t, uint64_t>;
  using Place = std::conditional_t<with_place, cub::NullType, uint16_t>;
  static constexpr int low_bit = with_place ? 16 : 0;
};

/// This thread's kItems neighbours of a line as keys; past its end the largest ones.
template <class W, int kThreadsOf, int kItems, class Key>
__device__ inline void load_keys(Key (&keys)[kItems], Key* staged, const SortedLines& s, const void* line) {
  const int self = static_cast<int>(threadIdx.x), n = static_cast<int>(s.l.n);
  W bits[kItems];
  load_bits(bits, line, s, [&](int k) { return k * kThreadsOf + self < n ? k * kThreadsOf + self : -1; });
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int i = k * kThreadsOf + self;
    const W key = key_of_bits(bits[k], s.rule);
    staged[spread(i)] = static_cast<W>(i >= n ? ~W{0} : s.order.descending ? ~key : key);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int i = self * kItems + k;
    keys[k] = staged[spread(i)];
    if constexpr (SortedWord<W>::with_place) keys[k] = keys[k] << 16 | static_cast<Key>(i);
  }
  __syncthreads();
}

/// Those of the order's places that are wanted; thread t has every kThreadsOf-th place from t on.
template <class W, int kThreadsOf, int kItems>
__device__ inline void store_order(const uint16_t (&places)[kItems], const SortedLines& s, const void* line,
                                   const int64_t* names, int64_t to) {
  const int first = static_cast<int>(threadIdx.x - s.order.from), count = static_cast<int>(s.order.count);
  const auto wanted = [&](int rank) { return rank >= 0 && rank < count; };
  if (s.values) {
    W bits[kItems];
    load_bits(bits, line, s, [&](int k) { return wanted(first + k * kThreadsOf) ? int{places[k]} : -1; });
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int rank = first + k * kThreadsOf;
      if (!wanted(rank)) continue;
      if (sizeof(W) == 2 && s.rule.bits == 8)
        static_cast<uint8_t*>(s.values)[to + rank * s.l.inner] = static_cast<uint8_t>(bits[k]);
      else
        static_cast<W*>(s.values)[to + rank * s.l.inner] = bits[k];
    }
  }
  if (!s.indices) return;
#pragma unroll
  for (int k = 0; k < kItems; ++k)
    if (const int rank = first + k * kThreadsOf; wanted(rank))
      s.indices[to + rank * s.l.inner] = names ? names[places[k] * s.l.inner] : places[k];
}

template <class W, int kThreadsOf, int kItems>
__global__ void __launch_bounds__(kThreadsOf, sizeof(W) == 2 && kThreadsOf == 256 ? 3 : 1) sort_lines(SortedLines s) {
  using Word = SortedWord<W>;
  using Key = typename Word::Key;
  using Sorter = cub::BlockRadixSort<Key, kThreadsOf, kItems, typename Word::Place>;
  using Storage = typename Sorter::TempStorage;
  constexpr size_t kStaged = sizeof(Key) * (kThreadsOf * kItems * (kWarp + 1) / kWarp);
  HB_SHARED(uint4, room, (std::max(sizeof(Storage), kStaged) + 15) / 16);
  const int64_t base = blockIdx.x / s.l.inner * s.l.n * s.l.inner + blockIdx.x % s.l.inner;
  const int64_t to = blockIdx.x / s.l.inner * s.order.count * s.l.inner + blockIdx.x % s.l.inner;
  const void* const line = static_cast<const char*>(s.in) + base * (s.rule.bits / 8);
  Key keys[kItems];
  load_keys<W, kThreadsOf>(keys, reinterpret_cast<Key*>(room), s, line);
  uint16_t places[kItems];
  const int end = Word::low_bit + s.rule.bits;
  Sorter sorter(*reinterpret_cast<Storage*>(room));
  if constexpr (Word::with_place) {
    sorter.SortBlockedToStriped(keys, Word::low_bit, end);
#pragma unroll
    for (int k = 0; k < kItems; ++k) places[k] = static_cast<uint16_t>(keys[k]);
  } else {
#pragma unroll
    for (int k = 0; k < kItems; ++k) places[k] = static_cast<uint16_t>(threadIdx.x * kItems + k);
    sorter.SortBlockedToStriped(keys, places, Word::low_bit, end);
  }
  store_order<W, kThreadsOf>(places, s, line, s.names ? s.names + base : nullptr, to);
}

template <class W>
void launch_sort_lines(const SortedLines& s) {
  const auto lines = static_cast<unsigned>(s.l.outer * s.l.inner);
  const auto stream = current_stream();
  if (s.l.n <= 256)
    HB_LAUNCH((sort_lines<W, 64, 4>), lines, 64, 0, stream, s);
  else if (s.l.n <= 1024)
    HB_LAUNCH((sort_lines<W, 128, 8>), lines, 128, 0, stream, s);
  else if (s.l.n <= 4096)
    HB_LAUNCH((sort_lines<W, 256, 16>), lines, 256, 0, stream, s);
  else if constexpr (sizeof(W) == 2)
    HB_LAUNCH((sort_lines<W, 512, 16>), lines, 512, 0, stream, s);
}

/// Returns false for lines that are too long for a block.
inline bool sort_by_blocks(const SortedLines& s) {
  if (s.l.n > (s.rule.bits <= 16 ? 8192 : 4096) || s.l.outer * s.l.inner > INT32_MAX) return false;
  if (s.rule.bits <= 16)
    launch_sort_lines<uint16_t>(s);
  else if (s.rule.bits == 32)
    launch_sort_lines<uint32_t>(s);
  else
    launch_sort_lines<uint64_t>(s);
  return true;
}

}  // namespace hb::cuda
