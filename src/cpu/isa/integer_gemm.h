#pragma once

#include "cpu/gemm.h"
#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {

/// A product of matrices of integers, which wraps.
void integers(const Gemm& g);

}  // namespace hb::cpu::HB_ISA
