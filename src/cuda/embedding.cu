#include "backend/attention.h"

#include "cuda/kernel_file.h"
#include "cuda/sorted_index.h"

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

// Places are sorted by their rows: the block row of each first one adds all of its row, in the order of places.
template <class T>
__global__ void sum_rows(T* grad_weight, const T* grad, const uint32_t* keys, const int32_t* places, int64_t n,
                         int64_t rows, int64_t width, int64_t padding, bool by_frequency) {
  using C = compute_t<T>;
  const int64_t first = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (first >= n) return;
  const int64_t row = keys[first];
  if ((first > 0 && keys[first - 1] == row) || row == padding || row >= rows) return;
  int64_t last = first + 1;
  while (last < n && keys[last] == row) ++last;
  const C scale = by_frequency ? C(1) / static_cast<C>(last - first) : C(1);
  for (int64_t j = int64_t{blockIdx.y} * blockDim.x + threadIdx.x; j < width; j += int64_t{gridDim.y} * blockDim.x) {
    C sum = 0;
    for (int64_t i = first; i < last; ++i) sum += widen<C>(grad[places[i] * width + j]) * scale;
    grad_weight[row * width + j] = T(sum);
  }
}

void embedding_backward(ScalarType dtype, void* grad_weight, const void* grad, const int64_t* index, int64_t n,
                        int64_t rows, int64_t width, int64_t padding, bool by_frequency) {
  const auto size = static_cast<int64_t>(element_size(dtype));
  check(cudaMemsetAsync(grad_weight, 0, static_cast<size_t>(rows * width * size), current_stream()),
        "embedding_backward");
  if (n * width == 0) return;
  const SortedIndex sorted("embedding_backward", index, n, rows, reporter("embedding_backward"));
  HB_FLOATING_SWITCH("embedding_backward", dtype, [&](auto type) {
    using T = decltype(type);
    constexpr int kPlaces = 4;
    const dim3 grid(static_cast<unsigned>((n + kPlaces - 1) / kPlaces), static_cast<unsigned>((width + 127) / 128));
    HB_LAUNCH(sum_rows<T>, grid, dim3(kWarp, kPlaces), 0, current_stream(), static_cast<T*>(grad_weight),
              static_cast<const T*>(grad), sorted.rows(), sorted.places(), n, rows, width, padding, by_frequency);
  });
}
HB_REGISTER_CUDA(embedding_backward_kernel, embedding_backward);

}  // namespace
}  // namespace hb::cuda
