#include "cpu/random_kernels.h"

namespace hb::cpu {

const RandomKernels& random_kernels() {
  static const RandomKernels& chosen = []() -> const RandomKernels& {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
      return v4::random_kernels;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return v3::random_kernels;
    return plain::random_kernels;
  }();
  return chosen;
}

}  // namespace hb::cpu

// A multiply-add that the instruction set lacks comes from the C library: slower, the same bits.
#define HB_ISA plain
#include "cpu/isa/random.cpp"  // NOLINT: the same loops for the plain instruction set
