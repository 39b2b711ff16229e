#include "backend/special.h"
#include "cuda/formula_kernel.h"
#include "formulas/special_formulas.h"

namespace hb::cuda {
namespace {
#define HB_BESSEL(name) HB_REGISTER_CUDA_FORMULA(name)
#define HB_POLYNOMIAL(name) HB_REGISTER_CUDA_FORMULA(name)
#include <halfbridge/ops/special.def>
}  // namespace
}  // namespace hb::cuda
