#pragma once
// c10::complex and what LibTorch adds to namespace std for it.

#include <halfbridge/complex.h>

namespace c10 {
template <class T>
using complex = ::hb::Complex<T>;
}  // namespace c10

namespace std {
template <class T>
constexpr T real(const ::hb::Complex<T>& z) {
  return z.real();
}
template <class T>
constexpr T imag(const ::hb::Complex<T>& z) {
  return z.imag();
}
template <class T>
constexpr T norm(const ::hb::Complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class T>
constexpr ::hb::Complex<T> conj(const ::hb::Complex<T>& z) {
  return {z.real(), -z.imag()};
}
#define HB_COMPLEX_FUNCTION(Result, name)         \
  template <class T>                              \
  Result name(const ::hb::Complex<T>& z) {        \
    return name(static_cast<std::complex<T>>(z)); \
  }
HB_COMPLEX_FUNCTION(T, abs)
HB_COMPLEX_FUNCTION(T, arg)
HB_COMPLEX_FUNCTION(::hb::Complex<T>, exp)
HB_COMPLEX_FUNCTION(::hb::Complex<T>, log)
HB_COMPLEX_FUNCTION(::hb::Complex<T>, sqrt)
HB_COMPLEX_FUNCTION(::hb::Complex<T>, sin)
HB_COMPLEX_FUNCTION(::hb::Complex<T>, cos)
HB_COMPLEX_FUNCTION(::hb::Complex<T>, tanh)
#undef HB_COMPLEX_FUNCTION
}  // namespace std
