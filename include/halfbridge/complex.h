#pragma once

#include <cmath>
#include <complex>
#include <iosfwd>
#include <type_traits>

#include <halfbridge/macros.h>

namespace hb {

/// A complex number of two floats or doubles, real part first: LibTorch's c10::complex.
template <class T>
struct alignas(2 * sizeof(T)) Complex {
  using value_type = T;

  T real_ = T(0), imag_ = T(0);

  constexpr Complex() = default;
  // NOLINTNEXTLINE: implicit as in LibTorch
  HB_HOST_DEVICE constexpr Complex(const T& re, const T& im = T()) : real_(re), imag_(im) {}
  constexpr Complex(const std::complex<T>& z) : real_(z.real()), imag_(z.imag()) {}  // NOLINT
  template <class U, std::enable_if_t<(sizeof(U) < sizeof(T)), int> = 0>
  HB_HOST_DEVICE constexpr Complex(const Complex<U>& z) : real_(z.real()), imag_(z.imag()) {}  // NOLINT
  template <class U, std::enable_if_t<(sizeof(U) > sizeof(T)), int> = 0>
  HB_HOST_DEVICE constexpr explicit Complex(const Complex<U>& z)
      : real_(static_cast<T>(z.real())), imag_(static_cast<T>(z.imag())) {}
  constexpr operator std::complex<T>() const { return {real_, imag_}; }  // NOLINT

  HB_HOST_DEVICE constexpr T real() const { return real_; }
  HB_HOST_DEVICE constexpr T imag() const { return imag_; }
  HB_HOST_DEVICE constexpr void real(T value) { real_ = value; }
  HB_HOST_DEVICE constexpr void imag(T value) { imag_ = value; }
  HB_HOST_DEVICE constexpr explicit operator bool() const { return real_ != T(0) || imag_ != T(0); }

  HB_HOST_DEVICE constexpr Complex& operator=(const T& re) { return real_ = re, imag_ = T(0), *this; }
  HB_HOST_DEVICE constexpr Complex& operator+=(const Complex& z) { return real_ += z.real_, imag_ += z.imag_, *this; }
  HB_HOST_DEVICE constexpr Complex& operator-=(const Complex& z) { return real_ -= z.real_, imag_ -= z.imag_, *this; }
  HB_HOST_DEVICE constexpr Complex& operator*=(const Complex& z) { return *this = *this * z; }
  HB_HOST_DEVICE constexpr Complex& operator/=(const Complex& z) { return *this = *this / z; }

  HB_HOST_DEVICE friend constexpr Complex operator+(const Complex& a) { return a; }
  HB_HOST_DEVICE friend constexpr Complex operator-(const Complex& a) { return {-a.real_, -a.imag_}; }
  HB_HOST_DEVICE friend constexpr Complex operator+(const Complex& a, const Complex& b) {
    return {a.real_ + b.real_, a.imag_ + b.imag_};
  }
  HB_HOST_DEVICE friend constexpr Complex operator-(const Complex& a, const Complex& b) {
    return {a.real_ - b.real_, a.imag_ - b.imag_};
  }
  HB_HOST_DEVICE friend constexpr Complex operator*(const Complex& a, const Complex& b) {
    return {a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_};
  }
  /// By Smith's method, which does not overflow where the quotient does not.
  HB_HOST_DEVICE friend constexpr Complex operator/(const Complex& a, const Complex& b) {
    const T re = b.real_ < 0 ? -b.real_ : b.real_, im = b.imag_ < 0 ? -b.imag_ : b.imag_;
    if (re >= im) {
      if (re == T(0)) return {a.real_ / re, a.imag_ / re};
      const T ratio = b.imag_ / b.real_, scale = T(1) / (b.real_ + b.imag_ * ratio);
      return {(a.real_ + a.imag_ * ratio) * scale, (a.imag_ - a.real_ * ratio) * scale};
    }
    const T ratio = b.real_ / b.imag_, scale = T(1) / (b.real_ * ratio + b.imag_);
    return {(a.real_ * ratio + a.imag_) * scale, (a.imag_ * ratio - a.real_) * scale};
  }
  HB_HOST_DEVICE friend constexpr bool operator==(const Complex& a, const Complex& b) {
    return a.real_ == b.real_ && a.imag_ == b.imag_;
  }
  HB_HOST_DEVICE friend constexpr bool operator!=(const Complex& a, const Complex& b) { return !(a == b); }

  HB_HOST_DEVICE friend T abs(const Complex& z) { return std::hypot(z.real_, z.imag_); }
  HB_HOST_DEVICE friend T arg(const Complex& z) { return std::atan2(z.imag_, z.real_); }
  HB_HOST_DEVICE friend constexpr T norm(const Complex& z) { return z.real_ * z.real_ + z.imag_ * z.imag_; }
  HB_HOST_DEVICE friend constexpr Complex conj(const Complex& z) { return {z.real_, -z.imag_}; }
  friend std::ostream& operator<<(std::ostream& out, const Complex& z) { return out << std::complex<T>(z); }
};

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<Complex<T>> = true;

}  // namespace hb
