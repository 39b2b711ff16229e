#include "backend/elementwise.h"
#include "cpu/isa/formula_loop.h"
#include "formulas/binary_formulas.h"

namespace hb::cpu::HB_ISA {
namespace {
#define HB_BINARY(name) HB_REGISTER_FORMULA(name)
#include <halfbridge/ops/binary.def>
}  // namespace
}  // namespace hb::cpu::HB_ISA
