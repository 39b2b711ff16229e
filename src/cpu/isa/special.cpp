#include "backend/special.h"
#include "cpu/isa/formula_loop.h"
#include "formulas/special_formulas.h"

namespace hb::cpu::HB_ISA {
namespace {
#define HB_BESSEL(name) HB_REGISTER_FORMULA(name)
#define HB_POLYNOMIAL(name) HB_REGISTER_FORMULA(name)
#include <halfbridge/ops/special.def>
}  // namespace
}  // namespace hb::cpu::HB_ISA
