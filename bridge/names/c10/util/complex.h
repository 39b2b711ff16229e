#pragma once
// c10::complex and what LibTorch adds to namespace std for it.

#include <halfbridge/bridge/complex_literals.h>
#include <halfbridge/complex.h>
#ifdef __CUDACC__
#include <cuda/std/complex>
#endif

namespace c10 {
template <class T>
using complex = ::hb::Complex<T>;
namespace complex_literals {
using namespace ::hb::imaginary;
}
}  // namespace c10

namespace std {
template <class T>
HB_HOST_DEVICE constexpr T real(const ::hb::Complex<T>& z) {
  return z.real();
}
template <class T>
HB_HOST_DEVICE constexpr T imag(const ::hb::Complex<T>& z) {
  return z.imag();
}
template <class T>
HB_HOST_DEVICE constexpr T norm(const ::hb::Complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class T>
HB_HOST_DEVICE constexpr ::hb::Complex<T> conj(const ::hb::Complex<T>& z) {
  return {z.real(), -z.imag()};
}
template <class T>
HB_HOST_DEVICE T abs(const ::hb::Complex<T>& z) {
  return std::hypot(z.real(), z.imag());
}
template <class T>
HB_HOST_DEVICE T arg(const ::hb::Complex<T>& z) {
  return std::atan2(z.imag(), z.real());
}
// The standard's functions are not those of a GPU.
#ifdef __CUDA_ARCH__
#define HB_COMPLEX_FUNCTION(name)                                                  \
  template <class T>                                                               \
  HB_HOST_DEVICE ::hb::Complex<T> name(const ::hb::Complex<T>& z) {                \
    const auto r = ::cuda::std::name(::cuda::std::complex<T>(z.real(), z.imag())); \
    return {r.real(), r.imag()};                                                   \
  }
#else
#define HB_COMPLEX_FUNCTION(name)                                   \
  template <class T>                                                \
  HB_HOST_DEVICE ::hb::Complex<T> name(const ::hb::Complex<T>& z) { \
    return name(static_cast<std::complex<T>>(z));                   \
  }
#endif
HB_COMPLEX_FUNCTION(exp)
HB_COMPLEX_FUNCTION(log)
HB_COMPLEX_FUNCTION(sqrt)
HB_COMPLEX_FUNCTION(sin)
HB_COMPLEX_FUNCTION(cos)
HB_COMPLEX_FUNCTION(tanh)
#undef HB_COMPLEX_FUNCTION
}  // namespace std
