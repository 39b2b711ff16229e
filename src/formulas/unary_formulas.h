#pragma once
// The functions of unary.def. `p` is unused: they have no parameters.

#include "formulas/formula.h"
#include "formulas/rounded.h"
#include "formulas/special_functions.h"
#include "formulas/tanh.h"

namespace hb::formula {

#define HB_FLOAT_FORMULA(name, cost, expression)     \
  struct name : Formula<1, 0, Kinds::floats, cost> { \
    template <class T>                               \
    static HB_HD_ALWAYS T apply(const T*, T x) {     \
      return expression;                             \
    }                                                \
  };
/// The same with complex operands.
#define HB_FIELD_FORMULA(name, cost, expression)    \
  struct name : Formula<1, 0, Kinds::field, cost> { \
    template <class T>                              \
    static HB_HD T apply(const T*, T x) {           \
      return expression;                            \
    }                                               \
  };
/// Of real numbers by formulas/rounded.h.
#define HB_EXACT_FORMULA(name, kinds, ...)       \
  struct name : Formula<1, 0, Kinds::kinds, 8> { \
    template <class T>                           \
    static HB_HD T apply(const T*, T x) {        \
      if constexpr (is_complex_v<T>)             \
        return math::name(x);                    \
      else                                       \
        return exact::name(x);                   \
    }                                            \
    __VA_ARGS__                                  \
  };
/// The same, with a form for numbers in a range (cpu/isa/formula_loop.h).
#define HB_RANGE_FORMULA(name)                                                               \
  HB_EXACT_FORMULA(                                                                          \
      name, field,                                                                           \
      template <class T> static auto covers(T x)->decltype(math::rounded::name##_range(x)) { \
        return math::rounded::name##_range(x);                                               \
      } template <class T>                                                                   \
      static T in_range(T x) { return math::rounded::name##_in_range(x); })
#define HB_ANY_FORMULA(name, kinds, expression) \
  struct name : Formula<1, 0, Kinds::kinds> {   \
    template <class T>                          \
    static HB_HD T apply(const T*, T x) {       \
      return expression;                        \
    }                                           \
  };
/// Rounding: integers are what they were.
#define HB_ROUNDING_FORMULA(name, expression)             \
  struct name : Formula<1> {                              \
    template <class T>                                    \
    static HB_HD T apply(const T*, T x) {                 \
      if constexpr (math::is_float<T>) return expression; \
      return x;                                           \
    }                                                     \
  };

/// The bit of a floating number of this width that is its sign.
template <class Bits>
constexpr Bits sign_bit = std::numeric_limits<Bits>::min();

struct abs : Formula<1, 0, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T*, T x) {
    return T(math::abs(x));
  }
  template <class Bits>
  static HB_HD Bits on_bits(Bits x) {
    return static_cast<Bits>(x & ~sign_bit<Bits>);
  }
};
HB_ANY_FORMULA(sign, all, x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0))
HB_ANY_FORMULA(relu, all, x < T(0) ? T(0) : x)
HB_ANY_FORMULA(logical_not, numbers, T(x == T(0)))
HB_ANY_FORMULA(isnan, numbers, T(x != x))
struct neg : Formula<1, 0, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T*, T x) {
    if constexpr (math::is_float<T>)
      return -x;
    else
      return static_cast<T>(0 - static_cast<uint64_t>(x));
  }
  template <class Bits>
  static HB_HD Bits on_bits(Bits x) {
    return static_cast<Bits>(x ^ sign_bit<Bits>);
  }
};
struct square : Formula<1, 0, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T*, T x) {
    if constexpr (math::is_float<T>)
      return x * x;
    else
      return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x));
  }
};

HB_ROUNDING_FORMULA(floor, math::floor(x))
HB_ROUNDING_FORMULA(ceil, math::ceil(x))
HB_ROUNDING_FORMULA(round, math::rint(x))
HB_ROUNDING_FORMULA(trunc, math::trunc(x))
HB_FLOAT_FORMULA(frac, 1, x - math::trunc(x))

HB_RANGE_FORMULA(exp)
HB_RANGE_FORMULA(exp2)
HB_EXACT_FORMULA(expm1, field)
HB_RANGE_FORMULA(log)
HB_RANGE_FORMULA(log2)
HB_RANGE_FORMULA(log10)
HB_FIELD_FORMULA(log1p, 8, math::log1p(x))
HB_FIELD_FORMULA(sqrt, 4, math::sqrt(x))
HB_FIELD_FORMULA(rsqrt, 4, T(1) / math::sqrt(x))
HB_FIELD_FORMULA(reciprocal, 2, T(1) / x)
HB_RANGE_FORMULA(sin)
HB_RANGE_FORMULA(cos)
HB_RANGE_FORMULA(tan)
HB_EXACT_FORMULA(asin, field)
HB_EXACT_FORMULA(acos, field)
HB_EXACT_FORMULA(atan, field)
HB_EXACT_FORMULA(sinh, field)
HB_EXACT_FORMULA(cosh, field)
HB_FIELD_FORMULA(asinh, 8, math::asinh(x))
HB_FIELD_FORMULA(acosh, 8, math::acosh(x))
HB_FIELD_FORMULA(atanh, 8, math::atanh(x))
HB_EXACT_FORMULA(erf, floats)
HB_FLOAT_FORMULA(erfc, 8, math::erfc(x))
struct erfinv : Formula<1, 0, Kinds::floats, 16> {
  template <class T>
  static HB_HD_ALWAYS T apply(const T*, T x) {
    return math::erfinv(x);
  }
  template <class T>
  static auto covers(T x) -> decltype(math::erfinv_range(x)) {
    return math::erfinv_range(x);
  }
  template <class T>
  static T in_range(T x) {
    return math::erfinv_in_range(x);
  }
};
HB_FLOAT_FORMULA(digamma, 16, T(math::digamma(x)))
struct i0 : Formula<1, 0, Kinds::floats, 16> {
  template <class T>
  static HB_HD_ALWAYS T apply(const T*, T x) {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(T) == sizeof(float)) return ::cyl_bessel_i0f(x);  // a GPU has few units for double
#endif
    return T(math::bessel_i<0, false>(x));
  }
};
struct lgamma : Formula<1, 0, Kinds::floats, 16> {
  template <class T>
  static HB_HD_ALWAYS T apply(const T*, T x) {
#ifdef __CUDA_ARCH__
    return ::lgamma(x);
#else
    if constexpr (sizeof(T) == sizeof(float))
      return T(math::log_gamma_for_float(x));
    else
      return math::log_gamma(x);
#endif
  }
};

struct tanh : Formula<1, 0, Kinds::field, 8> {
  template <class T>
  static HB_HD T apply(const T*, T x) {
    if constexpr (is_complex_v<T>)
      return math::tanh(x);
    else
      return math::tanh_at_its_ends(x);
  }
};
HB_FIELD_FORMULA(sigmoid, 8, T(1) / (T(1) + quick_exp(-x)))
HB_FLOAT_FORMULA(silu, 8, x / (T(1) + quick_exp(-x)))
template <>
inline constexpr bool own_arithmetic<sqrt> = true;
template <>
inline constexpr bool own_arithmetic<rsqrt> = true;
template <>
inline constexpr bool own_arithmetic<erf> = true;
template <>
inline constexpr bool own_arithmetic<sigmoid> = true;
template <>
inline constexpr bool own_arithmetic<silu> = true;
HB_FLOAT_FORMULA(mish, 16, x* math::tanh(math::log1p(math::exp(x))))
HB_FLOAT_FORMULA(log_sigmoid, 16, (x < T(0) ? x : x != x ? x : T(0)) - math::log1p(exact::exp(-math::abs(x))))
/// Here and in hardswish the two choices stand apart, so that each is one instruction.
struct hardsigmoid : Formula<1, 0, Kinds::floats> {
  template <class T>
  static HB_HD_ALWAYS T apply(const T*, T x) {
    const T low = x + T(3), y = (low > T(6) ? T(6) : low) * T(1. / 6);
    return x < T(-3) ? T(0) : y;
  }
};
struct hardswish : Formula<1, 0, Kinds::floats> {
  template <class T>
  static HB_HD_ALWAYS T apply(const T*, T x) {
    const T low = x + T(3), y = x * (low > T(6) ? T(6) : low) * T(1. / 6);
    return x < T(-3) ? x * T(0) : y;
  }
};

struct isinf : Formula<1, 0, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T*, T x) {
    if constexpr (is_complex_v<T>) {
      using Part = typename T::value_type;
      const Part* none = nullptr;
      return T(Part(apply<Part>(none, x.real()) != Part(0) || apply<Part>(none, x.imag()) != Part(0)));
    } else if constexpr (math::is_float<T>) {
      return T(math::abs(x) == math::infinity<T>);
    } else {
      return T(0);
    }
  }
};
struct isfinite : Formula<1, 0, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T*, T x) {
    if constexpr (math::is_float<T>) return T(x - x == T(0));
    return T(1);
  }
};
struct isposinf : Formula<1> {
  template <class T>
  static HB_HD T apply(const T*, T x) {
    if constexpr (math::is_float<T>) return T(x == math::infinity<T>);
    return T(0);
  }
};
struct isneginf : Formula<1> {
  template <class T>
  static HB_HD T apply(const T*, T x) {
    if constexpr (math::is_float<T>) return T(x == -math::infinity<T>);
    return T(0);
  }
};
struct signbit : Formula<1> {
  template <class T>
  static HB_HD T apply(const T*, T x) {
    if constexpr (math::is_float<T>) return math::copysign(T(1), x) < T(0) ? T(1) : T(0);
    return T(x < T(0));
  }
};
struct bitwise_not : Formula<1, 0, Kinds::ints> {
  template <class T>
  static HB_HD T apply(const T*, T x) {
    return ~x;
  }
};

template <>
inline constexpr bool modular<abs> = false;
template <>
inline constexpr bool modular<bitwise_not> = true;

#undef HB_FLOAT_FORMULA
#undef HB_FIELD_FORMULA
#undef HB_EXACT_FORMULA
#undef HB_RANGE_FORMULA
#undef HB_ANY_FORMULA
#undef HB_ROUNDING_FORMULA

}  // namespace hb::formula
