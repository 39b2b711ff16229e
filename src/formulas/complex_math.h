#pragma once
// The elementary functions of complex numbers, under the names that formulas use.

#include <halfbridge/complex.h>

#include "formulas/math.h"

namespace hb::math {

#define HB_COMPLEX_1(name)                \
  template <class T>                      \
  Complex<T> name(const Complex<T>& z) {  \
    return std::name(std::complex<T>(z)); \
  }
HB_COMPLEX_1(exp)
HB_COMPLEX_1(log)
HB_COMPLEX_1(log10)
HB_COMPLEX_1(sqrt)
HB_COMPLEX_1(sin)
HB_COMPLEX_1(cos)
HB_COMPLEX_1(tan)
HB_COMPLEX_1(asin)
HB_COMPLEX_1(acos)
HB_COMPLEX_1(atan)
HB_COMPLEX_1(sinh)
HB_COMPLEX_1(cosh)
HB_COMPLEX_1(tanh)
HB_COMPLEX_1(asinh)
HB_COMPLEX_1(acosh)
HB_COMPLEX_1(atanh)
#undef HB_COMPLEX_1

/// The magnitude: a real number.
template <class T>
T abs(const Complex<T>& z) {
  return math::hypot(z.real(), z.imag());
}
template <class T>
Complex<T> exp2(const Complex<T>& z) {
  return math::exp(z * Complex<T>(T(0.69314718055994530942)));
}
template <class T>
Complex<T> log2(const Complex<T>& z) {
  return math::log(z) * Complex<T>(T(1.44269504088896340736));
}
template <class T>
Complex<T> log1p(const Complex<T>& z) {
  return math::log(Complex<T>(1) + z);
}
template <class T>
Complex<T> expm1(const Complex<T>& z) {
  return math::exp(z) - Complex<T>(1);
}
template <class T>
Complex<T> pow(const Complex<T>& a, const Complex<T>& b) {
  return std::pow(std::complex<T>(a), std::complex<T>(b));
}

/// The type of a number's magnitude.
template <class T>
struct Magnitude {
  using type = T;
};
template <class T>
struct Magnitude<Complex<T>> {
  using type = T;
};
template <class T>
using magnitude_t = typename Magnitude<T>::type;

}  // namespace hb::math
