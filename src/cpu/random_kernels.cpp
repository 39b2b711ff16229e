#include "cpu/random_kernels.h"

#include "backend/kernel.h"

namespace hb::cpu {

const RandomKernels& random_kernels() {
  const int level = isa_level();
  return level >= 4 ? v4::random_kernels : level >= 3 ? v3::random_kernels : plain::random_kernels;
}

}  // namespace hb::cpu

// A multiply-add that the instruction set lacks comes from the C library: slower, the same bits.
#define HB_ISA plain
#include "cpu/isa/random.cpp"  // NOLINT: the same loops for the plain instruction set
