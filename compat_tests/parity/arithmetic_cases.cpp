#include "parity/case.h"

using torch::Tensor;

PARITY_CASE(arithmetic, add) {
  c.binary([](const Tensor& a, const Tensor& b) { return a + b; });
}

PARITY_CASE(arithmetic, sub) {
  c.binary([](const Tensor& a, const Tensor& b) { return a - b; });
}

PARITY_CASE(arithmetic, mul) {
  c.binary([](const Tensor& a, const Tensor& b) { return a * b; });
}

PARITY_CASE(arithmetic, div) {
  c.binary([](const Tensor& a, const Tensor& b) { return a / b; }, 0.5, 2);
}

PARITY_CASE(arithmetic, integers) {
  c.for_dtypes(parity::kInts, [&](torch::Dtype dtype) {
    auto a = c.any({3, 4}, dtype), b = c.randint(1, 6, {4}, dtype);
    c.out("add", a + b);
    c.out("sub", a - b);
    c.out("mul", a * b);
    c.out("div", a / b);  // true division: float
    c.out("add_scalar", a + 2);
    c.out("mul_float_scalar", a * 1.5);
  });
}

PARITY_CASE(arithmetic, promotion) {
  for (auto left : parity::kAll) {
    for (auto right : parity::kAll) {
      auto a = c.any({2, 3}, left), b = c.any({3}, right);
      const auto name = parity::dtype_name(left) + "_" + parity::dtype_name(right);
      c.out(name + "_add", a + b);
      c.out(name + "_mul_0d", a * b.select(0, 0));
    }
  }
}

PARITY_CASE(arithmetic, in_place) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto a = c.randn({3, 4}, dtype), b = c.randn({4}, dtype);
    c.out("add_", a.clone().add_(b, 2));
    auto d = a.clone();
    d *= b;
    c.out("mul_assign", d);
    auto view = d.t();
    view += 1;
    c.out("through_view", d);
  });
}

// A number from which a tensor is subtracted has the tensor's dtype first.
PARITY_CASE(arithmetic, numbers_less_tensors) {
  c.for_dtypes(
      {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kLong, torch::kShort, torch::kByte},
      [&](torch::Dtype dtype) {
        const Tensor x = torch::tensor({3, 7, 100}).to(dtype) / (torch::isFloatingType(dtype) ? 3 : 1);
        for (const double n : {0.1, 2.9, 250.}) c.out(std::to_string(n), n - x.to(dtype));
        c.out("true", true - x.to(dtype));
        c.out("integer", 1 - x.to(dtype));
      });
  c.out("wraps", -1 - torch::tensor({3, 7}, torch::kByte));
  c.out("cut", -2.9 - torch::tensor({3, 7}));
  c.out("real", c10::complex<double>(1, 0) - c.values({0.3, 2}));
  c.out("complex", 1 - torch::complex(c.values({0.3, 2}), c.values({1, 3})));
  c.out("infinite", INFINITY - c.values({0.3, 2}, torch::kHalf));
}

// Quotients of numbers are rounded once, also where the reciprocal is infinite or has few digits.
PARITY_CASE(arithmetic, divided_numbers) {
  c.for_dtypes({torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16}, [&](torch::Dtype dtype) {
    const Tensor x = c.values({3, -7, 0.3, 1e-5, 6e4, 0}, dtype);
    for (const double n : {1., 10., 0.1, 1e-3, -2.5}) c.out(std::to_string(n), n / x);
    c.out("integer", 10 / x.slice(0, 0, 2));
  });
  const Tensor far = c.values({1e-39, 3e38});
  c.out("small", 1e-5 / far);
  c.out("large", 1e38 / far);
  const Tensor x = c.leaf_in(0.5, 2, {3, 4});
  c.text("node", (2 / x).grad_fn()->name() + (1 - x).grad_fn()->name());
  (2 / x + (1 - x)).sum().backward();
  c.out("gradient", x.grad());
}

PARITY_CASE(arithmetic, errors) {
  c.throws("shapes", [&] { c.randn({3, 4}) + c.randn({5}); });
  c.throws("in_place_grows", [&] { c.randn({4}).add_(c.randn({3, 4})); });
  c.throws("in_place_float_into_int", [&] { c.arange({3}, torch::kLong).add_(c.randn({3})); });
  c.throws("bool_subtract", [&] { c.bools({3}) - c.bools({3}); });
  c.throws("less_bytes", [&] { 300 - torch::tensor({3, 7}, torch::kByte); });
  c.throws("less_halves", [&] { 70000 - c.values({1, 2}, torch::kHalf); });
  c.throws("by_halves", [&] { 70000 / c.values({1, 2}, torch::kHalf); });
  c.throws("complex_less_floats", [&] { c10::complex<double>(1, 1) - c.values({1, 2}); });
  c.throws("less_bools", [&] { 1 - c.bools({3}); });
  c.throws("number_by_integers", [&] { 1 / c.arange({3}, torch::kLong); });
  c.throws("number_by_bools", [&] { 1.5 / c.bools({3}); });
  c.throws("complex_by_floats", [&] { c10::complex<double>(1, 2) / c.randn({3}); });
}
