#pragma once
// A product of bf16 by blocks of rows and columns. Where operands come from and where results go is the caller's:
//
//   a.rows(m, rows, k, depth, buffer)     Rows: up to 32 of `depth` values from k on, perhaps put into `buffer`
//   b.columns(n, cols, k, depth, out)     packs up to 32 columns, in pairs of values
//   store(m, n, rows, cols, values, pitch)  takes results that are complete
//
// Zeros fill up tiles: rows to a multiple of 16, columns to 32, the depth to a multiple of 32.

#include <algorithm>
#include <limits>

#include "cpu/amx/tiles.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"

namespace hb::cpu::amx {
namespace {

constexpr int64_t kChunk = 640;  // at most so deep is what is multiplied at a time: 32 rows stay in the first cache
constexpr int64_t kPanel = 512;  // columns of it that stay in the second-level cache
constexpr int64_t kChunkedRows = 1024;          // rows whose sums wait for the next chunk
constexpr int64_t kRowPitch = kChunk + kDepth;  // rows a power of two apart would share the lines of the first cache

/// Rows of a block, `stride` values apart; along their depth they may come in pieces.
struct Rows {
  struct Piece {
    const BFloat16* data;
    int64_t steps;  // of kDepth values
  };

  explicit Rows(int64_t stride) : stride(stride) {}
  Rows(const BFloat16* data, int64_t stride, int64_t steps) : stride(stride) { add(data, steps); }
  void add(const BFloat16* data, int64_t steps) { pieces[count++] = {data, steps}; }

  int64_t stride;
  int count = 0;
  Piece pieces[kChunk / kDepth];
};

/// c (16 R, 16 C), rows `pitch` floats apart, (+)= a b.
template <int R, int C>
inline void multiply_tiles(const Rows& a, const BFloat16* b, float* c, int64_t pitch, bool accumulate) {
  written(b);
  const int64_t a_bytes = a.stride * 2, below = kTile * a.stride, c_bytes = pitch * 4;
  if (accumulate) {
    _tile_loadd(0, c, c_bytes);
    if constexpr (C > 1) _tile_loadd(1, c + kTile, c_bytes);
    if constexpr (R > 1) _tile_loadd(2, c + kTile * pitch, c_bytes);
    if constexpr (R > 1 && C > 1) _tile_loadd(3, c + kTile * pitch + kTile, c_bytes);
  } else {
    _tile_zero(0);
    if constexpr (C > 1) _tile_zero(1);
    if constexpr (R > 1) _tile_zero(2);
    if constexpr (R > 1 && C > 1) _tile_zero(3);
  }
  for (int i = 0; i < a.count; ++i) {
    const BFloat16* rows = a.pieces[i].data;
    for (int64_t s = a.pieces[i].steps; s > 0; --s, rows += kDepth, b += kStep) {
      _tile_loadd(4, rows, a_bytes);
      _tile_loadd(6, b, 64);
      _tile_dpbf16ps(0, 4, 6);
      if constexpr (R > 1) {
        _tile_loadd(5, rows + below, a_bytes);
        _tile_dpbf16ps(2, 5, 6);
      }
      if constexpr (C > 1) {
        _tile_loadd(7, b + kStep / 2, 64);
        _tile_dpbf16ps(1, 4, 7);
        if constexpr (R > 1) _tile_dpbf16ps(3, 5, 7);
      }
    }
  }
  _tile_stored(0, c, c_bytes);
  if constexpr (C > 1) _tile_stored(1, c + kTile, c_bytes);
  if constexpr (R > 1) _tile_stored(2, c + kTile * pitch, c_bytes);
  if constexpr (R > 1 && C > 1) _tile_stored(3, c + kTile * pitch + kTile, c_bytes);
}

inline void multiply_block(int64_t rows, int64_t cols, const Rows& a, const BFloat16* b, float* c, int64_t pitch,
                           bool accumulate) {
  if (rows > kTile) {
    cols > kTile ? multiply_tiles<2, 2>(a, b, c, pitch, accumulate) : multiply_tiles<2, 1>(a, b, c, pitch, accumulate);
  } else {
    cols > kTile ? multiply_tiles<1, 2>(a, b, c, pitch, accumulate) : multiply_tiles<1, 1>(a, b, c, pitch, accumulate);
  }
}

/// Calls f(which, k, count) for each stretch of `size` values that [from, from + depth) takes part in, with its part.
template <class F>
void each_stretch(int64_t size, int64_t from, int64_t depth, const F& f) {
  for (const int64_t to = from + depth; from < to;) {
    const int64_t k = from % size, count = std::min(size - k, to - from);
    f(from / size, k, count);
    from += count;
  }
}

template <class T>
T* scratch(Scratch slot, int64_t count) {
  return static_cast<T*>(scratch_buffer(slot, static_cast<size_t>(count) * sizeof(T)));
}

struct Range {
  int64_t from, to;
  int64_t size() const { return to - from; }
};

template <class A, class B, class Store>
class Product {
 public:
  Product(int64_t depth, const A& a, const B& b, const Store& store) : depth_(depth), a_(a), b_(b), store_(store) {
    const int64_t chunks = 1 + (depth - 1) / kChunk;  // nothing is empty
    chunk_ = round_up((depth + chunks - 1) / chunks, kDepth);
  }

  void run(Range m, Range n) {
    const Tiles tiles;
    const bool chunked = depth_ > chunk_;
    const int64_t rows_at_once = chunked ? kChunkedRows : m.size();
    for (int64_t i = m.from; i < m.to; i += rows_at_once)
      for (int64_t j = n.from; j < n.to; j += kPanel)
        panel({i, std::min(m.to, i + rows_at_once)}, {j, std::min(n.to, j + kPanel)}, chunked);
  }

 private:
  void panel(Range m, Range n, bool chunked) {
    const int64_t pitch = round_up(n.size(), kBlock);
    float* sums = scratch<float>(Scratch::tile_sums, (chunked ? round_up(m.size(), kBlock) : kBlock) * pitch);
    auto* columns = scratch<BFloat16>(Scratch::tile_columns, pitch * chunk_);
    for (int64_t k = 0; k < depth_; k += chunk_) {
      const int64_t depth = std::min(chunk_, depth_ - k), steps = (depth + kDepth - 1) / kDepth;
      for (int64_t j = n.from; j < n.to; j += kBlock)
        b_.columns(j, std::min(kBlock, n.to - j), k, depth, columns + (j - n.from) / kBlock * steps * kStep);
      for (int64_t i = m.from; i < m.to; i += kBlock) {
        float* c = sums + (chunked ? i - m.from : 0) * pitch;
        block_of_rows(i, std::min(kBlock, m.to - i), n, k, depth, columns, c, pitch);
      }
    }
  }

  void block_of_rows(int64_t i, int64_t rows, Range n, int64_t k, int64_t depth, const BFloat16* columns, float* c,
                     int64_t pitch) {
    const Rows a = a_.rows(i, rows, k, depth, scratch<BFloat16>(Scratch::tile_rows, kBlock * kRowPitch));
    const int64_t steps = (depth + kDepth - 1) / kDepth;
    const bool last = k + depth == depth_;
    for (int64_t j = n.from; j < n.to; j += kBlock, columns += steps * kStep, c += kBlock) {
      const int64_t cols = std::min(kBlock, n.to - j);
      multiply_block(rows, cols, a, columns, c, pitch, k > 0);
      if (last) store_(i, j, rows, cols, c, pitch);
    }
  }

  int64_t depth_, chunk_;
  const A& a_;
  const B& b_;
  const Store& store_;
};

/// How many threads share the rows and the columns of blocks.
struct Grid {
  int64_t high, wide;
};

/// The part of each thread as small as can be, and then as square.
inline Grid grid(int64_t rows, int64_t cols, int64_t threads) {
  Grid best{1, 1};
  int64_t best_cost = std::numeric_limits<int64_t>::max();
  for (int64_t high = 1; high <= threads; ++high) {
    const int64_t wide = threads / high, height = (rows + high - 1) / high, width = (cols + wide - 1) / wide;
    const int64_t cost = height * width * 1024 + height + width;
    if (cost < best_cost) best_cost = cost, best = {high, wide};
  }
  return best;
}

/// All of an m by n product, shared by threads.
template <class A, class B, class Store>
void multiply(int64_t m, int64_t n, int64_t depth, const A& a, const B& b, const Store& store) {
  constexpr int64_t kWork = 1 << 22;  // products from which a second thread pays
  const int64_t rows = (m + kBlock - 1) / kBlock, cols = (n + kBlock - 1) / kBlock;
  const Grid g = grid(rows, cols, threads_for(m * n * depth, kWork));
  const auto part = [](int64_t units, int64_t parts, int64_t which, int64_t end) -> Range {
    return {std::min(end, units * which / parts * kBlock), std::min(end, units * (which + 1) / parts * kBlock)};
  };
  parallel_ranges(0, g.high * g.wide, static_cast<int>(g.high * g.wide), [&](int64_t from, int64_t to, int) {
    for (int64_t i = from; i < to; ++i)
      Product<A, B, Store>(depth, a, b, store)
          .run(part(rows, g.high, i / g.wide, m), part(cols, g.wide, i % g.wide, n));
  });
}

}  // namespace
}  // namespace hb::cpu::amx
