#pragma once
// Questions that templates ask about complex numbers: c10::is_complex<T>, c10::scalar_value_type<T>.

#include <complex>
#include <limits>
#include <type_traits>

#include <c10/names.h>

namespace c10 {
template <typename T>
struct is_complex : std::false_type {};
template <typename T>
struct scalar_value_type {
  using type = T;
};
#define HB_COMPLEX_TRAITS(Complex)                   \
  template <typename T>                              \
  struct is_complex<Complex<T>> : std::true_type {}; \
  template <typename T>                              \
  struct scalar_value_type<Complex<T>> {             \
    using type = T;                                  \
  };
HB_COMPLEX_TRAITS(std::complex)
HB_COMPLEX_TRAITS(c10::complex)
#undef HB_COMPLEX_TRAITS
}  // namespace c10
namespace at {
using hb::is_complex;  // the function of tensors, before the type c10::is_complex
}  // namespace at

namespace std {
template <typename T>
class numeric_limits<::hb::Complex<T>> : public numeric_limits<T> {};
template <typename T>
bool isnan(const ::hb::Complex<T>& z) {
  return std::isnan(z.real()) || std::isnan(z.imag());
}
}  // namespace std
