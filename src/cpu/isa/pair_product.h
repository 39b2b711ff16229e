#pragma once
// Products of small bf16 matrices with sums in float, by the instruction of CPUs that multiply bf16 themselves
// (has_fast_bf16()): it takes two terms of 16 sums at once, which lie in one word each. For blocks of attention, whose
// products cost oneDNN more to prepare than to compute.

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "cpu/gemm.h"
#include "cpu/isa/transpose.h"
#include "cpu/scratch.h"

namespace hb::cpu::HB_ISA {
namespace {

#ifdef __AVX512F__

constexpr int64_t kPairLanes = 16;  // words in a vector

/// Words of two terms each: word (p, i) holds terms 2p and 2p + 1 of line i.
struct Pairs {
  const uint32_t* words;
  int64_t pair, line;  // words from one to the next
};

/// Words of two neighbouring rows of x (terms, lines), `width` words a row; a row that is missing counts as zeros.
inline void pack_rows(const uint16_t* x, int64_t stride, int64_t terms, int64_t lines, uint32_t* out, int64_t width) {
  for (int64_t t = 0; t < terms; t += 2, out += width) {
    const uint16_t* const low = x + t * stride;
    if (t + 1 < terms) {
      const uint16_t* const high = low + stride;
      HB_INDEPENDENT
      for (int64_t i = 0; i < lines; ++i) out[i] = low[i] | static_cast<uint32_t>(high[i]) << 16;
    } else {
      std::copy_n(low, lines, out);
    }
    std::fill(out + lines, out + width, 0);
  }
}

/// Words of lines whose terms lie side by side, by the transpose of such words.
inline void pack_lines(const uint16_t* x, int64_t stride, int64_t terms, int64_t lines, uint32_t* out, int64_t width) {
  const int64_t whole = terms / 2;
  transpose_tile<uint32_t>(reinterpret_cast<char*>(out), width * 4, reinterpret_cast<const char*>(x), stride * 2, whole,
                           lines);
  if (terms % 2 != 0)
    for (int64_t i = 0; i < lines; ++i) out[whole * width + i] = x[i * stride + terms - 1];
  for (int64_t p = 0; p < (terms + 1) / 2; ++p) std::fill(out + p * width + lines, out + (p + 1) * width, 0);
}

/// m has `terms` rows and `lines` columns; either lies side by side.
inline void pack_pairs(const GemmMatrix& m, int64_t terms, int64_t lines, uint32_t* out, int64_t width) {
  const auto* const x = static_cast<const uint16_t*>(m.data);
  if (m.col == 1)
    pack_rows(x, m.row, terms, lines, out, width);
  else
    pack_lines(x, m.col, terms, lines, out, width);
}

struct PairSums {
  float* out;
  int64_t row;
  float alpha;
  bool add;          // to what is there
  __mmask16 inside;  // the columns of the last vector that there are
};

/// R lines of a times N vectors of lines of b. Its sums stay in registers.
template <int R, int N>
[[gnu::target("avx512bf16"), gnu::noinline]] void pair_rows(const Pairs& a, const uint32_t* b, int64_t width,
                                                            int64_t pairs, const PairSums& to) {
  __m512 sum[R][N];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < N; ++v) sum[r][v] = _mm512_setzero_ps();
  const uint32_t* x = a.words;
  for (int64_t p = 0; p < pairs; ++p, x += a.pair, b += width) {
    __m512bh column[N];
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) column[v] = (__m512bh)_mm512_loadu_si512(b + v * kPairLanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      int word;
      std::memcpy(&word, x + r * a.line, sizeof word);
      const auto factor = (__m512bh)_mm512_set1_epi32(word);
#pragma GCC unroll 4
      for (int v = 0; v < N; ++v) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], factor, column[v]);
    }
  }
  const __m512 alpha = _mm512_set1_ps(to.alpha);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) {
      float* const out = to.out + r * to.row + v * kPairLanes;
      const __mmask16 inside = v + 1 == N ? to.inside : 0xffff;
      const __m512 scaled = _mm512_mul_ps(sum[r][v], alpha);
      _mm512_mask_storeu_ps(out, inside, to.add ? _mm512_add_ps(scaled, _mm512_maskz_loadu_ps(inside, out)) : scaled);
    }
}

/// All lines of a times N vectors of lines of b.
template <int N>
void pair_columns(Pairs a, int64_t m, const uint32_t* b, int64_t width, int64_t pairs, PairSums to) {
  constexpr int kRows = 16 / std::max(N, 2);
  const auto rows = [&]<int R>(std::integral_constant<int, R>) {
    for (; m >= R; m -= R, a.words += R * a.line, to.out += R * to.row) pair_rows<R, N>(a, b, width, pairs, to);
  };
  rows(std::integral_constant<int, kRows>{});
  rows(std::integral_constant<int, 1>{});
}

/// How many words b is packed into.
inline int64_t width_of_pairs(const Gemm& g) { return (g.n + kPairLanes - 1) / kPairLanes * kPairLanes; }
inline int64_t words_of_pairs(const Gemm& g) { return (g.k + 1) / 2 * width_of_pairs(g); }

/// The same with b packed.
inline void pair_product(const Gemm& g, const uint32_t* b) {
  const int64_t pairs = (g.k + 1) / 2, width = width_of_pairs(g);
  Pairs a{static_cast<const uint32_t*>(g.a.data), 1, g.a.row / 2};
  if (g.a.col != 1 || g.a.row % 2 != 0 || g.k % 2 != 0) {
    auto* const words = static_cast<uint32_t*>(scratch_buffer(Scratch::convert_a, pairs * g.m * sizeof(uint32_t)));
    pack_pairs({g.a.data, g.a.col, g.a.row}, g.k, g.m, words, g.m);
    a = {words, g.m, 1};
  }
  auto* const c = static_cast<float*>(g.c.data);
  const auto full = [&](int64_t count) { return static_cast<__mmask16>(0xffffu >> (kPairLanes - count)); };
  for (int64_t j = 0; j < g.n;) {
    const int64_t vectors = std::min<int64_t>((g.n - j + kPairLanes - 1) / kPairLanes, 4);
    const int64_t last = std::min(g.n - j - (vectors - 1) * kPairLanes, kPairLanes);
    const PairSums to{c + j, g.c.row, static_cast<float>(g.alpha), g.beta != 0, full(last)};
    const auto columns = vectors == 4   ? pair_columns<4>
                         : vectors == 3 ? pair_columns<3>
                         : vectors == 2 ? pair_columns<2>
                                        : pair_columns<1>;
    columns(a, g.m, b + j, width, pairs, to);
    j += vectors * kPairLanes;
  }
}

inline void pack_pairs_of_b(const Gemm& g, uint32_t* out) { pack_pairs(g.b, g.k, g.n, out, width_of_pairs(g)); }

/// One product of bf16 matrices, of which one dimension each lies side by side; c is float, beta 0 or 1, and there is
/// no bias.
inline void pair_product(const Gemm& g) {
  auto* const b = static_cast<uint32_t*>(scratch_buffer(Scratch::convert_b, words_of_pairs(g) * sizeof(uint32_t)));
  pack_pairs_of_b(g, b);
  pair_product(g, b);
}

/// Factors of a product. Numbers below the smallest normal one, which products take as 0, become 0.
[[gnu::target("avx512bf16")]] inline void round_to_bf16(const float* x, BFloat16* to, int64_t n) {
  for (int64_t i = 0; i < n; i += kPairLanes) {
    const auto inside = static_cast<__mmask16>(n - i < kPairLanes ? (1u << (n - i)) - 1 : 0xffffu);
    const auto words = (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(inside, x + i));
    _mm256_mask_storeu_epi16(to + i, inside, words);
  }
}

#else

/// CPUs without AVX-512 do not multiply bf16: nobody calls these.
inline void pair_product(const Gemm&) {}
inline void pair_product(const Gemm&, const uint32_t*) {}
inline void pack_pairs_of_b(const Gemm&, uint32_t*) {}
inline int64_t words_of_pairs(const Gemm&) { return 0; }
inline void round_to_bf16(const float*, BFloat16*, int64_t) {}

#endif

}  // namespace
}  // namespace hb::cpu::HB_ISA
