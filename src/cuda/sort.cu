// Order along lines, by radix sort: every value becomes a key whose order as an unsigned number is the one wanted.
// Blocks sort short lines by themselves; longer ones are sorted all at once, by their keys and then by lines.
#include "cuda/block_sort.h"

namespace hb::cuda {
namespace {

/// Keys of elements of T; those of bytes have the low bits.
template <class T>
using SortKey =
    std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;

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
__global__ void take_order(T* values, int64_t* indices, const T* in, const int32_t* places, Lines l, int64_t from,
                           int64_t count) {
  HB_GRID_LOOP(i, l.outer * count * l.inner) {
    const int64_t o = i / (count * l.inner), k = i / l.inner % count, c = i % l.inner;
    const int64_t at = places[(o * l.inner + c) * l.n + from + k];
    if (values) values[i] = in[at];
    if (indices) indices[i] = at / l.inner % l.n;
  }
}

int bits_of(int64_t values) {
  int bits = 1;
  while (bits < 32 && (int64_t{1} << bits) < values) ++bits;
  return bits;
}

/// The value that `key` was made of at place `at`: other zeros and NaNs have the same key.
template <class T>
__device__ T value_of(SortKey<T> key, const T* in, int32_t at) {
  constexpr KeyRule rule = key_rule<T>();
  constexpr auto top = static_cast<SortKey<T>>(rule.top);
  if (rule.floating && (key == top || key == static_cast<SortKey<T>>(~SortKey<T>{0}))) return in[at];
  const auto bits = static_cast<SortKey<T>>(!rule.floating || (key & top) ? key ^ top : ~key);
  T value;
  memcpy(static_cast<void*>(&value), &bits, sizeof value);  // the low bytes
  return value;
}
/// Of a single line, whose values are read in order with their keys.
template <class T>
__global__ void take_sorted(T* values, int64_t* indices, const T* in, const SortKey<T>* keys, const int32_t* places,
                            int64_t from, int64_t count, bool descending) {
  HB_GRID_LOOP(i, count) {
    const SortKey<T> key = keys[from + i];
    const int32_t at = places[from + i];
    if (values) values[i] = value_of(static_cast<SortKey<T>>(descending ? ~key : key), in, at);
    if (indices) indices[i] = at;
  }
}

template <class T>
void order_of(T* values, int64_t* indices, const T* in, const Lines& l, const Order& order) {
  if (sort_by_blocks({values, indices, in, l, order, key_rule<T>()})) return;
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
    HB_LAUNCH(take_sorted<T>, blocks_for(order.count), kThreads, 0, current_stream(), values, indices, in,
              static_cast<const Key*>(sorted), static_cast<const int32_t*>(second), order.from, order.count,
              order.descending);
    return;
  }
  const Scratch<uint32_t> of_lines(2 * total);  // then by lines, which leaves the order within each
  HB_LAUNCH(make_lines, blocks_for(total), kThreads, 0, current_stream(), of_lines.get(), second, total, l.n, l.inner);
  HB_CUB(cub::DeviceRadixSort::SortPairs, static_cast<const uint32_t*>(of_lines.get()), of_lines.get() + total,
         static_cast<const int32_t*>(second), first, n, 0, bits_of(lines));
  HB_LAUNCH(take_order<T>, blocks_for(l.outer * order.count * l.inner), kThreads, 0, current_stream(), values, indices,
            in, static_cast<const int32_t*>(first), l, order.from, order.count);
}

/// Calls fn(T()) for the dtypes that have an order.
template <class F>
void with_ordered(const char* name, ScalarType dtype, const F& fn) {
  switch (dtype) {
#define HB_CASE(T, Name)              \
  case ScalarType::Name:              \
    if constexpr (!is_complex_v<T>) { \
      fn(T());                        \
      return;                         \
    }                                 \
    break;
    HB_FORALL_COMPUTED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      break;
  }
  HB_NOT_SUPPORTED("[", name, "] is not supported for dtype ", dtype);
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

/// The longest run of equal values of each sorted line, the first of several; the last place that has them.
template <class T>
__global__ void longest_run(T* values, int64_t* indices, const T* sorted, const int64_t* places, Lines l) {
  HB_GRID_LOOP(i, l.outer * l.inner) {
    const int64_t first = i / l.inner * l.n * l.inner + i % l.inner;
    int64_t best = 0, from = 0;
    for (int64_t j = 1; j <= l.n; ++j) {
      const int64_t begin = first + from * l.inner;
      if (j < l.n && key_of(sorted[first + j * l.inner]) == key_of(sorted[begin])) continue;
      if (j - from > best) {
        best = j - from;
        values[i] = sorted[begin];
        indices[i] = places[first + (j - 1) * l.inner];
      }
      from = j;
    }
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
    HB_LAUNCH(longest_run<T>, blocks_for(l.outer * l.inner), kThreads, 0, current_stream(), data<T>(values),
              data<int64_t>(indices), sorted.get(), places.get(), l);
  });
}
HB_REGISTER_CUDA(mode_kernel, mode);

// NaN is the largest.
template <class T>
__device__ bool comes_before(T a, T b, bool equal_too) {
  const uint64_t x = key_of(a), y = key_of(b);
  return x < y || (equal_too && x == y);
}
template <class T>
__global__ void search(void* out, const T* sorted, const T* in, int64_t outer, int64_t m, int64_t n, bool one_line,
                       bool right, bool narrow) {
  HB_GRID_LOOP(i, outer * m) {
    const T* const line = one_line ? sorted : sorted + i / m * n;
    int64_t low = 0, high = n;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (comes_before(line[middle], in[i], right))
        low = middle + 1;
      else
        high = middle;
    }
    if (narrow)
      static_cast<int32_t*>(out)[i] = static_cast<int32_t>(low);
    else
      static_cast<int64_t*>(out)[i] = low;
  }
}
void searchsorted(const Tensor& out, const Tensor& sorted, const Tensor& in, int64_t outer, bool right) {
  const int64_t total = in.numel();
  if (total == 0) return;
  const int64_t n = sorted.dim() ? sorted.size(-1) : 1;
  with_ordered("searchsorted", in.scalar_type(), [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(search<T>, blocks_for(total), kThreads, 0, current_stream(), out.impl().raw_data(), data<const T>(sorted),
              data<const T>(in), outer, total / outer, n, sorted.numel() == n, right, out.scalar_type() == kInt);
  });
}
HB_REGISTER_CUDA(searchsorted_kernel, searchsorted);

}  // namespace
}  // namespace hb::cuda
