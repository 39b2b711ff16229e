#pragma once
// Formulas with parameters p[0], p[1], …, and those of three operands.

#include "formulas/binary_formulas.h"
#include "formulas/scaled_bessel.h"
#include "formulas/special_functions.h"
#include "formulas/unary_formulas.h"

namespace hb::formula {

template <class T>
HB_HD T wrapping_add(T a, T b) {
  if constexpr (math::is_float<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <class T>
HB_HD T wrapping_sub(T a, T b) {
  if constexpr (math::is_float<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

struct add : Formula<2, 0, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T*, T a, T b) {
    return wrapping_add(a, b);
  }
};
struct sub : Formula<2, 0, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T*, T a, T b) {
    return wrapping_sub(a, b);
  }
};
/// a + p0 b
struct add_scaled : Formula<2, 1, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T* p, T a, T b) {
    return wrapping_add(a, mul::apply(p, p[0], b));
  }
};
/// b - p0 a
struct rsub_scaled : Formula<2, 1, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T* p, T a, T b) {
    return wrapping_sub(b, mul::apply(p, p[0], a));
  }
};
/// p0 a
struct scale : Formula<1, 1, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T* p, T a) {
    return mul::apply(p, p[0], a);
  }
};
struct trunc_divide : Formula<2, 0, Kinds::all, 2> {
  template <class T>
  static HB_HD T apply(const T*, T a, T b) {
    if constexpr (math::is_float<T>)
      return math::trunc(a / b);
    else
      return b == 0 ? 0 : b == -1 ? static_cast<T>(0 - static_cast<uint64_t>(a)) : a / b;
  }
  template <class T, class = std::enable_if_t<!math::is_float<T>>>
  static HB_HD T quick(T a, T b, bool& right) {
    right = exact_in_double(a, b);
    return small_to_int(math::trunc(small_to_double(a) / small_to_double(b)));
  }
};
/// p0 / a
struct reverse_divide : Formula<1, 1, Kinds::field, 2> {
  template <class T>
  static HB_HD T apply(const T* p, T a) {
    return p[0] / a;
  }
};
struct pow_cube : Formula<1, 0, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T* p, T a) {
    return mul::apply(p, mul::apply(p, a, a), a);
  }
};
struct conj : Formula<1, 0, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T*, T a) {
    if constexpr (is_complex_v<T>)
      return T(a.real(), -a.imag());
    else
      return a;
  }
};
/// Operands x, low, high. NaN of any of them wins.
struct clamp : Formula<3> {
  template <class T>
  static HB_HD T apply(const T* p, T x, T low, T high) {
    if constexpr (math::is_float<T>) {
      T y = x < low ? low : x;
      y = y > high ? high : y;
      const T bound = low != low ? low : high;  // does not change along the loop where the bounds are numbers
      return bound != bound ? bound : y;
    } else {
      return minimum::apply(p, maximum::apply(p, x, low), high);
    }
  }
};
struct clamp_low : Formula<2> {
  template <class T>
  static HB_HD T apply(const T* p, T x, T low) {
    return maximum::apply(p, x, low);
  }
};
struct clamp_high : Formula<2> {
  template <class T>
  static HB_HD T apply(const T* p, T x, T high) {
    return minimum::apply(p, x, high);
  }
};
/// Gradient g where p0 <= x <= p1 (p2: <), else 0. Operands g, x.
struct inside : Formula<2, 3> {
  template <class T>
  static HB_HD T apply(const T* p, T g, T x) {
    const bool in = p[2] != T(0) ? (x > p[0]) & (x < p[1]) : (x >= p[0]) & (x <= p[1]);
    return in ? g : T(0);
  }
};
/// Operands a, b, weight. The form is chosen so that both ends are exact.
struct lerp : Formula<3, 0, Kinds::floats, 2> {
  template <class T>
  static HB_HD T apply(const T*, T a, T b, T w) {
    const T d = b - a;
    return math::abs(w) < T(0.5) ? a + w * d : b - d * (T(1) - w);
  }
};
/// Operands a, b; p: weight.
struct lerp_number : Formula<2, 1, Kinds::floats, 2> {
  template <class T>
  static HB_HD T apply(const T* p, T a, T b) {
    return lerp::apply<T>(nullptr, a, b, p[0]);
  }
};
/// a + p0 b c
struct addcmul : Formula<3, 1, Kinds::numbers> {
  static constexpr bool adds_product = true;
  template <class T>
  static HB_HD T apply(const T* p, T a, T b, T c) {
    return wrapping_add(a, mul::apply(p, mul::apply(p, p[0], b), c));
  }
};
/// a + p0 b / c
struct addcdiv : Formula<3, 1, Kinds::field, 2> {
  template <class T>
  static HB_HD T apply(const T* p, T a, T b, T c) {
    return a + p[0] * b / c;
  }
};
/// Operands condition, a, b.
struct where : Formula<3, 0, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T*, T condition, T a, T b) {
    return condition != T(0) ? a : b;
  }
};
/// p: for NaN, for +inf, for -inf.
struct nan_to_num : Formula<1, 3> {
  template <class T>
  static HB_HD T apply(const T* p, T x) {
    if constexpr (math::is_float<T>) {  // choices that stand apart are one instruction each
      T y = x == math::infinity<T> ? p[1] : x;
      y = x == -math::infinity<T> ? p[2] : y;
      return x != x ? p[0] : y;
    }
    return x;
  }
};
/// p: rtol, atol, whether NaN equals NaN. |a - b| <= atol + rtol |b|.
struct isclose : Formula<2, 3, Kinds::numbers, 2> {
  template <class T>
  static HB_HD T apply(const T* p, T a, T b) {
    if constexpr (math::is_float<T>) {
      using M = math::magnitude_t<T>;
      const M error = math::abs(a - b);
      const T allowed = p[1] + T(math::abs(p[0] * b));
      const bool close = (error < math::infinity<M>)&(error <= math::abs(allowed));
      return T((a == b) | close | ((p[2] != T(0)) & (a != a) & (b != b)));
    } else {
      return T(a == b);
    }
  }
};
template <>
inline constexpr bool modular<isclose> = false;

/// p: 10^|decimals|, whether decimals is negative.
struct round_decimals : Formula<1, 2, Kinds::floats, 4> {
  template <class T>
  static HB_HD T apply(const T* p, T x) {
    return p[1] != T(0) ? math::rint(x / p[0]) * p[0] : math::rint(x * p[0]) / p[0];
  }
};
/// p: the order.
struct polygamma : Formula<1, 1, Kinds::floats, 128> {
  template <class T>
  static HB_HD T apply(const T* p, T x) {
    return T(math::polygamma(static_cast<int>(p[0]), x));
  }
};

// --- without parameters: special functions that are not methods, and parts of a number
#define HB_DOUBLE_FORMULA(name, cost, expression)    \
  struct name : Formula<1, 0, Kinds::floats, cost> { \
    template <class T>                               \
    static HB_HD_ALWAYS T apply(const T*, T x) {     \
      return T(expression);                          \
    }                                                \
  };
HB_DOUBLE_FORMULA(trigamma, 16, math::trigamma(x))
struct i1 : Formula<1, 0, Kinds::floats, 16> {
  template <class T>
  static HB_HD_ALWAYS T apply(const T*, T x) {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(T) == sizeof(float)) return ::cyl_bessel_i1f(x);
#endif
    return T(math::bessel_i<1, false>(x));
  }
};
template <int kOrder>
struct ScaledBesselI : Formula<1, 0, Kinds::floats, 16> {
  template <class T>
  static HB_HD_ALWAYS T apply(const T*, T x) {
    return math::scaled_bessel_i<kOrder>(x);
  }
  template <class T>
  static bool covers(T x) {
    return math::scaled_bessel_i_range(x);
  }
  template <class T>
  static HB_HD_ALWAYS T in_range(T x) {
    return math::small_scaled_bessel_i<kOrder>(x);
  }
};
struct i0e : ScaledBesselI<0> {};
struct i1e : ScaledBesselI<1> {};
HB_DOUBLE_FORMULA(entr, 64, x > T(0) ? -x * math::log(x) : x == T(0) ? T(0) : x != x ? x : -math::infinity<T>)
HB_DOUBLE_FORMULA(erfcx, 16, math::erfcx(x))
HB_DOUBLE_FORMULA(log_ndtr, 16, math::log_ndtr(x))
struct ndtri : Formula<1, 0, Kinds::floats, 16> {
  static constexpr bool one_by_one = true;
  template <class T>
  static HB_HD T apply(const T*, T x) {
    return T(math::ndtri(x));
  }
  template <class T>
  static bool covers(T x) {
    return (x >= T(1e-15)) & (x < T(1));
  }
  template <class T>
  static HB_HD_ALWAYS T in_range(T x) {
    return T(math::ndtri_in_range(x));
  }
};
#undef HB_DOUBLE_FORMULA
/// s, q.
struct zeta : Formula<2, 0, Kinds::floats, 128> {
  template <class T>
  static HB_HD T apply(const T*, T s, T q) {
    if (s == T(1)) return math::infinity<T>;
    return s > T(1) ? T(math::hurwitz_zeta(s, q)) : math::nan<T>;
  }
  template <class T>
  static HB_HD_ALWAYS T quick(T s, T q, bool& right) {
    right = (s > T(1)) & (q > T(0)) & (q < T(1e8));
    return T(math::hurwitz_zeta_of_positive(s, q));
  }
};
/// x = mantissa * 2^exponent, the mantissa in [1/2, 1); of what is 0 or not finite the exponent is 0.
template <class T>
struct Frexp {
  using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  static constexpr int kPlace = std::numeric_limits<T>::digits - 1, kHalf = std::numeric_limits<T>::max_exponent - 2;
  static constexpr Bits kMask = static_cast<Bits>((Bits{1} << (8 * sizeof(T) - 1 - kPlace)) - 1);
  bool plain;
  Bits mantissa, exponent;
  HB_HD_ALWAYS explicit Frexp(T x) {
    const T size = math::abs(x);
    plain = (x == T(0)) | !(size < math::infinity<T>);
    const bool tiny = size < std::numeric_limits<T>::min();  // its leading bit is not the one that goes without saying
    const Bits bits = __builtin_bit_cast(Bits, tiny ? x * T(Bits{1} << (kPlace + 1)) : x);
    exponent = ((bits >> kPlace) & kMask) - kHalf - (tiny ? Bits{kPlace + 1} : Bits{0});
    mantissa = (bits & ~(kMask << kPlace)) | (Bits{kHalf} << kPlace);
  }
};
struct frexp_mantissa : Formula<1, 0, Kinds::floats, 4> {
  template <class T>
  static HB_HD_ALWAYS T apply(const T*, T x) {
    const Frexp<T> parts(x);
    return parts.plain ? x : __builtin_bit_cast(T, parts.mantissa);
  }
};
struct frexp_exponent : Formula<1, 0, Kinds::floats, 4> {
  template <class T>
  static HB_HD_ALWAYS T apply(const T*, T x) {
    const Frexp<T> parts(x);
    return parts.plain ? T(0) : T(parts.exponent);
  }
};
/// pi of negative numbers, 0 of others.
struct angle : Formula<1, 0, Kinds::floats> {
  template <class T>
  static HB_HD_ALWAYS T apply(const T*, T x) {
    const T of_number = x < T(0) ? T(M_PI) : T(0);
    return x == x ? of_number : x;
  }
};
/// log2(2^a + 2^b); of equal infinities they themselves.
struct logaddexp2 : Formula<2, 0, Kinds::floats, 16> {
  template <class T>
  static HB_HD_ALWAYS T apply(const T*, T a, T b) {
    const T most = a > b ? a : b, apart = math::abs(a - b);
    const T sum = most + math::log1p(exact::exp2(-apart)) * T(1.44269504088896340736);
    return (a == b) & (math::abs(a) == math::infinity<T>) ? a : sum;
  }
};
struct nextafter : Formula<2, 0, Kinds::floats, 4> {
  template <class T>
  static HB_HD T apply(const T*, T a, T b) {
    using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    const Bits bits = __builtin_bit_cast(Bits, a);  // counts up with the magnitude
    const T next = __builtin_bit_cast(T, static_cast<Bits>((b > a) == (a > T(0)) ? bits + 1 : bits - 1));
    const T first = math::copysign(std::numeric_limits<T>::denorm_min(), b);
    const T moved = a == T(0) ? first : next;
    return (a != a) | (b != b) ? a + b : a == b ? b : moved;
  }
};
/// The size of a, the sign of b.
struct copysign : Formula<2, 0, Kinds::floats> {
  template <class T>
  static HB_HD T apply(const T*, T a, T b) {
    return math::copysign(a, b);
  }
  template <class Bits>
  static HB_HD Bits on_bits(Bits a, Bits b) {
    return static_cast<Bits>((a & ~sign_bit<Bits>) | (b & sign_bit<Bits>));
  }
};
/// 0 below 0, 1 above, b at 0.
struct heaviside : Formula<2, 0, Kinds::all> {
  template <class T>
  static HB_HD T apply(const T*, T a, T b) {
    return a == T(0) ? b : T(a > T(0));
  }
};
/// log(x / (1 - x)) of x moved into [p0, p1].
struct logit : Formula<1, 2, Kinds::floats, 8> {
  template <class T>
  static HB_HD T apply(const T* p, T x) {
    const T inside = x < p[0] ? p[0] : x > p[1] ? p[1] : x;
    return math::log(inside / (T(1) - inside));
  }
};
/// Operands g, x. p: as logit's, and the gradient outside.
struct logit_backward : Formula<2, 3, Kinds::floats, 2> {
  template <class T>
  static HB_HD T apply(const T* p, T g, T x) {
    const T slope = g / (x * (T(1) - x));
    return (x < p[0]) | (x > p[1]) ? p[2] : slope;
  }
};
/// Operands x, slope.
struct prelu : Formula<2, 0, Kinds::floats> {
  template <class T>
  static HB_HD T apply(const T*, T x, T slope) {
    return x > T(0) ? x : x * slope;
  }
};
/// Operands g, x, slope.
struct prelu_backward : Formula<3, 0, Kinds::floats> {
  template <class T>
  static HB_HD T apply(const T*, T g, T x, T slope) {
    return x > T(0) ? g : slope * g;
  }
};
/// The slope's share of each element. Operands g, x.
struct prelu_slope_backward : Formula<2, 0, Kinds::floats> {
  template <class T>
  static HB_HD T apply(const T*, T g, T x) {
    return x > T(0) ? T(0) : x * g;
  }
};

}  // namespace hb::formula
