#include "backend/elementwise.h"
#include "cuda/formula_kernel.h"
#include "formulas/activation_formulas.h"
#include "formulas/parametric_formulas.h"

namespace hb::cuda {
namespace {
#define HB_FORMULA(name) HB_REGISTER_CUDA_FORMULA(name)
#include "formulas/formulas.def"
}  // namespace
}  // namespace hb::cuda
