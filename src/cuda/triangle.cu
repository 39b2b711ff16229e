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
    auto *const to = static_cast<Word*>(out);
    const auto *const from = static_cast<const Word*>(in);
    if (whole && t.columns % kEach == 0)
      HB_LAUNCH((keep_triangle<Word, kEach>), blocks_for(n / kEach), kThreads, 0, current_stream(), to, from, t);
    else
      HB_LAUNCH((keep_triangle<Word, 1>), blocks_for(n), kThreads, 0, current_stream(), to, from, t);
  });
}
HB_REGISTER_CUDA(triangle_kernel, triangle);

__global__ void __launch_bounds__(kThreads)
    list_places(int64_t* rows, int64_t* columns, int64_t count, HB_ARGUMENT(Triangle) t) {
  HB_GRID_LOOP(i, count) {
    int64_t row = 0, end = t.rows;  // the last row with at most i elements before it
    while (end - row > 1) {
      const int64_t middle = (row + end) / 2;
      if (t.before(middle) <= i)
        row = middle;
      else
        end = middle;
    }
    rows[i] = row, columns[i] = t.from(row) + i - t.before(row);
  }
}
void triangle_places(const Triangle& t, int64_t* rows, int64_t* columns) {
  const int64_t count = t.before(t.rows);
  HB_LAUNCH(list_places, blocks_for(count), kThreads, 0, current_stream(), rows, columns, count, t);
}
HB_REGISTER_CUDA(triangle_places_kernel, triangle_places);

}  // namespace
}  // namespace hb::cuda
