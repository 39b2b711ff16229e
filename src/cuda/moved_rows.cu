// Rows that are joined, or turned, in one launch.
#include "backend/moved_rows.h"

#include "cuda/kernel_file.h"
#include "cuda/search.h"
#include "cuda/several.h"
#include "cuda/walk.h"
#include "cuda/words.h"

namespace hb::cuda {
namespace {

/// Parts whose rows stand one behind the other in rows of `out`, from word `begin` of each on.
struct JoinedRows {
  static constexpr int kMost = 64;
  int parts = 0;
  const void* in[kMost];
  int64_t first[kMost + 1] = {};  // word of each part, among the rows of these parts
  int64_t n = 0, begin = 0, pitch = 0;
  Splitter by_width;

  /// The part of word c.
  __device__ int part_of(int64_t c) const { return static_cast<int>(first_beyond(first + 1, parts, c)); }
};

template <class Word>
__global__ void join_words(Word* out, HB_ARGUMENT(JoinedRows) r) {
  const Several s(r.n);
  for (int64_t start = s.first; start < r.n; start += s.round) {
    Word word[kSeveral];
    int64_t to[kSeveral];
#pragma unroll
    for (int e = 0; e < kSeveral; ++e) {
      if (start + e * s.step >= r.n) break;
      int64_t row = start + e * s.step;
      const int64_t c = r.by_width.split(row);
      const int part = r.part_of(c);
      const int64_t from = r.first[part];
      word[e] = load_vector<Word>(static_cast<const Word*>(r.in[part]) + row * (r.first[part + 1] - from) + c - from);
      to[e] = row * r.pitch + r.begin + c;
    }
#pragma unroll
    for (int e = 0; e < kSeveral; ++e)
      if (start + e * s.step < r.n) store_vector(out + to[e], word[e]);
  }
}

void join_rows(void* out, int64_t rows, ArrayRef<RowPart> parts) {
  uintptr_t alike = reinterpret_cast<uintptr_t>(out);
  int64_t row_bytes = 0;
  for (const RowPart& p : parts)
    alike |= reinterpret_cast<uintptr_t>(p.in) | static_cast<uintptr_t>(p.bytes), row_bytes += p.bytes;
  with_widest_word(alike, [&](auto word) {
    using Word = decltype(word);
    constexpr auto kBytes = static_cast<int64_t>(sizeof(Word));
    JoinedRows r;
    r.pitch = row_bytes / kBytes;
    const auto flush = [&] {
      const int64_t width = r.first[r.parts];
      r.n = rows * width, r.by_width = Splitter(width, r.n);
      if (r.n > 0)
        HB_LAUNCH(join_words<Word>, blocks_for_several(r.n), kThreads, 0, current_stream(), static_cast<Word*>(out), r);
      r.begin += width, r.parts = 0;
    };
    for (const RowPart& p : parts) {
      if (r.parts == JoinedRows::kMost) flush();
      r.in[r.parts] = p.in, r.first[r.parts + 1] = r.first[r.parts] + p.bytes / kBytes;
      ++r.parts;
    }
    flush();
  });
}

template <class Word>
__global__ void turn_words(Word* out, const Word* in, int64_t n, int64_t width, int64_t begin, Splitter by_width) {
  const Several s(n);
  for (int64_t first = s.first; first < n; first += s.round) {
    Word word[kSeveral];
#pragma unroll
    for (int e = 0; e < kSeveral; ++e) {
      const int64_t i = first + e * s.step;
      int64_t row = i;
      const int64_t c = by_width.split(row) + begin;
      if (i < n) word[e] = load_vector<Word>(in + row * width + (c < width ? c : c - width));
    }
#pragma unroll
    for (int e = 0; e < kSeveral; ++e)
      if (first + e * s.step < n) store_vector(out + first + e * s.step, word[e]);
  }
}
void turn(const Turned& t, void* out, const void* in) {
  const auto alike = reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(in) |
                     static_cast<uintptr_t>(t.row_bytes) | static_cast<uintptr_t>(t.start);
  with_widest_word(alike, [&](auto word) {
    using Word = decltype(word);
    constexpr auto kBytes = static_cast<int64_t>(sizeof(Word));
    const int64_t width = t.row_bytes / kBytes, n = t.rows * width;
    HB_LAUNCH(turn_words<Word>, blocks_for_several(n), kThreads, 0, current_stream(), static_cast<Word*>(out),
              static_cast<const Word*>(in), n, width, t.start / kBytes, Splitter(width, n));
  });
}

HB_REGISTER_CUDA(joined_rows_kernel, join_rows);
HB_REGISTER_CUDA(turned_kernel, turn);

}  // namespace
}  // namespace hb::cuda
