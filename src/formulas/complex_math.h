#pragma once
// The elementary functions of complex numbers, under the names that formulas use.

#include <halfbridge/complex.h>
#ifdef __CUDACC__
#include <cuda/std/complex>
#endif

#include "formulas/math.h"

namespace hb::math {

// The standard's functions are the host's; CUDA has its own of the same names.
#ifdef __CUDA_ARCH__
namespace std_of_device = ::cuda::std;
#else
namespace std_of_device = ::std;
#endif

#define HB_COMPLEX_1(name)                                                             \
  template <class T>                                                                   \
  HB_HD Complex<T> name(const Complex<T>& z) {                                         \
    const auto r = std_of_device::name(std_of_device::complex<T>(z.real(), z.imag())); \
    return Complex<T>(r.real(), r.imag());                                             \
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
HB_HD T abs(const Complex<T>& z) {
  return math::hypot(z.real(), z.imag());
}
template <class T>
HB_HD Complex<T> exp2(const Complex<T>& z) {
  return math::exp(z * Complex<T>(T(0.69314718055994530942)));
}
template <class T>
HB_HD Complex<T> log2(const Complex<T>& z) {
  const Complex<T> log = math::log(z);
  const T log2_e = T(1.44269504088896340736);
  return {log.real() * log2_e, log.imag() * log2_e};  // of 0 a product of complex numbers would be NaN
}
template <class T>
HB_HD Complex<T> log1p(const Complex<T>& z) {
  return math::log(Complex<T>(1) + z);
}
template <class T>
HB_HD Complex<T> expm1(const Complex<T>& z) {
  return math::exp(z) - Complex<T>(1);
}
template <class T>
HB_HD Complex<T> pow(const Complex<T>& a, const Complex<T>& b) {
  const auto r =
      std_of_device::pow(std_of_device::complex<T>(a.real(), a.imag()), std_of_device::complex<T>(b.real(), b.imag()));
  return Complex<T>(r.real(), r.imag());
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
