#include "backend/attention.h"

#include "cuda/cub.h"
#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

// Rows of `width` words.
template <class Word>
__global__ void copy_rows(Word* out, const Word* weight, const int64_t* index, int64_t n, int64_t rows, int64_t width,
                          Reporter report) {
  HB_GRID_LOOP(i, n * width) {
    const int64_t row = index[i / width];
    const bool good = index_is_good(row, rows, report);
    store_vector(out + i, good ? load_vector<Word>(weight + row * width + i % width) : Word{});
  }
}

template <class Word>
void copy_rows_by(void* out, const void* weight, const int64_t* index, int64_t n, int64_t rows, int64_t bytes) {
  const int64_t width = bytes / static_cast<int64_t>(sizeof(Word));
  HB_LAUNCH(copy_rows<Word>, blocks_for(n * width), kThreads, 0, current_stream(), static_cast<Word*>(out),
            static_cast<const Word*>(weight), index, n, rows, width,
            reporter("embedding", "index out of range in self: expected indices in [0, {limit}), got {value}"));
}

void embedding(ScalarType dtype, void* out, const void* weight, const int64_t* index, int64_t n, int64_t rows,
               int64_t width) {
  const int64_t bytes = width * static_cast<int64_t>(element_size(dtype));
  if (n * bytes == 0) return;
  const auto fits = [&](uintptr_t size) {
    return (reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(weight) | static_cast<uintptr_t>(bytes)) %
               size ==
           0;
  };
  if (fits(16)) return copy_rows_by<uint4>(out, weight, index, n, rows, bytes);
  if (fits(4)) return copy_rows_by<uint32_t>(out, weight, index, n, rows, bytes);
  if (fits(2)) return copy_rows_by<uint16_t>(out, weight, index, n, rows, bytes);
  copy_rows_by<uint8_t>(out, weight, index, n, rows, bytes);
}
HB_REGISTER_CUDA(embedding_kernel, embedding);

__global__ void number_keys(uint32_t* keys, int32_t* places, const int64_t* index, int64_t n) {
  HB_GRID_LOOP(i, n) keys[i] = static_cast<uint32_t>(index[i]), places[i] = static_cast<int32_t>(i);
}

// Places are sorted by their rows: the block row of each first one adds all of its row, in the order of places.
template <class T>
__global__ void sum_rows(T* grad_weight, const T* grad, const uint32_t* keys, const int32_t* places, int64_t n,
                         int64_t rows, int64_t width, int64_t padding, bool by_frequency, Reporter report) {
  using C = compute_t<T>;
  const int64_t first = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (first >= n) return;
  const int64_t row = keys[first];
  if ((first > 0 && keys[first - 1] == row) || row == padding || !index_is_good(row, rows, report)) return;
  int64_t last = first + 1;
  while (last < n && keys[last] == row) ++last;
  const C scale = by_frequency ? C(1) / static_cast<C>(last - first) : C(1);
  for (int64_t j = int64_t{blockIdx.y} * blockDim.x + threadIdx.x; j < width; j += int64_t{gridDim.y} * blockDim.x) {
    C sum = 0;
    for (int64_t i = first; i < last; ++i) sum += widen<C>(grad[places[i] * width + j]) * scale;
    grad_weight[row * width + j] = T(sum);
  }
}

int bits_of(int64_t rows) {
  int bits = 1;
  while (bits < 32 && (int64_t{1} << bits) < rows) ++bits;
  return bits;
}

void embedding_backward(ScalarType dtype, void* grad_weight, const void* grad, const int64_t* index, int64_t n,
                        int64_t rows, int64_t width, int64_t padding, bool by_frequency) {
  const auto size = static_cast<int64_t>(element_size(dtype));
  check(cudaMemsetAsync(grad_weight, 0, static_cast<size_t>(rows * width * size), current_stream()),
        "embedding_backward");
  if (n * width == 0) return;
  HB_CHECK(n < INT32_MAX && rows <= UINT32_MAX, "[embedding_backward] expected fewer than 2^31 indices, got ", n);
  const Scratch<uint32_t> keys_memory(2 * n);
  const Scratch<int32_t> places_memory(2 * n);
  uint32_t *const keys = keys_memory.get(), *const sorted_keys = keys + n;
  int32_t *const places = places_memory.get(), *const sorted_places = places + n;
  HB_LAUNCH(number_keys, blocks_for(n), kThreads, 0, current_stream(), keys, places, index, n);
  HB_CUB(cub::DeviceRadixSort::SortPairs, static_cast<const uint32_t*>(keys), sorted_keys,
         static_cast<const int32_t*>(places), sorted_places, static_cast<int>(n), 0, bits_of(rows));
  HB_FLOATING_SWITCH("embedding_backward", dtype, [&](auto type) {
    using T = decltype(type);
    constexpr int kPlaces = 4;
    const dim3 grid(static_cast<unsigned>((n + kPlaces - 1) / kPlaces), static_cast<unsigned>((width + 127) / 128));
    HB_LAUNCH(sum_rows<T>, grid, dim3(kWarp, kPlaces), 0, current_stream(), static_cast<T*>(grad_weight),
              static_cast<const T*>(grad), static_cast<const uint32_t*>(sorted_keys),
              static_cast<const int32_t*>(sorted_places), n, rows, width, padding, by_frequency,
              reporter("embedding_backward"));
  });
}
HB_REGISTER_CUDA(embedding_backward_kernel, embedding_backward);

}  // namespace
}  // namespace hb::cuda
