#include "backend/elementwise.h"
#include "cpu/isa/formula_loop.h"
#include "formulas/activation_formulas.h"
#include "formulas/parametric_formulas.h"

namespace hb::cpu::HB_ISA {
namespace {
#define HB_FORMULA(name) HB_REGISTER_FORMULA(name)
#include "formulas/formulas.def"
}  // namespace
}  // namespace hb::cpu::HB_ISA
