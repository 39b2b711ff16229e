#include "backend/embedding_bag.h"

#include "cuda/kernel_file.h"
#include "cuda/walk.h"

namespace hb::cuda {
namespace {

/// Bags as kernels read them.
template <class T>
struct Bags {
  const T *weight, *samples;
  const int64_t *index, *begin;
  int64_t* places;
  int64_t rows, width, indices, begins, n, padding;
  Splitter by_width;
  Reporter report;
  explicit Bags(const EmbeddingBag& p)
      : weight(static_cast<const T*>(p.weight)),
        samples(static_cast<const T*>(p.samples)),
        index(p.index),
        begin(p.begin),
        places(p.places),
        rows(p.rows),
        width(p.width),
        indices(p.indices),
        begins(p.begins),
        n(p.bags * p.width),
        padding(p.padding),
        by_width(p.width, n),
        report(reporter("embedding_bag", "index out of range in self: expected indices in [0, {limit}), got {value}")) {}
  // The row of place j in the list, -1 where nothing counts.
  __device__ int64_t row(int64_t j) const {
    const int64_t r = index[j];
    return r != padding && index_is_good(r, rows, report) ? r : -1;
  }
};

// The sum of a bag, or what is at the top of it: the first of several, but NaN wins.
template <class T>
struct Pooled {
  using C = compute_t<T>;
  C value = 0;
  int64_t count = 0, place = -1;
  __device__ void add(C x) { value += x, ++count; }
  __device__ void raise(C x, int64_t row) {
    if (place < 0 || x > value || (x != x && value == value)) value = x, place = row;
  }
};

// A thread for a column of a bag; neighbours take neighbouring columns.
template <class T, BagMode mode>
__global__ void pool_bags(T* out, HB_ARGUMENT(Bags<T>) p) {
  using C = compute_t<T>;
  constexpr int kTogether = 4;
  HB_GRID_LOOP(i, p.n) {
    int64_t bag = i;
    const int64_t column = p.by_width.split(bag), end = bag + 1 < p.begins ? p.begin[bag + 1] : p.indices;
    Pooled<T> pooled;
    for (int64_t first = p.begin[bag]; first < end; first += kTogether) {
      int64_t row[kTogether];
      C value[kTogether];
#pragma unroll
      for (int e = 0; e < kTogether; ++e) row[e] = first + e < end ? p.row(first + e) : -1;
#pragma unroll
      for (int e = 0; e < kTogether; ++e) {
        value[e] = row[e] >= 0 ? widen<C>(p.weight[row[e] * p.width + column]) : C(0);
        if (p.samples && row[e] >= 0) value[e] *= widen<C>(p.samples[first + e]);
      }
#pragma unroll
      for (int e = 0; e < kTogether; ++e) {
        if (row[e] < 0) continue;
        mode == BagMode::max ? pooled.raise(value[e], row[e]) : pooled.add(value[e]);
      }
    }
    if (mode == BagMode::mean && pooled.count > 1) pooled.value /= static_cast<C>(pooled.count);
    if (mode == BagMode::max && p.places) p.places[i] = pooled.place;
    out[i] = T(pooled.value);
  }
}

template <class T, BagMode mode>
void pool(const EmbeddingBag& p, void* out) {
  const Bags<T> bags(p);
  HB_LAUNCH((pool_bags<T, mode>), blocks_for(bags.n), kThreads, 0, current_stream(), static_cast<T*>(out), bags);
}

void embedding_bag(const EmbeddingBag& p, void* out) {
  if (p.bags * p.width == 0) return;
  HB_FLOATING_SWITCH("embedding_bag", p.dtype, [&](auto type) {
    using T = decltype(type);
    if (p.mode == BagMode::sum) return pool<T, BagMode::sum>(p, out);
    if (p.mode == BagMode::mean) return pool<T, BagMode::mean>(p, out);
    pool<T, BagMode::max>(p, out);
  });
}
HB_REGISTER_CUDA(embedding_bag_kernel, embedding_bag);

}  // namespace
}  // namespace hb::cuda
