// The inner loops of the random fills, for one instruction set with fused multiply-add.
#include "kernels/random.h"
#include "kernels/box_muller.h"

#include "cpu/random_kernels.h"

namespace hb::cpu::HB_ISA {

namespace {

template <typename T, typename Bits>
void uniform(const Bits* bits, int64_t n, T from, T width, T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = kernels::uniform<T>(bits[i], from, width);
}

// Bits arrive as pairs of draws, the high half first.
void uniform_double(const uint32_t* bits, int64_t n, double from, double width, double* out) {
  for (int64_t i = 0; i < n; ++i)
    out[i] =
        kernels::uniform<double>((static_cast<uint64_t>(bits[2 * i]) << 32) | bits[2 * i + 1], from, width);
}

void box_muller(float* data, int64_t count, float mean, float std) {
  for (int64_t i = 0; i < count; i += 16) kernels::box_muller_16(data + i, mean, std);
}

void bernoulli_float(const uint32_t* bits, int64_t n, uint64_t threshold, float yes, float* out) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = kernels::below(bits[2 * i], bits[2 * i + 1], threshold) ? yes : 0.0f;
}

}  // namespace

const RandomKernels random_kernels = {uniform<float, uint32_t>, uniform_double, box_muller, bernoulli_float};

}  // namespace hb::cpu::HB_ISA
