#pragma once
#include "cpu/gemm.h"
#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {

/// The product of f64 matrices, any strides.
void f64_gemm(const Gemm& g);

}  // namespace hb::cpu::HB_ISA
