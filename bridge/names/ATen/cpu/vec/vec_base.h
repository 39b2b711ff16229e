#pragma once
// at::vec::Vectorized, of which extensions write their loops: as many elements as a register holds. Its functions are
// loops of a length that the compiler knows, which it turns into instructions of the CPU that the program is compiled
// for. As in LibTorch a program that defines CPU_CAPABILITY_AVX2 or CPU_CAPABILITY_AVX512 may also pass it to
// intrinsics.

#include <ATen/NumericUtils.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>
#include <c10/util/complex_math.h>
#include <c10/util/complex_utils.h>
#include <c10/util/irange.h>
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

#ifdef CPU_CAPABILITY_AVX512
#define VECTOR_WIDTH 64
#else
#define VECTOR_WIDTH 32
#endif
#define __at_align__ __attribute__((aligned(VECTOR_WIDTH)))

namespace at::vec {
inline namespace CPU_CAPABILITY {

template <typename T>
struct is_reduced_floating_point
    : std::bool_constant<std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>> {};
template <typename T>
constexpr bool is_reduced_floating_point_v = is_reduced_floating_point<T>::value;
template <typename T>
struct is_floating_point : std::bool_constant<std::is_floating_point_v<T> || is_reduced_floating_point_v<T>> {};
template <typename T>
constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <typename T>
struct is_8bit_integer : std::bool_constant<std::is_same_v<T, unsigned char> || std::is_same_v<T, signed char>> {};
template <typename T>
constexpr bool is_8bit_integer_v = is_8bit_integer<T>::value;

template <size_t bytes>
using int_of_bytes =
    std::conditional_t<bytes == 1, int8_t,
                       std::conditional_t<bytes == 2, int16_t, std::conditional_t<bytes == 4, int32_t, int64_t>>>;
template <typename T>
using int_same_size_t = int_of_bytes<sizeof(T)>;

/// Functions of the half types are computed in float.
template <typename T>
using computed_t = std::conditional_t<is_reduced_floating_point_v<T>, float, T>;

template <class T>
struct Vectorized {
  using value_type = T;
  using size_type = int;
  static constexpr size_type kSize = VECTOR_WIDTH / sizeof(T);
  static constexpr size_type size() { return kSize; }

  Vectorized() : values_{} {}
  Vectorized(T value) { std::fill_n(values_, kSize, value); }
  template <typename... Args, typename = std::enable_if_t<sizeof...(Args) == kSize>>
  Vectorized(Args... values) : values_{static_cast<T>(values)...} {}
  Vectorized(const T (&values)[kSize]) { std::copy_n(values, kSize, values_); }
#if defined(CPU_CAPABILITY_AVX512)
  using register_type = std::conditional_t<std::is_same_v<T, float>, __m512,
                                           std::conditional_t<std::is_same_v<T, double>, __m512d, __m512i>>;
#elif defined(CPU_CAPABILITY_AVX2)
  using register_type = std::conditional_t<std::is_same_v<T, float>, __m256,
                                           std::conditional_t<std::is_same_v<T, double>, __m256d, __m256i>>;
#endif
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
  Vectorized(register_type values) { std::memcpy(values_, &values, sizeof values_); }
  operator register_type() const {
    register_type values;
    std::memcpy(&values, values_, sizeof values);
    return values;
  }
  const T& operator[](int i) const { return values_[i]; }
  T& operator[](int i) { return values_[i]; }
#else
  operator const T*() const { return values_; }
  operator T*() { return values_; }
#endif
  const char* as_bytes() const { return reinterpret_cast<const char*>(values_); }

  static Vectorized loadu(const void* from) { return loadu(from, kSize); }
  static Vectorized loadu(const void* from, int64_t count) {
    Vectorized result;
    if constexpr (std::is_same_v<T, bool>)  // any other byte than 0 is true
      for (int64_t i = 0; i < count; ++i) result.values_[i] = static_cast<const char*>(from)[i] != 0;
    else
      std::memcpy(result.values_, from, static_cast<size_t>(count) * sizeof(T));
    return result;
  }
  static Vectorized loadu_one_fourth(const void* from) {
    static_assert(is_8bit_integer_v<T>, "For byte types only");
    return loadu(from, 8);
  }
  void store(void* to, int count = kSize) const { std::memcpy(to, values_, static_cast<size_t>(count) * sizeof(T)); }

  /// Element i is b's where bit i of `mask` is set, otherwise a's.
  template <int64_t mask>
  static Vectorized blend(const Vectorized& a, const Vectorized& b) {
    Vectorized result;
    for (int i = 0; i < kSize; ++i) result.values_[i] = (mask >> i) & 1 ? b.values_[i] : a.values_[i];
    return result;
  }
  /// The same for a mask that a comparison gave.
  static Vectorized blendv(const Vectorized& a, const Vectorized& b, const Vectorized& mask) {
    const char* bits = mask.as_bytes();
    Vectorized result;
    for (int i = 0; i < kSize; ++i) result.values_[i] = bits[i * sizeof(T)] & 1 ? b.values_[i] : a.values_[i];
    return result;
  }
  /// The first `count` elements are b's, the others a's.
  static Vectorized set(const Vectorized& a, const Vectorized& b, int64_t count = kSize) {
    Vectorized result = a;
    std::copy_n(b.values_, std::min<int64_t>(count, kSize), result.values_);
    return result;
  }
  template <typename Step>
  static Vectorized arange(T base = T(0), Step step = Step(1)) {
    Vectorized result;
    for (int i = 0; i < kSize; ++i) result.values_[i] = static_cast<T>(base + i * step);
    return result;
  }

  /// Bit i is set where element i is zero.
  int zero_mask() const {
    int mask = 0;
    for (int i = 0; i < kSize; ++i) mask |= (values_[i] == T(0)) << i;
    return mask;
  }
  Vectorized isnan() const {
    return mask_of([](T x) { return at::_isnan(x); });
  }
  bool has_inf_nan() const {
    return std::any_of(values_, values_ + kSize, [](T x) { return at::_isnan(x) || at::_isinf(x); });
  }

  Vectorized map(T (*const f)(T)) const { return each(f); }
  Vectorized map(T (*const f)(const T&)) const { return each(f); }
  T reduce_add() const {
    return reduced([](T x, T y) { return static_cast<T>(x + y); });
  }
  T reduce_max() const {
    return reduced([](T x, T y) { return x < y ? y : x; });
  }

#define HB_VEC_FUNCTION(name, expression)                \
  Vectorized name() const {                              \
    using computed = computed_t<T>;                      \
    return each([](T element) {                          \
      const computed x = static_cast<computed>(element); \
      return static_cast<T>(expression);                 \
    });                                                  \
  }
  HB_VEC_FUNCTION(acos, std::acos(x))
  HB_VEC_FUNCTION(acosh, std::acosh(x))
  HB_VEC_FUNCTION(asin, std::asin(x))
  HB_VEC_FUNCTION(asinh, std::asinh(x))
  HB_VEC_FUNCTION(atan, std::atan(x))
  HB_VEC_FUNCTION(atanh, std::atanh(x))
  HB_VEC_FUNCTION(ceil, std::ceil(x))
  HB_VEC_FUNCTION(cos, std::cos(x))
  HB_VEC_FUNCTION(cosh, std::cosh(x))
  HB_VEC_FUNCTION(erf, std::erf(x))
  HB_VEC_FUNCTION(erfc, std::erfc(x))
  HB_VEC_FUNCTION(exp, std::exp(x))
  HB_VEC_FUNCTION(exp2, std::exp2(x))
  HB_VEC_FUNCTION(exp_u20, std::exp(x))
  HB_VEC_FUNCTION(fexp_u20, std::exp(x))
  HB_VEC_FUNCTION(expm1, std::expm1(x))
  HB_VEC_FUNCTION(floor, std::floor(x))
  HB_VEC_FUNCTION(frac, x - std::trunc(x))
  HB_VEC_FUNCTION(lgamma, std::lgamma(x))
  HB_VEC_FUNCTION(log, std::log(x))
  HB_VEC_FUNCTION(log10, std::log10(x))
  HB_VEC_FUNCTION(log1p, std::log1p(x))
  HB_VEC_FUNCTION(log2, std::log2(x))
  HB_VEC_FUNCTION(neg, -x)
  HB_VEC_FUNCTION(reciprocal, computed(1) / x)
  HB_VEC_FUNCTION(round, std::nearbyint(x))
  HB_VEC_FUNCTION(rsqrt, computed(1) / std::sqrt(x))
  HB_VEC_FUNCTION(sin, std::sin(x))
  HB_VEC_FUNCTION(sinh, std::sinh(x))
  HB_VEC_FUNCTION(sqrt, std::sqrt(x))
  HB_VEC_FUNCTION(tan, std::tan(x))
  HB_VEC_FUNCTION(tanh, std::tanh(x))
  HB_VEC_FUNCTION(trunc, std::trunc(x))
#undef HB_VEC_FUNCTION
  Vectorized abs() const {
    if constexpr (std::is_integral_v<T>)
      return each([](T x) { return static_cast<T>(x < T(0) ? -x : x); });
    else
      return each([](T x) { return static_cast<T>(std::abs(static_cast<computed_t<T>>(x))); });
  }
  Vectorized angle() const {
    return each([](T x) -> T {
      if constexpr (c10::is_complex<T>::value)
        return static_cast<T>(std::arg(x));
      else
        return at::_isnan(x) ? x : x < T(0) ? static_cast<T>(std::acos(-1.0)) : T(0);
    });
  }
  Vectorized real() const {
    if constexpr (c10::is_complex<T>::value) return each([](T x) { return static_cast<T>(x.real()); });
    return *this;
  }
  Vectorized imag() const {
    if constexpr (c10::is_complex<T>::value) return each([](T x) { return static_cast<T>(x.imag()); });
    return Vectorized(T(0));
  }
  Vectorized conj() const {
    if constexpr (c10::is_complex<T>::value) return each([](T x) { return static_cast<T>(std::conj(x)); });
    return *this;
  }

#define HB_VEC_FUNCTION(name)                                                                     \
  Vectorized name(const Vectorized& other) const {                                                \
    return pairs(*this, other, [](computed_t<T> x, computed_t<T> y) { return std::name(x, y); }); \
  }
  HB_VEC_FUNCTION(atan2)
  HB_VEC_FUNCTION(copysign)
  HB_VEC_FUNCTION(fmod)
  HB_VEC_FUNCTION(hypot)
  HB_VEC_FUNCTION(nextafter)
  HB_VEC_FUNCTION(pow)
#undef HB_VEC_FUNCTION

  /// Elements all bits of which are set where the comparison holds, otherwise none; eq() and its like give 1 and 0.
#define HB_VEC_COMPARISON(op, name)                                              \
  Vectorized operator op(const Vectorized& other) const {                        \
    return mask_of([](T x, T y) { return x op y; }, other);                      \
  }                                                                              \
  Vectorized name(const Vectorized& other) const {                               \
    return pairs(*this, other, [](T x, T y) { return static_cast<T>(x op y); }); \
  }
  HB_VEC_COMPARISON(==, eq)
  HB_VEC_COMPARISON(!=, ne)
  HB_VEC_COMPARISON(<, lt)
  HB_VEC_COMPARISON(<=, le)
  HB_VEC_COMPARISON(>, gt)
  HB_VEC_COMPARISON(>=, ge)
#undef HB_VEC_COMPARISON

  /// f(x[i], y[i]) for each i.
  template <class F>
  static Vectorized pairs(const Vectorized& x, const Vectorized& y, F f) {
    Vectorized result;
    for (int i = 0; i < kSize; ++i) result.values_[i] = static_cast<T>(f(x.values_[i], y.values_[i]));
    return result;
  }

 private:
  template <class F>
  Vectorized each(F f) const {
    Vectorized result;
    for (int i = 0; i < kSize; ++i) result.values_[i] = f(values_[i]);
    return result;
  }
  template <class F>
  T reduced(F f) const {
    T result = values_[0];
    for (int i = 1; i < kSize; ++i) result = f(result, values_[i]);
    return result;
  }
  template <class F, class... Other>
  Vectorized mask_of(F f, const Other&... other) const {
    Vectorized result;
    for (int i = 0; i < kSize; ++i)
      std::memset(static_cast<void*>(result.values_ + i), f(values_[i], other.values_[i]...) ? 0xFF : 0, sizeof(T));
    return result;
  }

  __at_align__ T values_[kSize];
};

}  // namespace CPU_CAPABILITY
}  // namespace at::vec

#include <ATen/cpu/vec/vec_operators.h>
