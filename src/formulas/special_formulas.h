#pragma once
// Bessel functions and orthogonal polynomials, element by element in double.

#include "formulas/airy.h"
#include "formulas/bessel.h"
#include "formulas/formula.h"
#include "formulas/polynomials.h"
#include "formulas/vector_special.h"

namespace hb::formula {

#define HB_BESSEL_FORMULA(name, cost, expression)     \
  struct name : Formula<1, 0, Kinds::floats, cost> {  \
    template <class T>                                \
    static HB_HD_ALWAYS T apply(const T*, T number) { \
      const double x = number;                        \
      return T(expression);                           \
    }                                                 \
  };
/// With a form for numbers in a range (cpu/isa/formula_loop.h).
#define HB_BESSEL_RANGE_FORMULA(name, expression, range, within_range) \
  struct name : Formula<1, 0, Kinds::floats, 16> {                     \
    static constexpr bool one_by_one = true;                           \
    template <class T>                                                 \
    static HB_HD T apply(const T*, T x) {                              \
      return T(math::expression(x));                                   \
    }                                                                  \
    template <class T>                                                 \
    static bool covers(T x) {                                          \
      return math::range(x);                                           \
    }                                                                  \
    template <class T>                                                 \
    static HB_HD_ALWAYS T in_range(T x) {                              \
      return T(math::within_range(x));                                 \
    }                                                                  \
  };
HB_BESSEL_RANGE_FORMULA(airy_ai, airy_ai, airy_ai_range, airy_from_minus_four)
HB_BESSEL_RANGE_FORMULA(bessel_j0, bessel_j<0>, bessel_j_range, small_bessel_j<0>)
HB_BESSEL_RANGE_FORMULA(bessel_j1, bessel_j<1>, bessel_j_range, small_bessel_j<1>)
HB_BESSEL_RANGE_FORMULA(bessel_y0, bessel_y<0>, bessel_y_range, small_bessel_y<0>)
HB_BESSEL_RANGE_FORMULA(bessel_y1, bessel_y<1>, bessel_y_range, small_bessel_y<1>)
#undef HB_BESSEL_RANGE_FORMULA
HB_BESSEL_FORMULA(modified_bessel_i0, 16, (math::bessel_i<0, false>(x)))
HB_BESSEL_FORMULA(modified_bessel_i1, 16, (math::bessel_i<1, false>(x)))
HB_BESSEL_FORMULA(modified_bessel_k0, 16, (math::bessel_k<0, false>(x)))
HB_BESSEL_FORMULA(modified_bessel_k1, 16, (math::bessel_k<1, false>(x)))
HB_BESSEL_FORMULA(scaled_modified_bessel_k0, 16, (math::bessel_k<0, true>(x)))
HB_BESSEL_FORMULA(scaled_modified_bessel_k1, 16, (math::bessel_k<1, true>(x)))
HB_BESSEL_FORMULA(spherical_bessel_j0, 128, math::spherical_bessel_j0(x))
#undef HB_BESSEL_FORMULA

/// Operands x, n.
#define HB_POLYNOMIAL_FORMULA(name, expression, short_one) \
  struct name : Formula<2, 0, Kinds::floats, 64> {         \
    template <class T>                                     \
    static HB_HD T apply(const T*, T at, T n) {            \
      const double x = at;                                 \
      return T(math::expression(x, n));                    \
    }                                                      \
    template <class T>                                     \
    static HB_HD_ALWAYS T quick(T at, T n, bool& right) {  \
      const double x = at;                                 \
      return T(math::short_one(x, n, right));              \
    }                                                      \
  };
#define HB_CHEBYSHEV_FORMULA(name, kind) \
  HB_POLYNOMIAL_FORMULA(name, chebyshev<math::Chebyshev::kind>, short_chebyshev<math::Chebyshev::kind>)
#define HB_SHIFTED_FORMULA(name, kind) \
  HB_POLYNOMIAL_FORMULA(name, shifted_chebyshev<math::Chebyshev::kind>, short_shifted_chebyshev<math::Chebyshev::kind>)
HB_CHEBYSHEV_FORMULA(chebyshev_polynomial_t, T)
HB_CHEBYSHEV_FORMULA(chebyshev_polynomial_u, U)
HB_CHEBYSHEV_FORMULA(chebyshev_polynomial_v, V)
HB_CHEBYSHEV_FORMULA(chebyshev_polynomial_w, W)
HB_SHIFTED_FORMULA(shifted_chebyshev_polynomial_t, T)
HB_SHIFTED_FORMULA(shifted_chebyshev_polynomial_u, U)
HB_SHIFTED_FORMULA(shifted_chebyshev_polynomial_v, V)
HB_SHIFTED_FORMULA(shifted_chebyshev_polynomial_w, W)
HB_POLYNOMIAL_FORMULA(hermite_polynomial_h, polynomial<math::HermiteH>, short_polynomial<math::HermiteH>)
HB_POLYNOMIAL_FORMULA(hermite_polynomial_he, polynomial<math::HermiteHe>, short_polynomial<math::HermiteHe>)
HB_POLYNOMIAL_FORMULA(laguerre_polynomial_l, laguerre, short_polynomial<math::Laguerre>)
HB_POLYNOMIAL_FORMULA(legendre_polynomial_p, legendre, short_polynomial<math::Legendre>)
#undef HB_SHIFTED_FORMULA
#undef HB_CHEBYSHEV_FORMULA
#undef HB_POLYNOMIAL_FORMULA

}  // namespace hb::formula
