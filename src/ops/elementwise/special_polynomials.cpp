// Bessel functions and orthogonal polynomials (torch::special). The formulas stand in src/formulas.
#include <halfbridge/ops/special_polynomials.h>

#include "backend/special.h"
#include "core/function_watch.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb {

namespace {
Tensor of_reals(const char* name, const FormulaKernel& formula, std::initializer_list<ops::Input> inputs) {
  const ScalarType t = ops::promoted(inputs);
  if (is_half_type(t) || is_complex_type(t))
    HB_NOT_SUPPORTED("[", name, "] not implemented for '", toString(t), "': expected float, double or integers");
  return ops::floating_op(name, formula, inputs);
}
}  // namespace

#define HB_BESSEL(name)                                        \
  Tensor special_##name(const Tensor& self) {                  \
    HB_FUNCTION(special_##name, self);                         \
    return of_reals("special_" #name, name##_formula, {self}); \
  }
#define HB_POLYNOMIAL_FORM(name, X, N)                         \
  Tensor special_##name(const X& x, const N& n) {              \
    HB_FUNCTION(special_##name, x, n);                         \
    return of_reals("special_" #name, name##_formula, {x, n}); \
  }
#define HB_POLYNOMIAL(name)                \
  HB_POLYNOMIAL_FORM(name, Tensor, Tensor) \
  HB_POLYNOMIAL_FORM(name, Scalar, Tensor) \
  HB_POLYNOMIAL_FORM(name, Tensor, Scalar)
#include <halfbridge/ops/special.def>
#undef HB_POLYNOMIAL_FORM

}  // namespace hb
