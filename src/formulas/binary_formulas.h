#pragma once
// The functions of binary.def. Integer arithmetic wraps; the caller has refused division of integers by zero.

#include "formulas/formula.h"
#include "formulas/incomplete_gamma.h"

namespace hb::formula {

#define HB_FORMULA_2(name, kinds, cost, expression) \
  struct name : Formula<2, 0, Kinds::kinds, cost> { \
    template <class T>                              \
    static HB_HD T apply(const T*, T a, T b) {      \
      return expression;                            \
    }                                               \
  };

struct mul : Formula<2, 0, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T*, T a, T b) {
    if constexpr (math::is_float<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};
HB_FORMULA_2(div, field, 2, a / b)
struct pow : Formula<2, 0, Kinds::numbers, 16> {
  template <class T>
  static HB_HD T apply(const T*, T a, T b) {
    if constexpr (math::is_float<T>) {
      return math::pow(a, b);
    } else {
      if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
      uint64_t result = 1, base = static_cast<uint64_t>(a);
      for (; b; b >>= 1, base *= base)
        if (b & 1) result *= base;
      return static_cast<T>(result);
    }
  }
};
HB_FORMULA_2(atan2, floats, 8, math::atan2(a, b))
HB_FORMULA_2(hypot, floats, 8, math::hypot(a, b))
// NaN of either side wins.
HB_FORMULA_2(maximum, all, 1, (a > b) | (a != a) ? a : b)
HB_FORMULA_2(minimum, all, 1, (a < b) | (a != a) ? a : b)
// NaN of either side loses.
HB_FORMULA_2(fmax, all, 1, a != a ? b : b != b ? a : a > b ? a : b)
HB_FORMULA_2(fmin, all, 1, a != a ? b : b != b ? a : a < b ? a : b)

/// Integers below 2^51 as double and back, by additions: for vectors that have no such conversion.
constexpr uint64_t kSmallAsDouble = 0x4338000000000000;  // the bits of 1.5 * 2^52
HB_HD double small_to_double(int64_t x) {
  return __builtin_bit_cast(double, static_cast<uint64_t>(x) + kSmallAsDouble) - 0x1.8p52;
}
HB_HD int64_t small_to_int(double x) {
  return static_cast<int64_t>(__builtin_bit_cast(uint64_t, x + 0x1.8p52) - kSmallAsDouble);
}
/// Whether the quotient of integers is exact enough in double, as that of numbers from -2^51 to 2^51 - 1 is, and b is
/// not 0.
HB_HD bool exact_in_double(int64_t a, int64_t b) {
  constexpr uint64_t half = uint64_t{1} << 51;
  return (((static_cast<uint64_t>(a) + half) | (static_cast<uint64_t>(b) + half)) >> 52 == 0) & (b != 0);
}

/// a - trunc(a / b) b, which is exact, by a division: the quotient is trunc's or, rounded up, one more. Right where the
/// quotient is small beside the digits of T, and b is finite and not 0.
template <class T>
HB_HD T quick_fmod(T a, T b, bool& right) {
  if constexpr (math::is_float<T>) {
    constexpr T most = static_cast<T>(int64_t{1} << (std::numeric_limits<T>::digits - 2));
    const T q = math::trunc(a / b);
    T r = math::fma(-q, b, a);
    r = (r != T(0)) & ((r < T(0)) != (a < T(0))) ? r + math::copysign(b, a) : r;
    right = (math::abs(q) < most) & (r == r);
    return math::copysign(r, a);
  } else {
    right = exact_in_double(a, b);
    const double x = small_to_double(a), y = small_to_double(b);
    return small_to_int(math::fma(-math::trunc(x / y), y, x));
  }
}

struct fmod : Formula<2, 0, Kinds::all, 16> {
  template <class T>
  static HB_HD T apply(const T*, T a, T b) {
    if constexpr (math::is_float<T>)
      return math::fmod(a, b);
    else
      return b == 0 || b == -1 ? 0 : a % b;
  }
  template <class T>
  static HB_HD T quick(T a, T b, bool& right) {
    return quick_fmod(a, b, right);
  }
};
struct remainder : Formula<2, 0, Kinds::all, 16> {
  template <class T>
  static HB_HD T of(T r, T b) {
    return (r != T(0)) & ((r < T(0)) != (b < T(0))) ? r + b : r;
  }
  template <class T>
  static HB_HD T apply(const T* p, T a, T b) {
    return of(fmod::apply(p, a, b), b);
  }
  template <class T>
  static HB_HD T quick(T a, T b, bool& right) {
    return of(quick_fmod(a, b, right), b);
  }
};
struct floor_divide : Formula<2, 0, Kinds::all, 16> {
  template <class T>
  static HB_HD T of(T a, T b, T r) {
    T q = (a - r) / b;
    q = (r != T(0)) & ((b < T(0)) != (r < T(0))) ? q - T(1) : q;
    const T down = math::floor(q), whole = q - down > T(0.5) ? down + T(1) : down;
    return q == T(0) ? math::copysign(T(0), a / b) : whole;
  }
  template <class T>
  static HB_HD T apply(const T*, T a, T b) {
    if constexpr (math::is_float<T>) {
      if (b == T(0)) return a / b;
      return of(a, b, math::fmod(a, b));
    } else {
      if (b == 0) return 0;
      if (b == -1) return static_cast<T>(0 - static_cast<uint64_t>(a));
      const T q = a / b;
      return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
    }
  }
  template <class T>
  static HB_HD T quick(T a, T b, bool& right) {
    if constexpr (math::is_float<T>) {
      return of(a, b, quick_fmod(a, b, right));
    } else {
      right = exact_in_double(a, b);
      return small_to_int(math::floor(small_to_double(a) / small_to_double(b)));
    }
  }
};
struct xlogy : Formula<2, 0, Kinds::floats, 8> {
  template <class T>
  static HB_HD T apply(const T*, T a, T b) {
    const T y = a * math::log(b);
    return b != b ? b : a == T(0) ? T(0) : y;
  }
};
struct logaddexp : Formula<2, 0, Kinds::floats, 16> {
  template <class T>
  static HB_HD T apply(const T*, T a, T b) {
    const T high = a > b ? a : b;
    const T y = high + math::log1p(math::exp(-math::abs(a - b)));
    return a == b && math::abs(a) == math::infinity<T> ? a : a != a ? a : y;
  }
};

HB_FORMULA_2(eq, numbers, 1, T(a == b))
HB_FORMULA_2(ne, numbers, 1, T(a != b))
HB_FORMULA_2(lt, all, 1, T(a < b))
HB_FORMULA_2(le, all, 1, T(a <= b))
HB_FORMULA_2(gt, all, 1, T(a > b))
HB_FORMULA_2(ge, all, 1, T(a >= b))
HB_FORMULA_2(logical_and, numbers, 1, T((a != T(0)) & (b != T(0))))
HB_FORMULA_2(logical_or, numbers, 1, T((a != T(0)) | (b != T(0))))
HB_FORMULA_2(logical_xor, numbers, 1, T((a != T(0)) != (b != T(0))))
/// The same for integers of any width.
#define HB_BITS_FORMULA(name, expression)       \
  struct name : Formula<2, 0, Kinds::ints> {    \
    template <class T>                          \
    static HB_HD T apply(const T*, T a, T b) {  \
      return expression;                        \
    }                                           \
    template <class Bits>                       \
    static HB_HD Bits on_bits(Bits a, Bits b) { \
      return static_cast<Bits>(expression);     \
    }                                           \
  };
HB_BITS_FORMULA(bitwise_and, a& b)
HB_BITS_FORMULA(bitwise_or, a | b)
HB_BITS_FORMULA(bitwise_xor, a ^ b)
#undef HB_BITS_FORMULA
/// How many zero bits lie below the lowest one of x, which is not 0. (std::countr_zero is none of the device's
/// functions.)
HB_HD int trailing_zeros(uint64_t x) {
#ifdef __CUDA_ARCH__
  return __ffsll(static_cast<long long>(x)) - 1;
#else
  return __builtin_ctzll(x);
#endif
}
struct gcd : Formula<2, 0, Kinds::ints, 64> {
  template <class T>
  static HB_HD T apply(const T*, T a, T b) {
    // By shifts and differences: a 64-bit division takes longer than all of a step, and ends at random as this does.
    uint64_t x = a < 0 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
    uint64_t y = b < 0 ? 0 - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
    if (x == 0 || y == 0) return static_cast<T>(x | y);
    const int twos = trailing_zeros(x | y);
    x >>= trailing_zeros(x);
    while (y != 0) {
      y >>= trailing_zeros(y);
      const uint64_t less = x < y ? x : y;
      y = x < y ? y - x : x - y, x = less;
    }
    return static_cast<T>(x << twos);
  }
};
struct lcm : Formula<2, 0, Kinds::ints, 64> {
  template <class T>
  static HB_HD T apply(const T* p, T a, T b) {
    if (a == 0 || b == 0) return 0;
    const auto part = static_cast<uint64_t>(a / gcd::apply(p, a, b));
    return math::abs(static_cast<T>(part * static_cast<uint64_t>(b)));
  }
};
HB_FORMULA_2(igamma, floats, 256, T(math::gamma_p(a, b)))
HB_FORMULA_2(igammac, floats, 256, T(math::gamma_q(a, b)))
HB_FORMULA_2(bitwise_left_shift, ints, 1,
             static_cast<uint64_t>(b) > 63 ? T(0) : T(static_cast<uint64_t>(a) << (b & 63)))
HB_FORMULA_2(bitwise_right_shift, ints, 1, a >> (static_cast<uint64_t>(b) > 63 ? T(63) : b))

template <>
inline constexpr bool modular<pow> = false;
template <>
inline constexpr bool modular<bitwise_and> = true;
template <>
inline constexpr bool modular<bitwise_or> = true;
template <>
inline constexpr bool modular<bitwise_xor> = true;
template <>
inline constexpr bool modular<bitwise_left_shift> = true;

#undef HB_FORMULA_2

}  // namespace hb::formula
