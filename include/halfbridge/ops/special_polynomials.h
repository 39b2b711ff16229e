#pragma once
// Bessel functions, Airy's function and orthogonal polynomials: torch::special_* and torch::special::*, and the forms
// special::name_out(out, …). Integers and bool are computed in the default floating dtype; half types and complex
// numbers are an error. None of these functions has a gradient: its result never requires one.

#include <halfbridge/ops/call_forms.h>

namespace hb {

/// HB_BESSEL(name): special_name(self), of any shape. Bessel functions of the first and second kind (j0, j1, y0, y1),
/// the modified ones (i0, i1, k0, k1; scaled: times exp(x)), the spherical j0 = sin(x) / x, and Airy's Ai.
/// HB_POLYNOMIAL(name): special_name(x, n), where x and n broadcast: the polynomial of degree n, cut to an integer, at
/// x; 0 for n below 0. The shifted ones are those at 2 x - 1.
#define HB_BESSEL(name)                                               \
  HB_API Tensor special_##name(const Tensor& self);                   \
  HB_API Tensor& special_##name##_out(Tensor& out, const Tensor& x)   \
      HB_BODY(ops::OutScope scope; const ops::OutOffer offer(out, x); \
              return ops::write_out("special_" #name, out, special_##name(x));)
#define HB_POLYNOMIAL_FORM(name, X, N)                                     \
  HB_API Tensor special_##name(const X& x, const N& n);                    \
  HB_API Tensor& special_##name##_out(Tensor& out, const X& x, const N& n) \
      HB_BODY(ops::OutScope scope; const ops::OutOffer offer(out, x, n);   \
              return ops::write_out("special_" #name, out, special_##name(x, n));)
#define HB_POLYNOMIAL(name)                \
  HB_POLYNOMIAL_FORM(name, Tensor, Tensor) \
  HB_POLYNOMIAL_FORM(name, Scalar, Tensor) \
  HB_POLYNOMIAL_FORM(name, Tensor, Scalar)
#include <halfbridge/ops/special.def>
#undef HB_POLYNOMIAL_FORM

}  // namespace hb

namespace hb::special_functions {

#define HB_BESSEL(name)                                  \
  template <class... Args>                               \
  Tensor name(const Args&... args) {                     \
    return special_##name(args...);                      \
  }                                                      \
  template <class... Args>                               \
  Tensor& name##_out(Tensor& out, const Args&... args) { \
    return special_##name##_out(out, args...);           \
  }
#define HB_POLYNOMIAL(name) HB_BESSEL(name)
#include <halfbridge/ops/special.def>

}  // namespace hb::special_functions
