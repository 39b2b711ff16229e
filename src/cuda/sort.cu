// Order along lines, by radix sort: every value becomes a key whose order as an unsigned number is the one wanted.
// Blocks sort short lines by themselves; longer ones are sorted all at once, by their keys and then by lines.
#include "cuda/block_sort.h"
#include "cuda/select.h"

namespace hb::cuda {
namespace {

template <class T>
__global__ void make_keys(SortKey<T>* keys, int32_t* places, const T* in, int64_t total, bool descending) {
  HB_GRID_LOOP(i, total) {
    const auto key = static_cast<SortKey<T>>(key_of(in[i]));
    keys[i] = static_cast<SortKey<T>>(descending ? ~key : key);
    places[i] = static_cast<int32_t>(i);
  }
}
__global__ void make_lines(uint32_t* lines, const int32_t* places, int64_t total, int64_t n, int64_t inner) {
  HB_GRID_LOOP(i, total) {
    const int64_t at = places[i];
    lines[i] = static_cast<uint32_t>(at / (n * inner) * inner + at % inner);
  }
}
template <class T>
__global__ void take_order(T* values, int64_t* indices, const T* in, const int64_t* names, const int32_t* places,
                           Lines l, int64_t from, int64_t count) {
  HB_GRID_LOOP(i, l.outer * count * l.inner) {
    const int64_t o = i / (count * l.inner), k = i / l.inner % count, c = i % l.inner;
    const int64_t at = places[(o * l.inner + c) * l.n + from + k];
    if (values) values[i] = in[at];
    if (indices) indices[i] = names ? names[at] : at / l.inner % l.n;
  }
}

int bits_of(int64_t values) {
  int bits = 1;
  while (bits < 32 && (int64_t{1} << bits) < values) ++bits;
  return bits;
}

/// The value that `key` was made of, but for other zeros and NaNs, which have the same key.
template <class T>
__device__ T of_whole_key(SortKey<T> key) {
  constexpr KeyRule rule = key_rule<T>();
  constexpr auto top = static_cast<SortKey<T>>(rule.top);
  const auto bits = static_cast<SortKey<T>>(!rule.floating || (key & top) ? key ^ top : ~key);
  T value;
  memcpy(static_cast<void*>(&value), &bits, sizeof value);  // the low bytes
  return value;
}
/// The same at place `at`.
template <class T>
__device__ T value_of(SortKey<T> key, const T* in, int32_t at) {
  constexpr KeyRule rule = key_rule<T>();
  constexpr auto top = static_cast<SortKey<T>>(rule.top);
  if (rule.floating && (key == top || key == static_cast<SortKey<T>>(~SortKey<T>{0}))) return in[at];
  return of_whole_key<T>(key);
}
/// Of a single line, whose values are read in order with their keys.
template <class T>
__global__ void take_sorted(T* values, int64_t* indices, const T* in, const int64_t* names, const SortKey<T>* keys,
                            const int32_t* places, int64_t from, int64_t count, bool descending) {
  HB_GRID_LOOP(i, count) {
    const SortKey<T> key = keys[from + i];
    const int32_t at = places[from + i];
    if (values) values[i] = value_of(static_cast<SortKey<T>>(descending ? ~key : key), in, at);
    if (indices) indices[i] = names ? names[at] : at;
  }
}

/// names: as in SortedLines.
template <class T>
void sort_lines_of(T* values, int64_t* indices, const T* in, const int64_t* names, const Lines& l, const Order& order) {
  if (sort_by_blocks({values, indices, in, l, order, key_rule<T>(), names})) return;
  using Key = SortKey<T>;
  const int64_t lines = l.outer * l.inner, total = lines * l.n;
  HB_CHECK(total < INT32_MAX, "[", current_function(), "] expected fewer than 2^31 elements on CUDA, got ", total);
  const auto n = static_cast<int>(total);
  const Scratch<Key> keys(2 * total);
  const Scratch<int32_t> places(2 * total);
  int32_t *const first = places.get(), *const second = first + total;
  Key* const sorted = keys.get() + total;
  HB_LAUNCH(make_keys<T>, blocks_for(total), kThreads, 0, current_stream(), keys.get(), first, in, total,
            order.descending);
  HB_CUB(cub::DeviceRadixSort::SortPairs, static_cast<const Key*>(keys.get()), sorted,
         static_cast<const int32_t*>(first), second, n, 0, key_rule<T>().bits);
  if (lines == 1) {
    HB_LAUNCH(take_sorted<T>, blocks_for(order.count), kThreads, 0, current_stream(), values, indices, in, names,
              static_cast<const Key*>(sorted), static_cast<const int32_t*>(second), order.from, order.count,
              order.descending);
    return;
  }
  const Scratch<uint32_t> of_lines(2 * total);  // then by lines, which leaves the order within each
  HB_LAUNCH(make_lines, blocks_for(total), kThreads, 0, current_stream(), of_lines.get(), second, total, l.n, l.inner);
  HB_CUB(cub::DeviceRadixSort::SortPairs, static_cast<const uint32_t*>(of_lines.get()), of_lines.get() + total,
         static_cast<const int32_t*>(second), first, n, 0, bits_of(lines));
  HB_LAUNCH(take_order<T>, blocks_for(l.outer * order.count * l.inner), kThreads, 0, current_stream(), values, indices,
            in, names, static_cast<const int32_t*>(first), l, order.from, order.count);
}

/// Of what is a small part of its line: it is found first, and then sorted by itself.
template <class T>
void order_of(T* values, int64_t* indices, const T* in, const Lines& l, const Order& order) {
  if (!is_selected(l, order)) return sort_lines_of(values, indices, in, nullptr, l, order);
  if (order.count == 1) return select_lines({values, indices, in, l, order, key_rule<T>()});
  const int64_t total = l.outer * order.count * l.inner;
  const Scratch<T> selected(total);
  const Scratch<int64_t> places(total);
  select_lines({selected.get(), places.get(), in, l, order, key_rule<T>()});
  sort_lines_of<T>(values, indices, selected.get(), places.get(), Lines{l.outer, order.count, l.inner}, order);
}

template <class T>
T* data(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.impl().raw_data()) : nullptr;
}

void sort(const Tensor& values, const Tensor& indices, const Tensor& in, Lines l, Order order) {
  const int64_t total = l.outer * l.n * l.inner;
  if (total == 0 || order.count == 0) return;
  with_ordered(current_function(), in.scalar_type(), [&](auto type) {
    using T = decltype(type);
    order_of(data<T>(values), data<int64_t>(indices), data<const T>(in), l, order);
  });
}
HB_REGISTER_CUDA(order_kernel, sort);

// Values alone: keys from which they can be made again.
template <class T>
__global__ void make_whole_keys(SortKey<T>* keys, const T* in, int64_t n) {
  HB_GRID_LOOP(i, n) {
    SortKey<T> bits = 0;
    memcpy(&bits, &in[i], sizeof(T));
    keys[i] = whole_key_of_bits(bits, key_rule<T>());
  }
}
template <class T>
__global__ void take_values(T* values, const SortKey<T>* keys, int64_t n) {
  HB_GRID_LOOP(i, n) values[i] = of_whole_key<T>(keys[i]);
}
void sorted_values(const Tensor& values, const Tensor& in) {
  const int64_t n = in.numel();
  if (n == 0) return;
  with_ordered(current_function(), in.scalar_type(), [&](auto type) {
    using T = decltype(type);
    using Key = SortKey<T>;
    const Lines line{1, n, 1};
    if (sort_by_blocks({data<T>(values), nullptr, data<T>(in), line, {0, n, false}, key_rule<T>(), nullptr})) return;
    HB_CHECK(n < INT32_MAX, "[", current_function(), "] expected fewer than 2^31 elements on CUDA, got ", n);
    const Scratch<Key> keys(2 * n);
    Key* const sorted = keys.get() + n;
    HB_LAUNCH(make_whole_keys<T>, blocks_for(n), kThreads, 0, current_stream(), keys.get(), data<const T>(in), n);
    HB_CUB(cub::DeviceRadixSort::SortKeys, static_cast<const Key*>(keys.get()), sorted, static_cast<int>(n), 0,
           key_rule<T>().bits);
    HB_LAUNCH(take_values<T>, blocks_for(n), kThreads, 0, current_stream(), data<T>(values),
              static_cast<const Key*>(sorted), n);
  });
}
HB_REGISTER_CUDA(sorted_values_kernel, sorted_values);

/// The length of the run that begins at place j of a sorted line of n: its end is reached by ever longer steps.
template <class Key>
__device__ int64_t run_length(const Key& key, int64_t j, int64_t n) {
  const uint64_t own = key(j);
  int64_t in = j, out = j + 1;  // a place that belongs to it, and one that may not
  while (out < n && key(out) == own) {
    const int64_t step = 2 * (out - in);
    in = out, out += step;
  }
  if (out > n) out = n;
  while (out - in > 1) {
    const int64_t middle = (in + out) / 2;
    (key(middle) == own ? in : out) = middle;
  }
  return out - j;
}
/// A block for a line: its longest run of equal values, the first of several; the last place that has them.
template <class T>
__global__ void __launch_bounds__(kThreads)
    longest_run(T* values, int64_t* indices, const T* sorted, const int64_t* places, Lines l) {
  for (int64_t line = blockIdx.x; line < l.outer * l.inner; line += gridDim.x) {
    const int64_t first = line / l.inner * l.n * l.inner + line % l.inner;
    const auto key = [&](int64_t j) { return key_of(sorted[first + j * l.inner]); };
    uint64_t best = 0;  // the length, and below it a number that is larger for earlier runs
    for (int64_t j = threadIdx.x; j < l.n; j += blockDim.x) {
      if (j > 0 && key(j - 1) == key(j)) continue;
      const uint64_t run = static_cast<uint64_t>(run_length(key, j, l.n)) << 32 | static_cast<uint32_t>(~j);
      best = run > best ? run : best;
    }
    best = team_reduce(best, uint64_t{0}, [](uint64_t a, uint64_t b) { return a > b ? a : b; });
    if (threadIdx.x > 0) continue;
    const int64_t begin = static_cast<uint32_t>(~best), end = begin + static_cast<int64_t>(best >> 32);
    values[line] = sorted[first + begin * l.inner];
    indices[line] = places[first + (end - 1) * l.inner];
  }
}
void mode(const Tensor& values, const Tensor& indices, const Tensor& in, Lines l) {
  const int64_t total = l.outer * l.n * l.inner;
  if (total == 0) return;
  with_ordered("mode", in.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const Scratch<T> sorted(total);
    const Scratch<int64_t> places(total);
    order_of(sorted.get(), places.get(), data<const T>(in), l, {0, l.n, false});
    HB_LAUNCH(longest_run<T>, blocks_for(l.outer * l.inner, 1), l.n <= 64 ? kWarp : kThreads, 0, current_stream(),
              data<T>(values), data<int64_t>(indices), sorted.get(), places.get(), l);
  });
}
HB_REGISTER_CUDA(mode_kernel, mode);

}  // namespace
}  // namespace hb::cuda
