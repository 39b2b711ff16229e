#pragma once
// Products of cpu/winograd.h with kPanel columns, whose sums stay in registers.

#include "cpu/isa/winograd_transforms.h"

namespace hb::cpu::HB_ISA {
namespace {

// c (R, kPanel) (+)= sum over k of a(r, k) b(k, panel). The elements of a row of `a` lie side by side, or else those of
// a column.
template <int R, bool by_rows>
inline void micro_kernel(const float* a, int64_t a_step, const float* b, int64_t k, float* c, bool add) {
  Vec low[R], high[R];
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
    low[r] = add ? at(c + r * kPanel) : Vec{};
    high[r] = add ? at(c + r * kPanel + kLanes) : Vec{};
  }
  // Every fourth row has a pointer of its own: as many as there are registers for.
  const float* fourth[R / kRowStep];
  for (int r = 0; r < R / kRowStep; ++r) fourth[r] = a + kRowStep * r * (by_rows ? a_step : 1);
  for (int64_t i = 0; i < k; ++i, b += kPanel) {
    const Vec b0 = at(b), b1 = at(b + kLanes);
#pragma GCC unroll 3
    for (int r = 0; r < R; r += kRowStep) {
      const float*& from = fourth[r / kRowStep];
#pragma GCC unroll 4
      for (int j = 0; j < kRowStep; ++j) {
        const float value = from[j * (by_rows ? a_step : 1)];
        low[r + j] += value * b0;
        high[r + j] += value * b1;
      }
      from += by_rows ? 1 : a_step;
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) at(c + r * kPanel) = low[r], at(c + r * kPanel + kLanes) = high[r];
}

// Rows in groups of 12, 8 and 4 (AVX2 has the registers for 4).
template <bool by_rows>
void multiply(int64_t rows, const float* a, int64_t a_step, const float* b, int64_t k, float* c, bool add) {
  int64_t r = 0;
  const int64_t next = by_rows ? a_step : 1;
  if constexpr (kRows >= 12) {
    for (; r + 12 <= rows; r += 12) micro_kernel<12, by_rows>(a + r * next, a_step, b, k, c + r * kPanel, add);
    for (; r + 8 <= rows; r += 8) micro_kernel<8, by_rows>(a + r * next, a_step, b, k, c + r * kPanel, add);
  }
  for (; r + 4 <= rows; r += 4) micro_kernel<4, by_rows>(a + r * next, a_step, b, k, c + r * kPanel, add);
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
