// What convolutions need beside cuDNN: changes of layout and biases.
#include "backend/conv.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda/kernel_file.h"
#include "cuda/tensor_list.h"
#include "cuda/walk.h"
#include "cuda/words.h"

namespace hb::cuda {
namespace {

constexpr int kTile = 32, kTileRows = 8;

// Tiles go through shared memory, so that both sides are touched along their rows.
template <class T>
__device__ void transpose_tile(T* tile, T* out, const T* in, int64_t at, int64_t from_batch, int64_t batch_step,
                               int64_t batch, int64_t rows, int64_t cols) {
  const int64_t tiles_wide = (cols + kTile - 1) / kTile;
  const int64_t row = at / tiles_wide * kTile, col = at % tiles_wide * kTile;
  for (int64_t b = from_batch; b < batch; b += batch_step) {
    const T* from = in + b * rows * cols;
    T* to = out + b * rows * cols;
    for (int64_t y = threadIdx.y; y < kTile; y += kTileRows)
      if (row + y < rows && col + threadIdx.x < cols)
        tile[y * (kTile + 1) + threadIdx.x] = from[(row + y) * cols + col + threadIdx.x];
    __syncthreads();
    for (int64_t y = threadIdx.y; y < kTile; y += kTileRows)
      if (col + y < cols && row + threadIdx.x < rows)
        to[(col + y) * rows + row + threadIdx.x] = tile[threadIdx.x * (kTile + 1) + y];
    __syncthreads();
  }
}
template <class T>
__global__ void transpose_tiles(T* out, const T* in, int64_t batch, int64_t rows, int64_t cols) {
  HB_SHARED(T, tile, (kTile * (kTile + 1)));
  transpose_tile(tile, out, in, blockIdx.x, blockIdx.y, gridDim.y, batch, rows, cols);
}

int64_t tiles_of(int64_t rows, int64_t cols) { return (rows + kTile - 1) / kTile * ((cols + kTile - 1) / kTile); }

/// One of a list: all its tiles, of all its matrices, in turn.
struct Item {
  void* out;
  const void* in;
  int64_t batch, rows, cols, numel;
};
template <class T>
__global__ void __launch_bounds__(kTile* kTileRows) transpose_lists(HB_ARGUMENT(TensorList<Item>) list) {
  HB_SHARED(T, tile, (kTile * (kTile + 1)));
  const int tensor = list.of_block(static_cast<int>(blockIdx.x));
  const Item& t = list.item[tensor];
  const int64_t tiles = (t.rows + kTile - 1) / kTile * ((t.cols + kTile - 1) / kTile);
  for (int64_t i = blockIdx.x - list.first[tensor]; i < tiles * t.batch; i += list.blocks_of(tensor))
    transpose_tile(tile, static_cast<T*>(t.out), static_cast<const T*>(t.in), i % tiles, i / tiles, t.batch, t.batch,
                   t.rows, t.cols);
}
void transpose_list(size_t size, ArrayRef<Transpose> list) {
  std::vector<Item> items;
  for (const Transpose& t : list) items.push_back({t.out, t.in, t.batch, t.rows, t.cols, t.batch * t.rows * t.cols});
  with_word(size, [&](auto word) {
    for_lists(ArrayRef<Item>(items), [&](const TensorList<Item>& part, unsigned blocks) {
      HB_LAUNCH(transpose_lists<decltype(word)>, blocks, dim3(kTile, kTileRows), 0, current_stream(), part);
    });
  });
}

constexpr int kThin = 32;  // rows, or columns, up to which a block takes all of them

/// Rows of `few` elements become `few` rows, or the other way round: a block has kThreads elements of each long row.
template <class T, bool kToRows>
__global__ void __launch_bounds__(kThreads)
    transpose_thin(T* out, const T* in, int64_t batch, uint32_t length, Divider few) {
  HB_SHARED(T, tile, (kThreads * (kThin + 1)));
  const uint32_t count = few.divisor, pitch = count | 1;  // odd: neighbours of a column are in different banks
  const uint32_t first = blockIdx.x * kThreads, here = length - first < kThreads ? length - first : kThreads,
                 thread = threadIdx.x;
  for (int64_t b = blockIdx.y; b < batch; b += gridDim.y) {
    const int64_t begin = b * length * count, packed = begin + int64_t{first} * count;
    if (kToRows) {
      for (uint32_t i = thread; i < here * count; i += kThreads)
        tile[few(i) * pitch + (i - few(i) * count)] = in[packed + i];
    } else {
      for (uint32_t r = 0; thread < here && r < count; ++r)
        tile[thread * pitch + r] = in[begin + int64_t{r} * length + first + thread];
    }
    __syncthreads();
    if (kToRows) {
      for (uint32_t r = 0; thread < here && r < count; ++r)
        out[begin + int64_t{r} * length + first + thread] = tile[thread * pitch + r];
    } else {
      for (uint32_t i = thread; i < here * count; i += kThreads)
        out[packed + i] = tile[few(i) * pitch + (i - few(i) * count)];
    }
    __syncthreads();
  }
}

template <class T>
bool transpose_if_thin(int64_t batch, int64_t rows, int64_t cols, void* out, const void* in) {
  const bool to_rows = cols <= rows;
  const int64_t few = std::min(rows, cols), length = std::max(rows, cols);
  if (few > kThin || length < kThreads || length > INT32_MAX / kThin) return false;
  const dim3 grid(static_cast<unsigned>((length + kThreads - 1) / kThreads),
                  static_cast<unsigned>(std::min<int64_t>(batch, 65535)));
  const auto launch = [&](auto kernel) {
    HB_LAUNCH(kernel, grid, kThreads, 0, current_stream(), static_cast<T*>(out), static_cast<const T*>(in), batch,
              static_cast<uint32_t>(length), Divider(static_cast<uint32_t>(few)));
  };
  if (to_rows)
    launch(transpose_thin<T, true>);
  else
    launch(transpose_thin<T, false>);
  return true;
}

template <class T>
void transpose_as(int64_t batch, int64_t rows, int64_t cols, void* out, const void* in) {
  if constexpr (sizeof(T) <= 4)  // as many as fit in shared memory
    if (transpose_if_thin<T>(batch, rows, cols, out, in)) return;
  const dim3 grid(static_cast<unsigned>(tiles_of(rows, cols)), static_cast<unsigned>(batch < 65535 ? batch : 65535));
  HB_LAUNCH(transpose_tiles<T>, grid, dim3(kTile, kTileRows), 0, current_stream(), static_cast<T*>(out),
            static_cast<const T*>(in), batch, rows, cols);
}

void transpose(size_t size, int64_t batch, int64_t rows, int64_t cols, void* out, const void* in) {
  if (batch * rows * cols == 0) return;
  with_word(size, [&](auto word) { transpose_as<decltype(word)>(batch, rows, cols, out, in); });
}

constexpr int kAtOnce = 4;

template <class T>
__global__ void __launch_bounds__(kThreads) add_biases(T* x, const T* bias, uint32_t n, Divider cols) {
  using C = compute_t<T>;
  const uint32_t first = blockIdx.x * kThreads * kAtOnce + threadIdx.x;
#pragma unroll
  for (uint32_t i = first; i < first + kThreads * kAtOnce; i += kThreads)
    if (i < n) x[i] = T(widen<C>(x[i]) + widen<C>(bias[i - cols(i) * cols.divisor]));
}
void add_bias(ScalarType dtype, int64_t rows, int64_t cols, void* x, const void* bias) {
  if (rows * cols == 0) return;
  HB_CHECK(cols <= INT32_MAX, "[add_bias] expected fewer than 2^31 channels, got ", cols);
  const int64_t most = INT32_MAX / cols;  // rows of a launch, whose elements are counted in 31 bits
  HB_FLOATING_SWITCH("add_bias", dtype, [&](auto type) {
    using T = decltype(type);
    for (int64_t row = 0; row < rows; row += most) {
      const auto n = static_cast<uint32_t>(std::min(most, rows - row) * cols);
      HB_LAUNCH(add_biases<T>, (n - 1) / (kThreads * kAtOnce) + 1, kThreads, 0, current_stream(),
                static_cast<T*>(x) + row * cols, static_cast<const T*>(bias), n, Divider(static_cast<uint32_t>(cols)));
    }
  });
}
HB_REGISTER_CUDA(transpose_kernel, transpose);
HB_REGISTER_CUDA(transpose_list_kernel, transpose_list);
HB_REGISTER_CUDA(add_bias_kernel, add_bias);

}  // namespace
}  // namespace hb::cuda
