#pragma once
// Small products of float matrices whose results are narrow: a row of such a result is a part of a vector, and the
// vectors are filled with several of them. Each sum has its terms in the order in which small_product() adds them up.

#include "cpu/isa/small_product.h"
#include "cpu/isa/transpose.h"

namespace hb::cpu::HB_ISA {
namespace {

using NarrowVector = typename SmallVector<float, kSmallBytes>::type;
constexpr int kNarrowParts = kSmallBytes / 16;  // rows of four columns in a vector
constexpr int kNarrowVectors = kIsaLevel >= 4 ? 8 : 4;

/// The four floats at `at` in the first part of a vector, those `apart` elements further on in the next, and so on.
inline NarrowVector gather_parts(const float* at, int64_t apart) {
#ifdef __AVX512F__
  // Loads that leave the other parts as they are: they need no unit that shuffles.
  __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(at));
  v = _mm512_mask_broadcast_f32x4(v, 0x00f0, _mm_loadu_ps(at + apart));
  v = _mm512_mask_broadcast_f32x4(v, 0x0f00, _mm_loadu_ps(at + 2 * apart));
  v = _mm512_mask_broadcast_f32x4(v, 0xf000, _mm_loadu_ps(at + 3 * apart));
  return reinterpret_cast<NarrowVector>(v);
#else
  return reinterpret_cast<NarrowVector>(_mm256_loadu2_m128(at + apart, at));
#endif
}

inline NarrowVector four_everywhere(const float* at) {
#ifdef __AVX512F__
  return reinterpret_cast<NarrowVector>(_mm512_broadcast_f32x4(_mm_loadu_ps(at)));
#else
  return reinterpret_cast<NarrowVector>(_mm256_broadcast_ps(reinterpret_cast<const __m128*>(at)));
#endif
}

/// Element `i` of each part, in all places of the part.
template <int i>
inline NarrowVector one_of_each_part(NarrowVector v) {
#ifdef __AVX512F__
  return reinterpret_cast<NarrowVector>(_mm512_permute_ps(reinterpret_cast<__m512>(v), i * 0x55));
#else
  return reinterpret_cast<NarrowVector>(_mm256_permute_ps(reinterpret_cast<__m256>(v), i * 0x55));
#endif
}

/// N vectors of rows of a, which are dense, times b (k, 4), which is packed; k is a multiple of 4.
template <int N>
[[gnu::noinline]] void rows_of_four(const Gemm& g, int64_t row, const float* b, const float* bias) {
  const float* a = static_cast<const float*>(g.a.data) + row * g.a.row;
  const int64_t apart = g.a.row, k = g.k;
  NarrowVector acc[N] = {};
  for (int64_t p = 0; p < k; p += 4, a += 4, b += 16) {
    NarrowVector in[N];
#pragma GCC unroll 8
    for (int v = 0; v < N; ++v) in[v] = gather_parts(a + v * kNarrowParts * apart, apart);
    const auto term = [&]<int i>(std::integral_constant<int, i>) {
      const NarrowVector factor = four_everywhere(b + 4 * i);
#pragma GCC unroll 8
      for (int v = 0; v < N; ++v) acc[v] += one_of_each_part<i>(in[v]) * factor;
    };
    term(std::integral_constant<int, 0>{}), term(std::integral_constant<int, 1>{});
    term(std::integral_constant<int, 2>{}), term(std::integral_constant<int, 3>{});
  }
  float* out = static_cast<float*>(g.c.data) + row * g.c.row;
#pragma GCC unroll 8
  for (int v = 0; v < N; ++v) {
    if (bias) acc[v] += four_everywhere(bias);
    for (int l = 0; l < kNarrowParts; ++l, out += g.c.row)
      std::memcpy(out, reinterpret_cast<const char*>(&acc[v]) + l * 16, 16);
  }
}

void four_columns(const Gemm& g) {
  alignas(64) float packed[kSmallSide * 4];
  pack_small<float, 16>(g, packed, 4);
  const auto* const bias = static_cast<const float*>(g.bias);
  int64_t i = 0;
  for (; i + kNarrowVectors * kNarrowParts <= g.m; i += kNarrowVectors * kNarrowParts)
    rows_of_four<kNarrowVectors>(g, i, packed, bias);
  for (; i + kNarrowParts <= g.m; i += kNarrowParts) rows_of_four<1>(g, i, packed, bias);
  if (i < g.m) rows_of_four<1>(g, g.m - kNarrowParts, packed, bias);  // some of them once more
}

/// The columns of a are dense: the transpose of the result has long rows, whole vectors of them.
void by_transpose(const Gemm& g) {
  constexpr int64_t kLanes = kSmallBytes / 4, kMost = 8;
  Gemm turned = g;
  turned.a = g.b, turned.a.row = g.b.col, turned.a.col = g.b.row;
  const auto* const left = static_cast<const float*>(g.b.data);
  for (int64_t j = 0; j < g.m; j += 2 * kLanes) {
    alignas(64) float sums[kMost * 2 * kLanes];
    const int64_t count = std::min(2 * kLanes, g.m - j);
    const float* const right = static_cast<const float*>(g.a.data) + j;
    int64_t i = 0;
    const auto rows = [&]<int R>(std::integral_constant<int, R>) {
      const auto part = count > kLanes ? small_rows<R, 2, float, NarrowVector> : small_rows<R, 1, float, NarrowVector>;
      for (; i + R <= g.n; i += R)
        part(left + i * g.b.col, turned, right, g.a.col, {sums + i * 2 * kLanes, 2 * kLanes, 1, nullptr});
    };
    rows(std::integral_constant<int, 8>{}), rows(std::integral_constant<int, 4>{});
    rows(std::integral_constant<int, 1>{});
    transpose_tile<uint32_t>(reinterpret_cast<char*>(static_cast<float*>(g.c.data) + j * g.c.row), g.c.row * 4,
                             reinterpret_cast<const char*>(sums), 2 * kLanes * 4, count, g.n);
  }
}

/// Computes the product where it is one of them; false: it is not.
bool narrow_product(const Gemm& g) {
  if (g.n < 4 || g.n > 8 || g.beta != 0 || g.alpha != 1) return false;
  if (g.n == 4 && g.a.col == 1 && g.k % 4 == 0 && g.m >= kNarrowParts) {
    four_columns(g);
  } else if (kIsaLevel >= 4 && g.a.row == 1 && !g.bias && g.m % (kSmallBytes / 4) == 0) {
    by_transpose(g);
  } else {
    return false;
  }
  return true;
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
