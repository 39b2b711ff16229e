#include "backend/elementwise.h"
#include "cpu/isa/formula_loop.h"
#include "formulas/unary_formulas.h"

namespace hb::cpu::HB_ISA {
namespace {
#define HB_UNARY(name) HB_REGISTER_FORMULA(name)
#include <halfbridge/ops/unary.def>
}  // namespace
}  // namespace hb::cpu::HB_ISA
