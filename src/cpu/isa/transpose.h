#pragma once
// Tiles of a matrix turned over. Elements count by their size alone.
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kTransposeTile = 32;

/// to[j][i] = from[i][j] for a tile; elements of one size, so that the type does not matter.
template <class T>
inline void transpose_tile(char* to, int64_t to_row, const char* from, int64_t from_row, int64_t rows,
                           int64_t columns) {
  T tile[kTransposeTile][kTransposeTile];
  for (int64_t i = 0; i < columns; ++i) {
    const auto* in = reinterpret_cast<const T*>(from + i * from_row);
    if (rows == kTransposeTile) {
      for (int64_t j = 0; j < kTransposeTile; ++j) tile[j][i] = in[j];
    } else {
      for (int64_t j = 0; j < rows; ++j) tile[j][i] = in[j];
    }
  }
  for (int64_t j = 0; j < rows; ++j) std::memcpy(to + j * to_row, tile[j], columns * sizeof(T));
}

/// Eight rows of eight four-byte elements, turned.
inline void turn(__m256 (&t)[8], const char* from, int64_t from_row) {
  __m256 r[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(from + i * from_row));
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    const int k = 4 * i;
    r[k] = _mm256_shuffle_ps(t[k], t[k + 2], 0x44), r[k + 1] = _mm256_shuffle_ps(t[k], t[k + 2], 0xee);
    r[k + 2] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0x44), r[k + 3] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
    t[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
  }
}

/// Eight rows of eight two-byte elements, turned.
inline void turn(__m128i (&t)[8], const char* from, int64_t from_row) {
  __m128i r[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_row));
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    const int k = 4 * i;
    r[k] = _mm_unpacklo_epi32(t[k], t[k + 2]), r[k + 1] = _mm_unpackhi_epi32(t[k], t[k + 2]);
    r[k + 2] = _mm_unpacklo_epi32(t[k + 1], t[k + 3]), r[k + 3] = _mm_unpackhi_epi32(t[k + 1], t[k + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm_unpacklo_epi64(r[i], r[i + 4]);
    t[2 * i + 1] = _mm_unpackhi_epi64(r[i], r[i + 4]);
  }
}

/// Four rows of four eight-byte elements, turned.
inline void turn(__m256d (&r)[4], const char* from, int64_t from_row) {
  __m256d t[4];
  for (int i = 0; i < 4; ++i) r[i] = _mm256_loadu_pd(reinterpret_cast<const double*>(from + i * from_row));
  for (int i = 0; i < 2; ++i) {
    t[i] = _mm256_unpacklo_pd(r[2 * i], r[2 * i + 1]);
    t[i + 2] = _mm256_unpackhi_pd(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    r[i] = _mm256_permute2f128_pd(t[2 * i], t[2 * i + 1], 0x20);
    r[i + 2] = _mm256_permute2f128_pd(t[2 * i], t[2 * i + 1], 0x31);
  }
}

inline void store(char* to, __m256 v) { _mm256_storeu_ps(reinterpret_cast<float*>(to), v); }
inline void store(char* to, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v); }
inline void store(char* to, __m256d v) { _mm256_storeu_pd(reinterpret_cast<double*>(to), v); }

/// A tile in squares of `side` elements, two side by side where they are aligned: stores that fill a line one behind
/// the other can become one, and those that do not take longer. What is left goes element by element. Of `together`
/// squares in a row of `from`, which share cache lines, all are read before the next row: rows a page apart drive each
/// other's lines out.
template <class T, class V, int side, int64_t together>
inline void transpose_squares(char* to, int64_t to_row, const char* from, int64_t from_row, int64_t rows,
                              int64_t columns) {
  constexpr int64_t item = sizeof(T);
  const int64_t whole_rows = rows / side * side, whole_columns = columns / side * side;
  const auto put = [&]<int count>(int64_t j, int64_t i, std::integral_constant<int, count>) {
    V a[side], b[side];
    turn(a, from + i * from_row + j * item, from_row);
    if constexpr (count == 2) turn(b, from + (i + side) * from_row + j * item, from_row);
#pragma GCC unroll 8
    for (int r = 0; r < side; ++r) {
      char* row = to + (j + r) * to_row + i * item;
      store(row, a[r]);
      if constexpr (count == 2) store(row + side * item, b[r]);
    }
  };
  const bool in_pairs = (reinterpret_cast<uintptr_t>(to) | static_cast<uintptr_t>(to_row)) % 64 == 0 && sizeof(V) == 32;
  for (int64_t j0 = 0; j0 < whole_rows; j0 += together * side) {
    const int64_t end = std::min(j0 + together * side, whole_rows);
    int64_t i = 0;
    for (; in_pairs && i + 2 * side <= whole_columns; i += 2 * side)
      for (int64_t j = j0; j < end; j += side) put(j, i, std::integral_constant<int, 2>());
    for (; i < whole_columns; i += side)
      for (int64_t j = j0; j < end; j += side) put(j, i, std::integral_constant<int, 1>());
  }
  const auto one = [&](int64_t j, int64_t i) {
    std::memcpy(to + j * to_row + i * item, from + i * from_row + j * item, item);
  };
  for (int64_t j = 0; j < rows; ++j)
    for (int64_t i = j < whole_rows ? whole_columns : 0; i < columns; ++i) one(j, i);
}
template <>
inline void transpose_tile<uint32_t>(char* to, int64_t to_row, const char* from, int64_t from_row, int64_t rows,
                                     int64_t columns) {
  transpose_squares<uint32_t, __m256, 8, 2>(to, to_row, from, from_row, rows, columns);
}
template <>
inline void transpose_tile<uint16_t>(char* to, int64_t to_row, const char* from, int64_t from_row, int64_t rows,
                                     int64_t columns) {
  transpose_squares<uint16_t, __m128i, 8, 1>(to, to_row, from, from_row, rows, columns);
}
template <>
inline void transpose_tile<uint64_t>(char* to, int64_t to_row, const char* from, int64_t from_row, int64_t rows,
                                     int64_t columns) {
  transpose_squares<uint64_t, __m256d, 4, 2>(to, to_row, from, from_row, rows, columns);
}

/// The rows of `out`, which has `cols` of them, that one tile of columns of `in` fills from column `c` on: writes stay
/// in one place.
template <class T>
inline void transpose_band(T* out, const T* in, int64_t rows, int64_t cols, int64_t c) {
  constexpr int64_t kTile = kTransposeTile, item = sizeof(T);
  for (int64_t r = 0; r < rows; r += kTile)
    transpose_tile<T>(reinterpret_cast<char*>(out + c * rows + r), rows * item,
                      reinterpret_cast<const char*>(in + r * cols + c), cols * item, std::min(kTile, cols - c),
                      std::min(kTile, rows - r));
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
