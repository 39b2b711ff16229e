// Order along lines, by radix sort: every value becomes a key whose order as an unsigned number is the one wanted.
// Blocks sort short lines by themselves; longer ones are sorted all at once, by their keys and then by lines.
#include "cuda/block_sort.h"

namespace hb::cuda {
namespace {

template <class T>
__global__ void make_keys(uint64_t* keys, int32_t* places, const T* in, int64_t total, bool descending) {
  HB_GRID_LOOP(i, total) {
    const uint64_t key = key_of(in[i]);
    keys[i] = descending ? ~key : key;
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

template <class T>
void order_of(T* values, int64_t* indices, const T* in, const Lines& l, const Order& order) {
  if (sort_by_blocks({values, indices, in, l, order, key_rule<T>()})) return;
  const int64_t lines = l.outer * l.inner, total = lines * l.n;
  HB_CHECK(total < INT32_MAX, "[", current_function(), "] expected fewer than 2^31 elements on CUDA, got ", total);
  const auto n = static_cast<int>(total);
  const Scratch<uint64_t> keys(2 * total);
  const Scratch<int32_t> places(2 * total);
  int32_t *const first = places.get(), *const second = first + total, *sorted = second;
  HB_LAUNCH(make_keys<T>, blocks_for(total), kThreads, 0, current_stream(), keys.get(), first, in, total,
            order.descending);
  HB_CUB(cub::DeviceRadixSort::SortPairs, static_cast<const uint64_t*>(keys.get()), keys.get() + total,
         static_cast<const int32_t*>(first), second, n, 0, 64);
  if (lines > 1) {  // then by lines, which leaves the order within each
    auto* const of_lines = reinterpret_cast<uint32_t*>(keys.get());
    HB_LAUNCH(make_lines, blocks_for(total), kThreads, 0, current_stream(), of_lines, second, total, l.n, l.inner);
    HB_CUB(cub::DeviceRadixSort::SortPairs, static_cast<const uint32_t*>(of_lines), of_lines + total,
           static_cast<const int32_t*>(second), first, n, 0, bits_of(lines));
    sorted = first;
  }
  HB_LAUNCH(take_order<T>, blocks_for(l.outer * order.count * l.inner), kThreads, 0, current_stream(), values, indices,
            in, static_cast<const int32_t*>(sorted), l, order.from, order.count);
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

template <class W, class T>
__global__ void count_values(T* counts, const int64_t* values, const W* weights, int64_t n, int64_t size,
                             Reporter report) {
  HB_GRID_LOOP(i, n) {
    if (!index_is_good(values[i], size, report)) continue;
    if constexpr (std::is_same_v<T, int64_t>)
      atomicAdd(reinterpret_cast<unsigned long long*>(counts + values[i]), 1ull);
    else
      atomicAdd(counts + values[i], static_cast<T>(weights[i]));
  }
}
void bincount(const Tensor& counts, const Tensor& values, const Tensor& weights) {
  const int64_t n = values.numel(), size = counts.numel();
  if (n == 0) return;
  const auto run = [&](auto count, auto weight) {
    using T = decltype(count);
    using W = decltype(weight);
    HB_LAUNCH((count_values<W, T>), blocks_for(n), kThreads, 0, current_stream(), data<T>(counts),
              data<const int64_t>(values), data<const W>(weights), n, size, reporter("bincount"));
  };
  switch (counts.scalar_type()) {
    case kLong:
      return run(int64_t(), int64_t());
    case kFloat:
      return run(float(), float());
    case kDouble:
      return run(double(), double());
    default:
      HB_NOT_SUPPORTED("[bincount] is not supported for weights of dtype ", counts.scalar_type());
  }
}
HB_REGISTER_CUDA(bincount_kernel, bincount);

}  // namespace
}  // namespace hb::cuda
