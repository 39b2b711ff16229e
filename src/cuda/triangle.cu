// The lower or upper triangle of matrices, and the places of its elements.
#include "backend/triangle.h"

#include "cuda/kernel_file.h"
#include "cuda/words.h"

namespace hb::cuda {
namespace {

template <class Word, int kEach>
struct alignas(kEach * sizeof(Word)) Piece {
  Word word[kEach];
};

/// A thread for neighbours of a row. Where all of them are zeros nothing is read.
template <class Word, int kEach>
__global__ void __launch_bounds__(kThreads) keep_triangle(Word* out, const Word* in, HB_ARGUMENT(Triangle) t) {
  using P = Piece<Word, kEach>;
  const int64_t pieces = t.columns / kEach;
  HB_GRID_LOOP(i, t.matrices * t.rows * pieces) {
    const int64_t line = i / pieces, column = (i - line * pieces) * kEach, row = line % t.rows;
    const int64_t from = t.from(row) - column, to = t.to(row) - column;
    P piece{};
    if (from < kEach && to > 0) {
      piece = load_vector<P>(in + i * kEach);
      for (int e = 0; e < kEach; ++e)
        if (e < from || e >= to) piece.word[e] = Word{};
    }
    store_vector(out + i * kEach, piece);
  }
}
void triangle(const Triangle& t, void* out, const void* in) {
  const int64_t n = t.matrices * t.rows * t.columns;
  if (n == 0) return;
  with_word(static_cast<size_t>(t.itemsize), [&](auto word) {
    using Word = decltype(word);
    constexpr int kEach = 16 / sizeof(Word);
    const bool whole = (reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(in)) % 16 == 0;
    auto* const to = static_cast<Word*>(out);
    const auto* const from = static_cast<const Word*>(in);
    if (whole && t.columns % kEach == 0)
      HB_LAUNCH((keep_triangle<Word, kEach>), blocks_for(n / kEach), kThreads, 0, current_stream(), to, from, t);
    else
      HB_LAUNCH((keep_triangle<Word, 1>), blocks_for(n), kThreads, 0, current_stream(), to, from, t);
  });
}
HB_REGISTER_CUDA(triangle_kernel, triangle);

/// The last row from `row` on, and before `end`, with at most i elements before it.
__device__ int64_t row_of(const Triangle& t, int64_t i, int64_t row, int64_t end) {
  while (end - row > 1) {
    const int64_t middle = (row + end) / 2;
    if (t.before(middle) <= i)
      row = middle;
    else
      end = middle;
  }
  return row;
}
/// A block finds the rows of its first and its last element: the others' are between them.
constexpr int kPlaces = 8;  // of a thread
__global__ void __launch_bounds__(kThreads)
    list_places(int64_t* rows, int64_t* columns, int64_t count, HB_ARGUMENT(Triangle) t) {
  HB_SHARED(int64_t, ends, 2);
  const int64_t begin = int64_t{blockIdx.x} * kThreads * kPlaces;
  const int64_t last = std::min(begin + kThreads * kPlaces, count) - 1;
  if (threadIdx.x < 2) ends[threadIdx.x] = row_of(t, threadIdx.x == 0 ? begin : last, 0, t.rows);
  __syncthreads();
  for (int e = 0; e < kPlaces; ++e) {
    const int64_t i = begin + e * kThreads + threadIdx.x;
    if (i >= count) return;
    const int64_t row = row_of(t, i, ends[0], ends[1] + 1);
    rows[i] = row, columns[i] = t.from(row) + i - t.before(row);
  }
}
void triangle_places(const Triangle& t, int64_t* rows, int64_t* columns) {
  const int64_t count = t.before(t.rows), blocks = (count - 1) / (kThreads * kPlaces) + 1;
  HB_LAUNCH(list_places, static_cast<unsigned>(blocks), kThreads, 0, current_stream(), rows, columns, count, t);
}
HB_REGISTER_CUDA(triangle_places_kernel, triangle_places);

}  // namespace
}  // namespace hb::cuda
