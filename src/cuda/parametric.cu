#include "backend/elementwise.h"
#include "cuda/formula_kernel.h"
#include "formulas/activation_formulas.h"
#include "formulas/parametric_formulas.h"

namespace hb::cuda {
template <>
constexpr int kLeastBlocks<formula::isclose> = 1;
template <>
constexpr int kLeastBlocks<formula::glu_gate_backward> = 1;
namespace {
#define HB_FORMULA(name) HB_REGISTER_CUDA_FORMULA(name)
#include "formulas/formulas.def"
}  // namespace
}  // namespace hb::cuda
