#pragma once
// Products of bf16 on the CPU's tiles (AMX): registers of 16 rows of 64 bytes. A step multiplies a tile of 16 rows of
// 32 values with one of 16 columns, whose values lie in pairs: row p holds values 2p and 2p + 1 of every column.

#include <immintrin.h>

#include <cstring>

#include <halfbridge/dtype.h>

namespace hb::cpu::amx {
namespace {

constexpr int64_t kTile = 16;   // rows (or columns) of a tile
constexpr int64_t kDepth = 32;  // values of a row
constexpr int64_t kBlock = 32;  // rows and columns of the results that are computed at once, two tiles by two
constexpr int64_t kStep = kDepth * kBlock;  // values of kDepth rows of kBlock columns

/// The compiler does not know what memory the instructions on tiles read: all that was written is in place now.
inline void written(const void* data) { asm volatile("" : : "r"(data) : "memory"); }

inline int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

/// The thread's tiles, whole ones, for as long as it lives. oneDNN sets its own before each of its products.
class Tiles {
 public:
  Tiles() {
    struct alignas(64) {
      uint8_t palette = 1, start = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {};
      uint8_t rows[16] = {};
    } config;
    for (int t = 0; t < 8; ++t) config.row_bytes[t] = 64, config.rows[t] = kTile;
    written(&config);
    _tile_loadconfig(&config);
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
  ~Tiles() { _tile_release(); }
};

/// The first n of 32 lanes.
inline __mmask32 lanes(int64_t n) { return n >= 32 ? ~__mmask32{0} : n <= 0 ? 0 : (__mmask32{1} << n) - 1; }
/// Up to 32 values, zeros beyond.
inline __m512i load_values(const BFloat16* in, int64_t n) { return _mm512_maskz_loadu_epi16(lanes(n), in); }

/// x and y value by value: pairs of the first 16 and of the last 16.
inline void interleave(__m512i x, __m512i y, __m512i& first, __m512i& last) {
  const __m512i low = _mm512_unpacklo_epi16(x, y), high = _mm512_unpackhi_epi16(x, y);
  first = _mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high);
  last = _mm512_permutex2var_epi64(low, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), high);
}

/// The transpose of 16 rows of 16 pairs of values.
inline void transpose_pairs(__m512i (&r)[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 4) {
    const __m512i a = _mm512_unpacklo_epi32(r[i], r[i + 1]), b = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    const __m512i c = _mm512_unpacklo_epi32(r[i + 2], r[i + 3]), d = _mm512_unpackhi_epi32(r[i + 2], r[i + 3]);
    t[i] = _mm512_unpacklo_epi64(a, c), t[i + 1] = _mm512_unpackhi_epi64(a, c);
    t[i + 2] = _mm512_unpacklo_epi64(b, d), t[i + 3] = _mm512_unpackhi_epi64(b, d);
  }
  // t[4 g + j]: columns j, 4 + j, 8 + j and 12 + j of rows 4 g to 4 g + 3, a quarter each.
  for (int j = 0; j < 4; ++j) {
    const __m512i a = _mm512_shuffle_i32x4(t[j], t[4 + j], 0x88), b = _mm512_shuffle_i32x4(t[j], t[4 + j], 0xdd);
    const __m512i c = _mm512_shuffle_i32x4(t[8 + j], t[12 + j], 0x88),
                  d = _mm512_shuffle_i32x4(t[8 + j], t[12 + j], 0xdd);
    r[j] = _mm512_shuffle_i32x4(a, c, 0x88), r[8 + j] = _mm512_shuffle_i32x4(a, c, 0xdd);
    r[4 + j] = _mm512_shuffle_i32x4(b, d, 0x88), r[12 + j] = _mm512_shuffle_i32x4(b, d, 0xdd);
  }
}

}  // namespace
}  // namespace hb::cpu::amx
