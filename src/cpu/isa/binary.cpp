#include "cpu/isa/formula_loop.h"
#include "kernels/binary_formulas.h"
#include "kernels/elementwise.h"

namespace hb::cpu::HB_ISA {
namespace {
#define HB_BINARY(name, ...) HB_REGISTER_FORMULA(name)
#include <halfbridge/ops/binary.def>
}  // namespace
}  // namespace hb::cpu::HB_ISA
