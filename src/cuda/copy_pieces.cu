// Pieces of memory, copied in one launch, and elements of two that take turns.
#include <algorithm>
#include <vector>

#include "backend/copy_pieces.h"
#include "backend/moved_rows.h"
#include "cuda/row_pieces.h"
#include "cuda/tensor_list.h"
#include "cuda/words.h"

namespace hb::cuda {
namespace {

struct Piece {
  void* out;
  const void* in;
  int64_t numel;  // words
};

/// Words of T, or vectors of 16 bytes where a piece's ends allow them.
template <class T>
__global__ void __launch_bounds__(kThreads) copy_pieces(HB_ARGUMENT(TensorList<Piece>) list) {
  const int which = list.of_block(static_cast<int>(blockIdx.x));
  const Piece& p = list.item[which];
  T* const out = static_cast<T*>(p.out);
  const T* const in = static_cast<const T*>(p.in);
  const int64_t thread = (int64_t{blockIdx.x} - list.first[which]) * blockDim.x + threadIdx.x;
  const int64_t threads = int64_t{list.blocks_of(which)} * blockDim.x;
  constexpr int64_t kWords = static_cast<int64_t>(sizeof(uint4) / sizeof(T));
  const bool vectors = (reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(in)) % sizeof(uint4) == 0;
  const int64_t whole = vectors ? p.numel / kWords : 0;
  for (int64_t i = thread; i < whole; i += threads)
    store_vector(reinterpret_cast<uint4*>(out) + i, load_vector<uint4>(reinterpret_cast<const uint4*>(in) + i));
  for (int64_t i = whole * kWords + thread; i < p.numel; i += threads) out[i] = in[i];
}

void copy_all(size_t size, ArrayRef<PieceCopy> pieces) {
  std::vector<Piece> items;
  for (const PieceCopy& p : pieces) items.push_back({p.out, p.in, p.count});
  with_word(size, [&](auto word) {
    for_lists(ArrayRef<Piece>(items), [&](const TensorList<Piece>& part, unsigned blocks) {
      HB_LAUNCH(copy_pieces<decltype(word)>, blocks, kThreads, 0, current_stream(), part);
    });
  });
}
HB_REGISTER_CUDA(copy_pieces_kernel, copy_all);

/// Vectors of 16 bytes where all three begin at multiples of them.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    take_turns(Word* out, const Word* a, const Word* b, int64_t n, int64_t vectors) {
  constexpr int kEach = kRowEach<Word>;
  HB_GRID_LOOP(v, vectors) {
    const auto x = load_vector<RowVector<Word>>(a + v * kEach), y = load_vector<RowVector<Word>>(b + v * kEach);
    RowVector<Word> both[2];
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      both[2 * j / kEach].x[2 * j % kEach] = x.x[j];
      both[2 * j / kEach].x[2 * j % kEach + 1] = y.x[j];
    }
    store_vector(out + v * 2 * kEach, both[0]);
    store_vector(out + v * 2 * kEach + kEach, both[1]);
  }
  for (int64_t i = vectors * kEach + grid_thread(); i < n; i += grid_threads())
    out[2 * i] = a[i], out[2 * i + 1] = b[i];
}

void interleave(int64_t itemsize, int64_t n, void* out, const void* a, const void* b) {
  if (n == 0) return;
  with_word(static_cast<size_t>(itemsize), [&](auto word) {
    using Word = decltype(word);
    if constexpr (sizeof(Word) <= 8) {
      const int64_t vectors = begin_vectors(out, a, b) ? n / kRowEach<Word> : 0;
      HB_LAUNCH(take_turns<Word>, blocks_for(std::max(vectors, n - vectors * kRowEach<Word>)), kThreads, 0,
                current_stream(), static_cast<Word*>(out), static_cast<const Word*>(a), static_cast<const Word*>(b), n,
                vectors);
    }
  });
}
HB_REGISTER_CUDA(interleaved_kernel, interleave);

}  // namespace
}  // namespace hb::cuda
