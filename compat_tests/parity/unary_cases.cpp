// Element-wise functions of one tensor: as function, method and in-place form.
#include "parity/case.h"

using torch::Tensor;

// Values from [low, high): inside the function's domain, for the sweep with gradients.
#define UNARY(name, low, high)                                                                             \
  PARITY_CASE(unary, name) {                                                                               \
    c.unary([](const Tensor& x) { return torch::name(x); }, low, high);                                    \
    c.for_dtypes({torch::kLong, torch::kInt, torch::kByte},                                                \
                 [&](torch::Dtype dtype) { c.out("integer", torch::name(c.randint(0, 5, {6}, dtype))); }); \
    auto x = c.rand({3, 5}, torch::kFloat, low, high);                                                     \
    c.out("method", x.name());                                                                             \
    c.out("in_place", x.clone().name##_());                                                                \
    auto view = x.clone();                                                                                 \
    view.t().slice(0, 1, 4, 2).name##_();                                                                  \
    c.out("in_place_on_view", view);                                                                       \
  }

UNARY(abs, -2, 2)
UNARY(neg, -2, 2)
UNARY(sign, 0.1, 2)
UNARY(exp, -3, 3)
UNARY(exp2, -3, 3)
UNARY(expm1, -2, 2)
UNARY(log, 0.1, 4)
UNARY(log2, 0.1, 4)
UNARY(log10, 0.1, 4)
UNARY(log1p, -0.7, 3)
UNARY(sqrt, 0.1, 4)

PARITY_CASE(unary,
            rsqrt) {  // both round the factors of the gradient to half, in different places: at most 1.4 steps apart
  c.tolerance(torch::kBFloat16, 1.6e-2, 8e-3);
  c.unary([](const Tensor& x) { return torch::rsqrt(x); }, 0.1, 4);
  c.out("integer", torch::rsqrt(c.randint(0, 5, {6})));
  c.out("in_place", c.rand({3, 5}, torch::kFloat, 0.1, 4).rsqrt_());
}

UNARY(square, -2, 2)
UNARY(reciprocal, 0.3, 3)
UNARY(sin, -4, 4)
UNARY(cos, -4, 4)
UNARY(tan, -1.2, 1.2)
UNARY(asin, -0.9, 0.9)
UNARY(acos, -0.9, 0.9)
UNARY(atan, -3, 3)
UNARY(sinh, -2, 2)
UNARY(cosh, -2, 2)
UNARY(asinh, -3, 3)
UNARY(acosh, 1.2, 4)
UNARY(atanh, -0.9, 0.9)
UNARY(erf, -2, 2)
UNARY(erfc, -2, 2)
UNARY(erfinv, -0.9, 0.9)
UNARY(lgamma, 0.3, 4)

PARITY_CASE(unary, digamma) {
  c.tolerance(torch::kDouble, 1e-8, 1e-8);  // LibTorch's trigamma, its gradient, is 5e-10 off; ours 1e-15
  c.unary([](const Tensor& x) { return torch::digamma(x); }, 0.5, 4);
}
UNARY(tanh, -3, 3)
UNARY(sigmoid, -4, 4)
UNARY(relu, -2, 2)
UNARY(floor, -3, 3)
UNARY(ceil, -3, 3)
UNARY(round, -3, 3)
UNARY(trunc, -3, 3)

PARITY_CASE(unary, frac) {
  c.unary([](const Tensor& x) { return torch::frac(x); }, -3, 3);
}

PARITY_CASE(unary, round_half_to_even) { c.out("y", torch::round(c.values({-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5}))); }

PARITY_CASE(unary, round_decimals) {
  auto x = c.randn({8}, torch::kDouble);
  c.out("two", torch::round(x, 2));
  c.out("minus_one", torch::round(x * 100, -1));
}

// Results are bool.
#define TEST_OF(name)                                                                                            \
  PARITY_CASE(unary, name) {                                                                                     \
    c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) { c.out("special", torch::name(c.special(dtype))); }); \
    c.out("integer", torch::name(c.randint(-2, 3, {5})));                                                        \
    c.out("empty", torch::name(c.randn({0, 2})));                                                                \
  }

TEST_OF(isnan)
TEST_OF(isinf)
TEST_OF(isfinite)
TEST_OF(isposinf)
TEST_OF(isneginf)

PARITY_CASE(unary, signbit) {  // the sign of a NaN is nobody's promise
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) { c.out("y", torch::signbit(c.special(dtype).slice(0, 1))); });
  c.out("integer", torch::signbit(c.randint(-2, 3, {5})));
}

PARITY_CASE(unary, logical_not) {
  c.for_dtypes(parity::kAll, [&](torch::Dtype dtype) { c.out("y", torch::logical_not(c.any({7}, dtype))); });
}

PARITY_CASE(unary, bitwise_not) {
  for (auto dtype : parity::kInts) c.out(parity::dtype_name(dtype), torch::bitwise_not(c.any({7}, dtype)));
  c.out("bool", ~c.bools({4}));
  c.throws("float", [&] { torch::bitwise_not(c.randn({3})); });
}

PARITY_CASE(unary, absolute_and_friends) {
  auto x = c.leaf({6});
  c.gradients("absolute", {x}, [&] { return torch::absolute(x); });
  c.gradients("negative", {x}, [&] { return torch::negative(x); });
  c.gradients("positive", {x}, [&] { return -x; });
  c.out("abs_at_zero", torch::abs(c.values({-0.0, 0.0})));
}

PARITY_CASE(unary, gradients_at_kinks) {
  auto x = c.values({0.0, -0.0, 1.0, -1.0}).requires_grad_();
  c.backward("abs", x.abs(), {x});
  c.backward("relu", x.relu(), {x});
  c.backward("sign", x.sign(), {x});
  c.backward("sqrt", x.sqrt(), {x});
  c.backward("log", x.log(), {x});
}

PARITY_CASE(unary, large_vectors) {  // long enough for the vector loops and for threads
  auto x = c.rand({70001}, torch::kFloat, -4, 4);
  c.out("exp", x.exp());
  c.out("tanh", x.tanh());
  c.out("sigmoid", x.sigmoid());
  c.out("erf", x.erf());
  c.out("sin", x.sin());
  c.out("log", x.abs().log());
  c.out("bf16_exp", x.to(torch::kBFloat16).exp());
  c.out("f16_tanh", x.to(torch::kHalf).tanh());
}

PARITY_CASE(unary, errors) {
  c.throws("exp_in_place_on_int", [&] { c.randint(0, 3, {3}).exp_(); });
  c.throws("in_place_on_leaf", [&] { c.leaf({3}).exp_(); });
  c.throws("neg_bool", [&] { torch::neg(c.bools({3})); });
}
