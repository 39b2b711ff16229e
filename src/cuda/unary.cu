#include "backend/elementwise.h"
#include "cuda/formula_kernel.h"
#include "formulas/unary_formulas.h"

namespace hb::cuda {
template <>
constexpr int kLeastBlocks<formula::i0> = 1;
namespace {
#define HB_UNARY(name) HB_REGISTER_CUDA_FORMULA(name)
#include <halfbridge/ops/unary.def>
}  // namespace
}  // namespace hb::cuda
