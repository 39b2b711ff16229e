#pragma once

#include <cstdint>

#include "cpu/convert_rows.h"
#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {

/// Copies rows from one dtype to another, as static_cast does; half types by way of float.
ConvertRows convert_rows(ScalarType to, ScalarType from);

}  // namespace hb::cpu::HB_ISA
