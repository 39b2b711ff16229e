#pragma once
#include <cstdint>

#include <halfbridge/half.h>

namespace hb::cpu {

/// The loops of the random fills that gain from wide registers.
struct RandomKernels {
  /// The next block of 624 words of the Mersenne twister, in place.
  void (*twister_refill)(uint32_t* words);
  /// Words of a block to the numbers that are given out.
  void (*twister_temper)(const uint32_t* words, int64_t n, uint32_t* out);
  /// Uniform values over [from, from + width) from 32 random bits each.
  void (*uniform_float)(const uint32_t* bits, int64_t n, float from, float width, float* out);
  /// The same from 64 bits each: `bits` has 2 n words, each pair's first the high half.
  void (*uniform_double)(const uint32_t* bits, int64_t n, double from, double width, double* out);
  /// Turns uniform values into normal ones in blocks of 16; `count` is a multiple of 16.
  void (*box_muller)(float* data, int64_t count, float mean, float std);
  void (*uniform_half)(const uint32_t* bits, int64_t n, Half from, Half width, Half* out);
  void (*uniform_bfloat16)(const uint32_t* bits, int64_t n, BFloat16 from, BFloat16 width, BFloat16* out);
  void (*box_muller_half)(Half* data, int64_t count, Half mean, Half std);
  void (*box_muller_bfloat16)(BFloat16* data, int64_t count, BFloat16 mean, BFloat16 std);
  /// `yes` where the low 53 bits of each pair are below the threshold, else 0: elements of 4 and of 2 bytes.
  void (*bernoulli_32)(const uint32_t* bits, int64_t n, uint64_t threshold, uint32_t yes, uint32_t* out);
  void (*bernoulli_16)(const uint32_t* bits, int64_t n, uint64_t threshold, uint16_t yes, uint16_t* out);
};

namespace plain {
extern const RandomKernels random_kernels;
}
namespace v3 {
extern const RandomKernels random_kernels;
}
namespace v4 {
extern const RandomKernels random_kernels;
}

/// The widest that this CPU runs.
const RandomKernels& random_kernels();

}  // namespace hb::cpu
