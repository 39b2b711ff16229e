// Element-wise functions of two tensors.
#include <cmath>
#include <limits>

#include "parity/case.h"

using torch::Tensor;

#define BINARY(name, low, high)                                                              \
  PARITY_CASE(binary, name) {                                                                \
    c.binary([](const Tensor& a, const Tensor& b) { return torch::name(a, b); }, low, high); \
  }

BINARY(maximum, -2, 2)
BINARY(minimum, -2, 2)
BINARY(fmax, -2, 2)
BINARY(fmin, -2, 2)
BINARY(xlogy, 0.2, 3)

namespace {

// Sums of gradients over broadcast dimensions cancel: a step of one term is more than a step of the sum. Both libraries
// are up to 2.9 steps of f16 from the exact sum, each in other elements.
void allow_cancelled_sums(parity::Case& c) {
  c.tolerance(torch::kHalf, 3e-3, 3e-3);
  c.tolerance(torch::kBFloat16, 1.6e-2, 1.6e-2);
}

}  // namespace

PARITY_CASE(binary, atan2) {
  c.binary([](const Tensor& a, const Tensor& b) { return torch::atan2(a, b); }, 0.3, 2);
}

// LibTorch's vectorised remainder of a huge number by a tiny one is NaN; ours is exact. Neither is compared.
#define REMAINDER(name)                                                                                     \
  PARITY_CASE(binary, name) {                                                                               \
    c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {                                                 \
      auto a = c.leaf({4, 3}, dtype), b = c.leaf_in(0.5, 2, {3}, dtype);                                    \
      c.gradients("broadcast", {a, b}, [&] { return torch::name(a, b); });                                  \
      const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");                       \
      auto values = c.values({nan, inf, -inf, 0.0, -0.0, 1, -1, 0.5, -0.5, 3, -3, 100, -100}, dtype);       \
      c.out("special", torch::name(values.unsqueeze(1), values));                                           \
    });                                                                                                     \
    c.for_layouts({4, 5}, torch::kFloat, [&](Tensor x) { c.out("layout", torch::name(x, c.randn({5}))); }); \
  }
REMAINDER(fmod)
REMAINDER(remainder)

PARITY_CASE(binary, hypot) {
  allow_cancelled_sums(c);
  c.binary([](const Tensor& a, const Tensor& b) { return torch::hypot(a, b); }, 0.3, 2);
}

PARITY_CASE(binary, logaddexp) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto a = c.leaf({4, 3}, dtype), b = c.leaf({4, 3}, dtype);
    c.gradients("same", {a, b}, [&] { return torch::logaddexp(a, b); });
    c.out("broadcast", torch::logaddexp(a, c.randn({3}, dtype)));
    c.out("special", torch::logaddexp(c.special(dtype).unsqueeze(1), c.special(dtype)));
  });
  auto a = c.leaf({3, 4}, torch::kDouble), b = c.leaf({4}, torch::kDouble);
  c.gradients("broadcast", {a, b}, [&] { return torch::logaddexp(a, b); });
  c.gradcheck([&] { return torch::logaddexp(a, b); }, {a, b});
}

PARITY_CASE(binary, pow) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto a = c.leaf_in(0.2, 2, {4, 3}, dtype), b = c.leaf_in(-2, 2, {3}, dtype);
    c.gradients("tensors", {a, b}, [&] { return torch::pow(a, b); });
    auto x = c.leaf_in(0.3, 2, {5}, dtype);
    for (double e : {0.0, 0.5, 1.0, 2.0, 3.0, -1.0, -2.0, 2.5}) {
      c.gradients("scalar" + std::to_string(e), {x}, [&] { return x.pow(e); });
    }
    c.gradients("base", {x}, [&] { return torch::pow(2.0, x); });
  });
  auto a = c.leaf_in(0.2, 2, {4}, torch::kDouble), b = c.leaf_in(-2, 2, {4}, torch::kDouble);
  c.gradcheck([&] { return torch::pow(a, b); }, {a, b});
  c.gradgradcheck([&] { return torch::pow(a, 3); }, {a});
  c.out("integers", torch::pow(c.randint(-3, 4, {6}), 3));
  c.out("integer_exponents", torch::pow(c.randint(1, 4, {6}), c.randint(0, 4, {6})));
  c.out("special", torch::pow(c.special().unsqueeze(1), c.values({0, 1, 2, -1, 0.5})));
  c.throws("negative_integer_power", [&] { torch::pow(c.randint(1, 4, {3}), -1); });
  c.out("in_place", c.rand({4}).pow_(2));
}

PARITY_CASE(binary, floor_divide) {
  auto a = c.rand({4, 5}, torch::kFloat, -5, 5), b = c.rand({5}, torch::kFloat, 0.5, 2);
  c.out("floats", torch::floor_divide(a, b));
  c.out("integers", torch::floor_divide(c.randint(-9, 10, {8}), c.randint(1, 4, {8})));
  c.out("scalar", torch::floor_divide(c.randint(-9, 10, {8}), 3));
  // It has no gradient; that of div with a rounding mode is 0.
  const auto x = c.leaf({8}), y = c.leaf_in(1, 3, {8});
  c.throws("backward", [&] { torch::floor_divide(x, y).sum().backward(); });
  c.throws("backward_of_number", [&] { torch::floor_divide(x, 2).sum().backward(); });
  c.gradients("div_by_number", {x}, [&] { return torch::div(x, 2, "floor") + x; });
}

PARITY_CASE(binary, div_rounding) {
  auto a = c.leaf_in(-5, 5, {4, 5}), b = c.leaf_in(0.5, 2, {5});
  for (const char* mode : {"floor", "trunc"}) {
    c.gradients(mode, {a, b}, [&] { return torch::div(a, b, mode); });
    c.out(std::string(mode) + "_integers", torch::div(c.randint(-9, 10, {8}), c.randint(1, 4, {8}), mode));
  }
}

PARITY_CASE(binary, integers_mod) {
  for (auto dtype : {torch::kLong, torch::kInt, torch::kShort}) {
    auto a = c.randint(-9, 10, {4, 4}, dtype), b = c.randint(1, 5, {4}, dtype);
    c.out(parity::dtype_name(dtype) + "_fmod", torch::fmod(a, b));
    c.out(parity::dtype_name(dtype) + "_remainder", torch::remainder(a, b));
    c.out(parity::dtype_name(dtype) + "_remainder_negative", torch::remainder(a, -b));
    c.out(parity::dtype_name(dtype) + "_percent", a % 3);
  }
}

#define COMPARE(name, symbol)                                                              \
  PARITY_CASE(binary, name) {                                                              \
    for (auto dtype : parity::kAll) {                                                      \
      auto a = c.any({4, 5}, dtype), b = c.any({5}, dtype);                                \
      b.slice(0, 0, 2).copy_(a.select(0, 1).slice(0, 0, 2));                               \
      c.out(parity::dtype_name(dtype), a symbol b);                                        \
      c.out(parity::dtype_name(dtype) + "_function", torch::name(a, b));                   \
      if (dtype != torch::kBool) c.out(parity::dtype_name(dtype) + "_scalar", a symbol 1); \
    }                                                                                      \
    c.out("special", c.special().unsqueeze(1) symbol c.special());                         \
    c.out("mixed", c.randint(-2, 3, {6}) symbol c.randn({6}));                             \
    c.out("empty", c.randn({0, 3}) symbol c.randn({1, 3}));                                \
    c.throws("shapes", [&] { c.randn({3}) symbol c.randn({4}); });                         \
  }

COMPARE(eq, ==)
COMPARE(ne, !=)
COMPARE(lt, <)
COMPARE(le, <=)
COMPARE(gt, >)
COMPARE(ge, >=)

#define LOGICAL(name)                                                                         \
  PARITY_CASE(binary, name) {                                                                 \
    for (auto dtype : parity::kAll) {                                                         \
      c.out(parity::dtype_name(dtype), torch::name(c.any({4, 5}, dtype), c.any({5}, dtype))); \
    }                                                                                         \
    c.out("mixed", torch::name(c.randn({3}), c.bools({3})));                                  \
  }

LOGICAL(logical_and)
LOGICAL(logical_or)
LOGICAL(logical_xor)

PARITY_CASE(binary, bitwise) {
  for (auto dtype : parity::kInts) {
    auto a = c.randint(0, 100, {8}, dtype), b = c.randint(0, 100, {8}, dtype), shift = c.randint(0, 4, {8}, dtype);
    const auto name = parity::dtype_name(dtype);
    c.out(name + "_and", a & b);
    c.out(name + "_or", a | b);
    c.out(name + "_xor", a ^ b);
    c.out(name + "_left", torch::bitwise_left_shift(a, shift));
    c.out(name + "_right", torch::bitwise_right_shift(a, shift));
  }
  auto p = c.bools({6}), q = c.bools({6});
  c.out("bool_and", p & q);
  c.out("bool_or", p | q);
  c.out("bool_xor", p ^ q);
  c.throws("floats", [&] { torch::bitwise_and(c.randn({3}), c.randn({3})); });
}

PARITY_CASE(binary, add_sub_with_alpha) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto a = c.leaf({3, 4}, dtype), b = c.leaf({4}, dtype);
    c.gradients("add", {a, b}, [&] { return torch::add(a, b, 0.5); });
    c.gradients("sub", {a, b}, [&] { return torch::sub(a, b, 2); });
    c.gradients("rsub", {a, b}, [&] { return torch::rsub(a, b); });
    c.gradients("scalar_left", {a}, [&] { return 1.5 - a; });
    c.gradients("scalar_div", {a}, [&] { return 2 / (a * a + 1); });
  });
  c.out("integers", torch::add(c.randint(0, 9, {5}), c.randint(0, 9, {5}), 3));
  c.throws("float_alpha_for_int", [&] { torch::add(c.randint(0, 9, {5}), c.randint(0, 9, {5}), 1.5); });
  // More than the 53 bits of a double.
  const int64_t wide = (int64_t{1} << 53) + 1;
  const Tensor i = c.randint(1, 9, {5}), j = c.randint(1, 9, {5});
  c.out("wide", torch::add(i, j, wide));
  c.out("wide sub", torch::sub(i, j, wide));
  c.out("wide rsub", torch::rsub(i, 3, wide));
  c.out("wide number", torch::add(i, 3, wide));
  c.out("wide in place", i.clone().add_(j, -wide));
  c.out("wide beside reals", torch::add(c.randn({5}, torch::kDouble), j, wide));
}

PARITY_CASE(binary, addcmul_addcdiv_lerp) {
  auto x = c.leaf({3, 4}), a = c.leaf({3, 1}), b = c.leaf_in(0.5, 2, {4});
  c.gradients("addcmul", {x, a, b}, [&] { return torch::addcmul(x, a, b, 0.7); });
  c.gradients("addcdiv", {x, a, b}, [&] { return torch::addcdiv(x, a, b, 0.7); });
  c.gradients("lerp_scalar", {x, a}, [&] { return torch::lerp(x, a.expand({3, 4}), 0.3); });
  c.gradients("lerp_tensor", {x, a, b}, [&] { return torch::lerp(x, a.expand({3, 4}), b); });
  auto y = c.randn({3, 4});
  c.out("addcmul_", y.clone().addcmul_(c.randn({3, 4}), c.randn({4}), -1));
  c.out("addcdiv_", y.clone().addcdiv_(c.randn({3, 4}), c.rand({4}, torch::kFloat, 0.5, 2), 2));
  c.out("lerp_", y.clone().lerp_(c.randn({3, 4}), 0.25));
  auto p = c.leaf({2, 3}, torch::kDouble), q = c.leaf({2, 3}, torch::kDouble),
       r = c.leaf_in(0.5, 2, {2, 3}, torch::kDouble);
  c.gradcheck([&] { return torch::addcmul(p, q, r, 0.5); }, {p, q, r});
  c.gradcheck([&] { return torch::addcdiv(p, q, r, 0.5); }, {p, q, r});
  c.gradcheck([&] { return torch::lerp(p, q, r); }, {p, q, r});
}

PARITY_CASE(binary, scalars_and_promotion) {
  for (auto dtype : parity::kAll) {
    auto x = c.any({4}, dtype);
    const auto name = parity::dtype_name(dtype);
    c.out(name + "_plus_int", x + 2);
    c.out(name + "_times_float", x * 0.5);
    c.out(name + "_true_div", x / 2);
    c.out(name + "_plus_0d_double", x + torch::tensor(0.5, torch::kDouble));
    c.text(name + "_result_type", parity::dtype_name(torch::result_type(x, torch::tensor(1.5f))));
  }
  c.text("promote", parity::dtype_name(torch::promote_types(torch::kHalf, torch::kBFloat16)));
}

PARITY_CASE(binary, assignment_operators) {
  auto a = c.randn({3, 4}), b = c.rand({4}, torch::kFloat, 0.5, 2);
  auto x = a.clone();
  x += b;
  c.out("plus", x);
  x -= 1;
  c.out("minus", x);
  x *= b;
  c.out("times", x);
  x /= 2;
  c.out("divide", x);
  auto half = a.to(torch::kHalf);
  half += c.randn({3, 4});  // f32 into f16
  c.out("f32_into_f16", half);
  c.throws("double_into_long", [&] { c.arange({3}, torch::kLong).mul_(0.5); });
}

PARITY_CASE(binary, closeness) {
  auto a = c.randn({5}), b = a + 1e-6;
  c.value("allclose", torch::allclose(a, b));
  c.value("not_allclose", torch::allclose(a, b + 1));
  c.value("equal", torch::equal(a, a.clone()));
  c.value("equal_shapes", torch::equal(a, c.randn({4})));
  c.out("isclose", torch::isclose(c.special(), c.special()));
  c.out("isclose_nan", torch::isclose(c.special(), c.special(), 1e-5, 1e-8, true));
}
