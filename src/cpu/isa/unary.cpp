#include "cpu/isa/formula_loop.h"
#include "kernels/elementwise.h"
#include "kernels/unary_formulas.h"

namespace hb::cpu::HB_ISA {
namespace {
#define HB_UNARY(name, ...) HB_REGISTER_FORMULA(name)
#include <halfbridge/ops/unary.def>
}  // namespace
}  // namespace hb::cpu::HB_ISA
