#include "cpu/isa/formula_loop.h"
#include "kernels/activation_formulas.h"
#include "kernels/elementwise.h"
#include "kernels/parametric_formulas.h"

namespace hb::cpu::HB_ISA {
namespace {
#define HB_FORMULA(name) HB_REGISTER_FORMULA(name)
#include "kernels/formulas.def"
}  // namespace
}  // namespace hb::cpu::HB_ISA
