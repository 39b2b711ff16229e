#include "backend/elementwise.h"
#include "cuda/formula_kernel.h"
#include "formulas/binary_formulas.h"

namespace hb::cuda {
template <>
constexpr int kLeastBlocks<formula::igamma> = 1;
namespace {
#define HB_BINARY(name) HB_REGISTER_CUDA_FORMULA(name)
#include <halfbridge/ops/binary.def>
}  // namespace
}  // namespace hb::cuda
