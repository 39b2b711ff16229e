#pragma once

#include "backend/elementwise.h"

namespace hb {

/// The functions of special.def, by name.
#define HB_BESSEL(name) HB_API inline FormulaKernel name##_formula{#name};
#define HB_POLYNOMIAL(name) HB_BESSEL(name)
#include <halfbridge/ops/special.def>

}  // namespace hb
