#pragma once

#include <iosfwd>
#include <limits>
#include <type_traits>

#include <halfbridge/dtype.h>
#include <halfbridge/error.h>

namespace hb {

class Tensor;

/// One number of a kind: complex, floating, integral or boolean.
class HB_API Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  template <class T,
            class = std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>>>
  Scalar(T v) {  // NOLINT: implicit as in LibTorch
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::boolean, i_ = v;
    } else if constexpr (std::is_integral_v<T>) {
      kind_ = Kind::integral, i_ = static_cast<int64_t>(v);
      if (std::is_unsigned_v<T> && i_ < 0) kind_ = Kind::large;
    } else {
      kind_ = Kind::floating, d_ = static_cast<double>(v);
    }
  }
  template <class T>
  Scalar(const Complex<T>& v) : z_(static_cast<Complex<double>>(v)), kind_(Kind::complex) {}  // NOLINT
  template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
  Scalar(const std::complex<T>& v) : Scalar(Complex<T>(v)) {}  // NOLINT
  /// The one element of a tensor: in LibTorch a 0-d tensor turns into a Scalar only by item().
  bool isFloatingPoint() const { return kind_ == Kind::floating; }
  bool isIntegral(bool include_bool) const {
    return kind_ == Kind::integral || kind_ == Kind::large || (include_bool && kind_ == Kind::boolean);
  }
  /// Whether the value is an integer that uint64_t holds.
  bool isUnsigned() const { return kind_ == Kind::large || (kind_ == Kind::integral && i_ >= 0); }
  bool isBoolean() const { return kind_ == Kind::boolean; }
  bool isComplex() const { return kind_ == Kind::complex; }
  // Numbers that a tracer does not know yet; there are none here.
  bool isSymbolic() const { return false; }
  bool isSymInt() const { return false; }
  bool isSymFloat() const { return false; }
  bool isSymBool() const { return false; }
  /// kComplexDouble, kDouble, kLong, kUInt64 (integers that int64_t does not hold) or kBool.
  ScalarType type() const {
    return kind_ == Kind::complex    ? kComplexDouble
           : kind_ == Kind::floating ? kDouble
           : kind_ == Kind::integral ? kLong
           : kind_ == Kind::large    ? kUInt64
                                     : kBool;
  }
  /// The value as T; throws where T cannot hold it, as LibTorch does.
  template <class T>
  T to() const {
    if constexpr (is_complex_v<T>)
      return static_cast<T>(to_complex(std::is_same_v<T, Complex<double>>));
    else if (HB_UNLIKELY(kind_ == Kind::complex))
      return Scalar(to_real(type_of<T>())).to<T>();
    else if constexpr (std::is_same_v<T, bool>) {
      return kind_ == Kind::floating ? d_ != 0 : i_ != 0;
    } else if constexpr (std::is_integral_v<T>) {
      const int64_t whole = kind_ == Kind::floating ? to_integer(type_of<T>()) : i_;
      if constexpr (sizeof(T) < sizeof(int64_t)) {
        // As in LibTorch a negative number may become an unsigned one whose range its magnitude is in.
        constexpr int64_t highest = std::numeric_limits<T>::max();
        constexpr int64_t lowest = std::is_signed_v<T> ? int64_t{std::numeric_limits<T>::min()} : -highest;
        if (HB_UNLIKELY(kind_ == Kind::large || whole < lowest || whole > highest)) refuse(type_of<T>());
      } else if constexpr (std::is_signed_v<T>) {
        if (HB_UNLIKELY(kind_ == Kind::large)) refuse(kLong);
      }
      return static_cast<T>(whole);
    } else {
      const double v = real();
      if constexpr (sizeof(T) < sizeof(double)) {
        // Infinities and NaN stay what they are.
        const double highest = static_cast<double>(std::numeric_limits<T>::max());
        if (HB_UNLIKELY((v > highest || v < -highest) && v - v == 0)) refuse(dtype_of<T>::value);
      }
      return static_cast<T>(v);
    }
  }
  float toFloat() const { return to<float>(); }
  double toDouble() const { return to<double>(); }
  int toInt() const { return to<int>(); }
  int64_t toLong() const { return to<int64_t>(); }
  bool toBool() const { return to<bool>(); }
  int8_t toChar() const { return to<int8_t>(); }
  uint8_t toByte() const { return to<uint8_t>(); }
  int16_t toShort() const { return to<int16_t>(); }
  uint16_t toUInt16() const { return to<uint16_t>(); }
  uint32_t toUInt32() const { return to<uint32_t>(); }
  uint64_t toUInt64() const { return to<uint64_t>(); }
  Complex<float> toComplexFloat() const { return to<Complex<float>>(); }
  Complex<double> toComplexDouble() const { return to<Complex<double>>(); }
  Half toHalf() const { return to<Half>(); }
  BFloat16 toBFloat16() const { return to<BFloat16>(); }
  Scalar operator-() const {
    HB_CHECK(kind_ != Kind::boolean, "Scalar: cannot negate a bool");
    if (kind_ == Kind::complex) return -z_;
    if (kind_ == Kind::large) refuse(kLong);
    return kind_ == Kind::floating ? Scalar(-d_) : Scalar(-i_);
  }
  Scalar conj() const;
  /// The natural logarithm; of a complex number a complex one.
  Scalar log() const;
  template <class T>
  bool equal(T v) const {
    if constexpr (is_complex_v<T>)
      return to_complex() == static_cast<Complex<double>>(v);
    else if (kind_ == Kind::complex)
      return z_ == Complex<double>(static_cast<double>(v));
    else
      return kind_ == Kind::floating ? d_ == static_cast<double>(v)
                                     : i_ == static_cast<int64_t>(v) && real() == static_cast<double>(v);
  }

 private:
  // large: an unsigned integer beyond int64_t, whose bits i_ holds.
  enum class Kind : uint8_t { floating, integral, boolean, complex, large };
  /// The dtype of numbers of type T: `long` and `long long` have the same.
  template <class T>
  static constexpr ScalarType type_of() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return sizeof(T) == 1   ? (std::is_signed_v<T> ? kChar : kByte)
             : sizeof(T) == 2 ? (std::is_signed_v<T> ? kShort : kUInt16)
             : sizeof(T) == 4 ? (std::is_signed_v<T> ? kInt : kUInt32)
                              : (std::is_signed_v<T> ? kLong : kUInt64);
    } else {
      return dtype_of<T>::value;
    }
  }
  // On the way to a number of that type.
  int64_t to_integer(ScalarType type) const;
  double to_real(ScalarType type) const;
  /// Throws: a number of that type does not hold the value.
  [[noreturn]] void refuse(ScalarType type) const;
  double real() const {
    return kind_ == Kind::floating ? d_
           : kind_ == Kind::large  ? static_cast<double>(static_cast<uint64_t>(i_))
                                   : static_cast<double>(i_);
  }
  /// Throws where only a wider number holds a part of it.
  Complex<double> to_complex(bool wide = true) const {
    if (HB_UNLIKELY(!wide)) check_narrow_complex();
    return kind_ == Kind::complex ? z_ : Complex<double>(real());
  }
  void check_narrow_complex() const;
  union {
    double d_;
    int64_t i_;
    Complex<double> z_;
  };
  Kind kind_;
};
HB_API std::ostream& operator<<(std::ostream& out, const Scalar& s);

}  // namespace hb
