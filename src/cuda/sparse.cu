// Sparse tensors: groups of equal places, and products. Sums run over entries in their order, as on the CPU.
#include "backend/sparse.h"

#include "core/device_backend.h"
#include "cuda/cub.h"
#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

constexpr int kAllBits = 64;

/// Waits for the device.
int64_t on_host(const int64_t* number) {
  int64_t value = 0;
  copy_memory(&value, kCPU, number, Device(kCUDA, current_device()), sizeof value);
  return value;
}
int entries(const char* name, int64_t n) {
  HB_CHECK(n < INT32_MAX, "[", name, "] expected fewer than 2^31 entries on CUDA, got ", n);
  return static_cast<int>(n);
}

/// The first of n ascending numbers that is not below `value`.
__device__ int64_t lower_bound(const int64_t* numbers, int64_t n, int64_t value) {
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (numbers[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

__global__ void number(int64_t* places, const int64_t* keys, int64_t n, int64_t limit, Reporter report) {
  HB_GRID_LOOP(i, n) {
    places[i] = i;
    index_is_good(keys[i], limit, report);
  }
}
__global__ void mark_heads(int64_t* heads, const int64_t* keys, int64_t n) {
  HB_GRID_LOOP(i, n) heads[i] = i == 0 || keys[i] != keys[i - 1];
}

/// Keys in ascending order, the places they had (equal ones in order), and for each how many distinct ones there are up
/// to it.
struct Sorted {
  Scratch<int64_t> keys, places, ranks;
  int64_t n;
  Sorted(const char* name, const int64_t* unsorted, int64_t n_, int64_t limit, const char* said)
      : keys(n_), places(2 * n_), ranks(n_), n(n_) {
    if (n == 0) return;
    int64_t* const first = places.get() + n;
    HB_LAUNCH(number, blocks_for(n), kThreads, 0, current_stream(), first, unsorted, n, limit, reporter(name, said));
    HB_CUB(cub::DeviceRadixSort::SortPairs, reinterpret_cast<const uint64_t*>(unsorted),
           reinterpret_cast<uint64_t*>(keys.get()), static_cast<const int64_t*>(first), places.get(), entries(name, n),
           0, kAllBits);
    HB_LAUNCH(mark_heads, blocks_for(n), kThreads, 0, current_stream(), first, keys.get(), n);
    HB_CUB(cub::DeviceScan::InclusiveSum, static_cast<const int64_t*>(first), ranks.get(), n);
  }
  int64_t distinct() const { return n ? on_host(ranks.get() + n - 1) : 0; }
};

__global__ void put_groups(int64_t* order, int64_t* group, const int64_t* places, const int64_t* ranks, int64_t n) {
  HB_GRID_LOOP(i, n) {
    order[i] = places[i];
    group[places[i]] = ranks[i] - 1;
  }
}
int64_t group(const int64_t* keys, int64_t n, int64_t limit, int64_t* order, int64_t* group) {
  if (n == 0) return 0;
  const Sorted sorted("coalesce", keys, n, limit, "[coalesce] expected indices within the size of the tensor");
  const int64_t distinct = sorted.distinct();  // throws for bad keys, which would be written as places
  HB_LAUNCH(put_groups, blocks_for(n), kThreads, 0, current_stream(), order, group, sorted.places.get(),
            sorted.ranks.get(), n);
  return distinct;
}
HB_REGISTER_CUDA(sparse_group_kernel, group);

__global__ void begin_rows(int64_t* first, const int64_t* row, const int64_t* column, int64_t n, int64_t rows,
                           int64_t columns, Reporter report) {
  HB_GRID_LOOP(r, rows + 1) first[r] = lower_bound(row, n, r);
  HB_GRID_LOOP(e, n) {
    index_is_good(row[e], rows, report);
    index_is_good(column[e], columns, report);
  }
}
void rows(const char* name, const int64_t* row, const int64_t* column, int64_t n, int64_t rows, int64_t columns,
          int64_t* first) {
  HB_LAUNCH(begin_rows, blocks_for(std::max(n, rows + 1)), kThreads, 0, current_stream(), first, row, column, n, rows,
            columns, reporter(name));
}
HB_REGISTER_CUDA(sparse_rows_kernel, rows);

template <class T>
__device__ T conjugate(T x) {
  if constexpr (is_complex_v<T>)
    return conj(x);
  else
    return x;
}

template <class T>
__global__ void times_dense(SparseRows a, const T* b, int64_t width, T* out) {
  HB_GRID_LOOP(i, a.rows * width) {
    const int64_t r = i / width, j = i - r * width;
    T sum = T(0);
    for (int64_t e = a.first[r]; e < a.first[r + 1]; ++e)
      sum += static_cast<const T*>(a.value)[e] * b[a.column[e] * width + j];
    out[i] = sum;
  }
}
void mm(ScalarType dtype, const SparseRows& a, const void* b, int64_t width, void* out) {
  if (a.rows * width == 0) return;
  with_sparse_type(dtype, [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(times_dense<T>, blocks_for(a.rows * width), kThreads, 0, current_stream(), a, static_cast<const T*>(b),
              width, static_cast<T*>(out));
  });
}
HB_REGISTER_CUDA(sparse_mm_kernel, mm);

/// The row of entry e.
__device__ int64_t row_of(const SparseRows& a, int64_t e) { return lower_bound(a.first, a.rows + 1, e + 1) - 1; }

template <class T>
__global__ void dot_entries(SparseRows a, const T* x, const T* y, int64_t width, T* out, int64_t n) {
  HB_GRID_LOOP(e, n) {
    const T *const left = x + row_of(a, e) * width, *const right = y + a.column[e] * width;
    T sum = T(0);
    for (int64_t j = 0; j < width; ++j) sum += left[j] * conjugate(right[j]);
    out[e] = sum;
  }
}
void sampled_product(ScalarType dtype, const SparseRows& a, const void* x, const void* y, int64_t width, void* out) {
  const int64_t n = on_host(a.first + a.rows);
  if (n == 0) return;
  with_sparse_type(dtype, [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(dot_entries<T>, blocks_for(n), kThreads, 0, current_stream(), a, static_cast<const T*>(x),
              static_cast<const T*>(y), width, static_cast<T*>(out), n);
  });
}
HB_REGISTER_CUDA(sparse_sampled_product_kernel, sampled_product);

__global__ void count_products(int64_t* counts, const int64_t* column, const int64_t* b_first, int64_t n) {
  HB_GRID_LOOP(e, n) counts[e] = b_first[column[e] + 1] - b_first[column[e]];
}
/// All products of an entry of a with one of b: the place of each in the result, as a number, and its two entries.
struct Pair {
  int64_t a, b;
};
__global__ void expand(int64_t* keys, Pair* pairs, SparseRows a, SparseRows b, const int64_t* ends, int64_t n,
                       int64_t total, int64_t columns) {
  HB_GRID_LOOP(i, total) {
    const int64_t e = lower_bound(ends, n, i + 1), before = e ? ends[e - 1] : 0;
    const int64_t f = b.first[a.column[e]] + i - before;
    pairs[i] = {e, f};
    keys[i] = row_of(a, e) * columns + b.column[f];
  }
}
__global__ void begin_product(int64_t* first, const int64_t* keys, const int64_t* ranks, int64_t total, int64_t rows,
                              int64_t columns) {
  HB_GRID_LOOP(r, rows + 1) {
    const int64_t below = lower_bound(keys, total, r * columns);
    first[r] = below ? ranks[below - 1] : 0;
  }
}
template <class T>
__global__ void sum_products(SparseProduct out, SparseRows a, SparseRows b, const Pair* pairs, const int64_t* keys,
                             const int64_t* places, const int64_t* ranks, int64_t total, int64_t columns) {
  HB_GRID_LOOP(i, total) {
    if (i > 0 && keys[i] == keys[i - 1]) continue;
    T sum = T(0);
    for (int64_t k = i; k < total && keys[k] == keys[i]; ++k) {
      const Pair p = pairs[places[k]];
      sum += static_cast<const T*>(a.value)[p.a] * static_cast<const T*>(b.value)[p.b];
    }
    const int64_t to = ranks[i] - 1;
    out.row[to] = keys[i] / columns;
    out.column[to] = keys[i] % columns;
    static_cast<T*>(out.value)[to] = sum;
  }
}

void product(ScalarType dtype, const SparseRows& a, const SparseRows& b, int64_t columns, SparseProduct& out) {
  const cudaStream_t stream = current_stream();
  const int64_t n = on_host(a.first + a.rows);
  const Scratch<int64_t> ends(n);
  int64_t total = 0;
  if (n > 0) {
    HB_LAUNCH(count_products, blocks_for(n), kThreads, 0, stream, ends.get(), a.column, b.first, n);
    HB_CUB(cub::DeviceScan::InclusiveSum, static_cast<const int64_t*>(ends.get()), ends.get(), n);
    total = on_host(ends.get() + n - 1);
  }
  const Scratch<int64_t> keys(total);
  const Scratch<Pair> pairs(total);
  if (total > 0)
    HB_LAUNCH(expand, blocks_for(total), kThreads, 0, stream, keys.get(), pairs.get(), a, b, ends.get(), n, total,
              columns);
  const Sorted sorted("sparse.mm", keys.get(), total, a.rows * columns, nullptr);
  if (!out.column) {
    HB_LAUNCH(begin_product, blocks_for(a.rows + 1), kThreads, 0, stream, out.first, sorted.keys.get(),
              sorted.ranks.get(), total, a.rows, columns);
    return;
  }
  if (total == 0) return;
  with_sparse_type(dtype, [&](auto type) {
    HB_LAUNCH((sum_products<decltype(type)>), blocks_for(total), kThreads, 0, stream, out, a, b, pairs.get(),
              sorted.keys.get(), sorted.places.get(), sorted.ranks.get(), total, columns);
  });
}
HB_REGISTER_CUDA(sparse_product_kernel, product);

}  // namespace
}  // namespace hb::cuda
