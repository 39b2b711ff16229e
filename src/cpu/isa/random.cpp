// The inner loops of the random fills, for one instruction set with fused multiply-add.
#include "formulas/random.h"
#include "formulas/box_muller.h"

#include "cpu/random_kernels.h"

namespace hb::cpu::HB_ISA {

namespace {

constexpr int kWords = 624, kMiddle = 397;

inline uint32_t twist(uint32_t u, uint32_t v) {
  const uint32_t mixed = (u & 0x80000000u) | (v & 0x7fffffffu);
  return (mixed >> 1) ^ ((0u - (v & 1u)) & 0x9908b0dfu);
}

// Each word depends on two after it and one that is 227 behind: far enough for any vector.
void twister_refill(uint32_t* s) {
  int i = 0;
#pragma GCC ivdep
  for (; i < kWords - kMiddle; ++i) s[i] = s[i + kMiddle] ^ twist(s[i], s[i + 1]);
#pragma GCC ivdep
  for (; i < kWords - 1; ++i) s[i] = s[i + kMiddle - kWords] ^ twist(s[i], s[i + 1]);
  s[i] = s[kMiddle - 1] ^ twist(s[i], s[0]);
}

void twister_temper(const uint32_t* words, int64_t n, uint32_t* __restrict out) {
  for (int64_t i = 0; i < n; ++i) {
    uint32_t y = words[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    out[i] = y ^ (y >> 18);
  }
}

template <typename T, typename Bits>
void uniform(const Bits* bits, int64_t n, T from, T width, T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = kernels::uniform<T>(bits[i], from, width);
}

// Bits arrive as pairs of draws, the high half first.
void uniform_double(const uint32_t* bits, int64_t n, double from, double width, double* out) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = kernels::uniform<double>((static_cast<uint64_t>(bits[2 * i]) << 32) | bits[2 * i + 1], from, width);
}

void box_muller(float* data, int64_t count, float mean, float std) {
  for (int64_t i = 0; i < count; i += 16) kernels::box_muller_16(data + i, mean, std);
}

template <typename T>
void box_muller_rounded(T* data, int64_t count, T mean, T std) {
  static const kernels::BoxMullerTable<T> table;
  for (int64_t i = 0; i < count; i += 16) kernels::box_muller_16(data + i, mean, std, table);
}

template <typename Word>
void bernoulli(const uint32_t* bits, int64_t n, uint64_t threshold, Word yes, Word* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = kernels::below(bits[2 * i], bits[2 * i + 1], threshold) ? yes : Word{0};
}

}  // namespace

const RandomKernels random_kernels = {
    twister_refill,
    twister_temper,
    uniform<float, uint32_t>,
    uniform_double,
    box_muller,
    uniform<Half, uint32_t>,
    uniform<BFloat16, uint32_t>,
    box_muller_rounded<Half>,
    box_muller_rounded<BFloat16>,
    bernoulli<uint32_t>,
    bernoulli<uint16_t>,
};

}  // namespace hb::cpu::HB_ISA
