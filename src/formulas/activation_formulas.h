#pragma once
// Activations with parameters and the fused gradients. Operands of a gradient: g, then x (input) or y (result).

#include "formulas/formula.h"
#include "formulas/normal_tail.h"
#include "formulas/rounded.h"
#include "formulas/vector_special.h"

namespace hb::formula {

#define HB_FLOATS_1(name, params, cost, expression)                 \
  struct name : Formula<1, params, Kinds::floats, cost> {           \
    template <class T>                                              \
    static HB_HD_ALWAYS T apply([[maybe_unused]] const T* p, T x) { \
      expression                                                    \
    }                                                               \
  };
#define HB_FLOATS_2(name, params, cost, expression) HB_KIND_2(name, floats, params, cost, expression)
#define HB_KIND_2(name, kinds, params, cost, expression)                 \
  struct name : Formula<2, params, Kinds::kinds, cost> {                 \
    template <class T>                                                   \
    static HB_HD_ALWAYS T apply([[maybe_unused]] const T* p, T g, T x) { \
      expression                                                         \
    }                                                                    \
  };

/// p: slope.
HB_FLOATS_1(leaky_relu, 1, 1, return x > T(0) ? x : x * p[0];)
HB_FLOATS_2(leaky_relu_backward, 1, 1, return x > T(0) ? g : g * p[0];)
/// p: factor below zero, factor above, factor of the exponent.
HB_FLOATS_1(elu, 3, 8, const T low = exact::expm1(x * p[2]) * p[0]; return x < T(0) ? low : x * p[1];)
HB_FLOATS_2(elu_backward, 3, 8, const T low = g * p[2] * p[0] * math::exp(x * p[2]); return x > T(0) ? g * p[1] : low;)

/// The normal distribution function, and its sum with x times its density.
template <class T>
HB_HD_ALWAYS T normal_cdf(T x) {
  return T(0.5) * (T(1) + math::erf(x * T(0.70710678118654752440)));
}
template <class T>
HB_HD_ALWAYS T gelu_slope(T x) {
  const T pdf = math::quick_exp(T(-0.5) * x * x) * T(0.39894228040143267794);
  return normal_cdf(x) + x * pdf;
}
HB_HD_ALWAYS float normal_cdf(float x) {
  const auto [power, ratio] = math::normal_tail(x);
  const float tail = math::is_beyond_tail(x) ? 0.0f : power * ratio;
  return x < 0.0f ? tail : 1 - tail;
}
/// NaN of infinite numbers, as the density times them is.
HB_HD_ALWAYS float gelu_slope(float x) {
  const auto [power, ratio] = math::normal_tail(x);
  const float slope = power * math::fma(math::abs(x), -0.39894228040143267794f, ratio),
              tail = math::is_beyond_tail(x) ? 0.0f * x : slope;
  return x < 0.0f ? tail : 1 - tail;
}
HB_FLOATS_1(gelu_erf, 0, 8, return x * normal_cdf(x);)
HB_FLOATS_2(gelu_erf_backward, 0, 8, return g * gelu_slope(x);)
// (1 + tanh u) / 2 is the sigmoid of 2u, which does not cancel for negative u.
HB_FLOATS_1(gelu_tanh, 0, 8, const T twice = T(-2 * 0.79788456080286535588) * (x + T(0.044715) * x * x * x);
            return x / (T(1) + quick_exp(twice));)
HB_FLOATS_2(gelu_tanh_backward, 0, 8,
            const T s = T(1) / (T(1) + quick_exp(T(-2 * 0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
            const T slope = T(2 * 0.79788456080286535588) * (T(1) + T(3 * 0.044715) * x * x);
            return g * (s + x * s * (T(1) - s) * slope);)

/// p: beta, threshold.
HB_FLOATS_1(softplus, 2, 16, const T curve = math::log1p(exact::exp(x * p[0])) / p[0];
            return x * p[0] > p[1] ? x : curve;)
HB_FLOATS_2(softplus_backward, 2, 8, const T z = math::exp(x * p[0]); const T curve = g * z / (z + T(1));
            return x * p[0] > p[1] ? g : curve;)
/// p: lambda. Multiplying keeps NaN.
HB_FLOATS_1(softshrink, 1, 1, return x > p[0] ? x - p[0] : x < -p[0] ? x + p[0] : x * T(0);)
HB_FLOATS_1(hardshrink, 1, 1, return (x >= -p[0]) & (x <= p[0]) ? T(0) : x;)
HB_FLOATS_2(shrink_backward, 1, 1, return (x >= -p[0]) & (x <= p[0]) ? T(0) : g;)

/// p: threshold, value.
struct threshold : Formula<1, 2> {
  template <class T>
  static HB_HD T apply(const T* p, T x) {
    const T value = p[1];  // read whatever x is: a choice between numbers becomes vector code
    return x <= p[0] ? value : x;
  }
};
struct threshold_backward : Formula<2, 1> {
  template <class T>
  static HB_HD T apply(const T* p, T g, T x) {
    return x <= p[0] ? T(0) : g;
  }
};

// x is the result of the forward function here.
HB_KIND_2(tanh_backward, field, 0, 1, return g * (T(1) - x * x);)
HB_KIND_2(sigmoid_backward, field, 0, 1, return g * (T(1) - x) * x;)
HB_FLOATS_2(silu_backward, 0, 8, const T s = T(1) / (T(1) + quick_exp(-x)); return g * s * (T(1) + x * (T(1) - s));)
HB_FLOATS_2(mish_backward, 0, 16, const T e = math::exp(-x); const T s = T(1) / (T(1) + e);
            const T t = math::tanh(math::log1p(math::exp(x))); return g * (t + x * s * (T(1) - t * t));)
HB_FLOATS_2(hardsigmoid_backward, 0, 1, return (x > T(-3)) & (x < T(3)) ? g * T(1. / 6) : T(0);)
HB_FLOATS_2(hardswish_backward, 0, 1, const T middle = g * (x * T(1. / 3) + T(0.5)); return x <= T(-3)  ? T(0)
                                                                                            : x >= T(3) ? g
                                                                                                        : middle;)
/// Operands: the half that passes, the half that gates.
HB_FLOATS_2(glu, 0, 8, return g / (T(1) + quick_exp(-x));)
/// Operands: g, the half that passes, the half that gates. The gradient of the latter.
struct glu_gate_backward : Formula<3, 0, Kinds::floats, 8> {
  template <class T>
  static HB_HD T apply(const T*, T g, T a, T x) {
    const T s = T(1) / (T(1) + quick_exp(-x));
    return g * a * s * (T(1) - s);
  }
};
HB_FLOATS_2(log_sigmoid_backward, 0, 8, return g / (T(1) + quick_exp(x));)

#define HB_OWN_ARITHMETIC(name) \
  template <>                   \
  inline constexpr bool own_arithmetic<name> = true;
HB_OWN_ARITHMETIC(gelu_erf)
HB_OWN_ARITHMETIC(gelu_erf_backward)
HB_OWN_ARITHMETIC(gelu_tanh)
HB_OWN_ARITHMETIC(gelu_tanh_backward)
HB_OWN_ARITHMETIC(silu_backward)
HB_OWN_ARITHMETIC(glu)
HB_OWN_ARITHMETIC(glu_gate_backward)
HB_OWN_ARITHMETIC(log_sigmoid_backward)

#undef HB_OWN_ARITHMETIC
#undef HB_FLOATS_1
#undef HB_FLOATS_2
#undef HB_KIND_2

}  // namespace hb::formula
