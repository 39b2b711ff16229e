#pragma once
// Bessel functions and orthogonal polynomials, element by element in double.

#include "formulas/bessel.h"
#include "formulas/formula.h"
#include "formulas/polynomials.h"
#include "formulas/vector_special.h"

namespace hb::formula {

#define HB_BESSEL_FORMULA(name, expression)         \
  struct name : Formula<1, 0, Kinds::floats, 128> { \
    template <class T>                              \
    static HB_HD T apply(const T*, T number) {      \
      const double x = number;                      \
      return T(expression);                         \
    }                                               \
  };
HB_BESSEL_FORMULA(airy_ai, math::airy_ai(x))
HB_BESSEL_FORMULA(bessel_j0, ::j0(x))
HB_BESSEL_FORMULA(bessel_j1, ::j1(x))
HB_BESSEL_FORMULA(bessel_y0, x < 0 ? math::nan<double> : ::y0(x))
HB_BESSEL_FORMULA(bessel_y1, x < 0 ? math::nan<double> : ::y1(x))
HB_BESSEL_FORMULA(modified_bessel_i0, (math::bessel_i<0, false>(x)))
HB_BESSEL_FORMULA(modified_bessel_i1, (math::bessel_i<1, false>(x)))
HB_BESSEL_FORMULA(modified_bessel_k0, (math::bessel_k<0, false>(x)))
HB_BESSEL_FORMULA(modified_bessel_k1, (math::bessel_k<1, false>(x)))
HB_BESSEL_FORMULA(scaled_modified_bessel_k0, (math::bessel_k<0, true>(x)))
HB_BESSEL_FORMULA(scaled_modified_bessel_k1, (math::bessel_k<1, true>(x)))
HB_BESSEL_FORMULA(spherical_bessel_j0, math::spherical_bessel_j0(x))
#undef HB_BESSEL_FORMULA

/// Operands x, n.
#define HB_POLYNOMIAL_FORMULA(name, expression)    \
  struct name : Formula<2, 0, Kinds::floats, 64> { \
    template <class T>                             \
    static HB_HD T apply(const T*, T at, T n) {    \
      const double x = at;                         \
      return T(expression);                        \
    }                                              \
  };
HB_POLYNOMIAL_FORMULA(chebyshev_polynomial_t, math::chebyshev<math::Chebyshev::T>(x, n))
HB_POLYNOMIAL_FORMULA(chebyshev_polynomial_u, math::chebyshev<math::Chebyshev::U>(x, n))
HB_POLYNOMIAL_FORMULA(chebyshev_polynomial_v, math::chebyshev<math::Chebyshev::V>(x, n))
HB_POLYNOMIAL_FORMULA(chebyshev_polynomial_w, math::chebyshev<math::Chebyshev::W>(x, n))
HB_POLYNOMIAL_FORMULA(shifted_chebyshev_polynomial_t, math::chebyshev<math::Chebyshev::T>(2 * x - 1, n))
HB_POLYNOMIAL_FORMULA(shifted_chebyshev_polynomial_u, math::chebyshev<math::Chebyshev::U>(2 * x - 1, n))
HB_POLYNOMIAL_FORMULA(shifted_chebyshev_polynomial_v, math::chebyshev<math::Chebyshev::V>(2 * x - 1, n))
HB_POLYNOMIAL_FORMULA(shifted_chebyshev_polynomial_w, math::chebyshev<math::Chebyshev::W>(2 * x - 1, n))
HB_POLYNOMIAL_FORMULA(hermite_polynomial_h, math::hermite_h(x, n))
HB_POLYNOMIAL_FORMULA(hermite_polynomial_he, math::hermite_he(x, n))
HB_POLYNOMIAL_FORMULA(laguerre_polynomial_l, math::laguerre(x, n))
HB_POLYNOMIAL_FORMULA(legendre_polynomial_p, math::legendre(x, n))
#undef HB_POLYNOMIAL_FORMULA

}  // namespace hb::formula
