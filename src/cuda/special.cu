#include "backend/special.h"
#include "cuda/formula_kernel.h"
#include "formulas/special_formulas.h"

namespace hb::cuda {
template <>
constexpr int kLeastBlocks<formula::modified_bessel_i0> = 1;
template <>
constexpr int kLeastBlocks<formula::modified_bessel_k0> = 1;
template <>
constexpr int kLeastBlocks<formula::modified_bessel_k1> = 1;
template <>
constexpr int kLeastBlocks<formula::scaled_modified_bessel_k1> = 1;
template <>
constexpr int kLeastBlocks<formula::airy_ai> = 1;
template <>
constexpr int kLeastBlocks<formula::laguerre_polynomial_l> = 1;
template <>
constexpr int kLeastBlocks<formula::legendre_polynomial_p> = 1;
namespace {
#define HB_BESSEL(name) HB_REGISTER_CUDA_FORMULA(name)
#define HB_POLYNOMIAL(name) HB_REGISTER_CUDA_FORMULA(name)
#include <halfbridge/ops/special.def>
}  // namespace
}  // namespace hb::cuda
