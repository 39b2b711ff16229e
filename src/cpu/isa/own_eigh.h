#pragma once

#include <cstdint>

#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {

/// Eigenvalues of a symmetric matrix of middle size: OwnLoops<T>::eigh (cpu/lapack/own_loops.h).
template <class T>
bool eigh(int64_t n, T* a, bool upper, bool vectors, T* values);

}  // namespace hb::cpu::HB_ISA
