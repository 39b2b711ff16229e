// Gradients of gradients that other files' cases do not reach.
#include "parity/case.h"

using torch::Tensor;

// Functions that are linear piece by piece have second gradients, of zeros, even where nothing else leads to x.
PARITY_CASE(second_gradients, of_zeros) {
  const auto second = [&](const char* name, const std::function<Tensor(const Tensor&)>& fn) {
    c.scope(name, [&] {
      auto x = c.leaf({4}, torch::kDouble), w = c.leaf({4}, torch::kDouble);
      auto y = fn(x * w);
      auto g = torch::autograd::grad({y}, {x}, {torch::ones_like(y)}, true, true)[0];
      c.out("of_x", torch::autograd::grad({g.sum()}, {x}, {}, true)[0]);
      c.out("of_w", torch::autograd::grad({g.sum()}, {w}, {}, true)[0]);
      auto direct = torch::autograd::grad({fn(x).sum()}, {x}, {}, true, true)[0];
      c.value("has_history", direct.requires_grad());
      c.out("direct", torch::autograd::grad({direct.sum()}, {x}, {}, true)[0]);
      direct.sum().backward();
      c.out("accumulated", x.grad());
    });
  };
  second("leaky_relu", [](const Tensor& x) { return torch::leaky_relu(x, 0.1); });
  second("hardtanh", [](const Tensor& x) { return torch::hardtanh(x, -0.5, 0.5); });
  second("relu6", [](const Tensor& x) { return torch::relu6(x); });
  second("relu", [](const Tensor& x) { return torch::relu(x); });
  second("threshold", [](const Tensor& x) { return torch::threshold(x, 0.1, 2); });
  second("softshrink", [](const Tensor& x) { return torch::softshrink(x, 0.2); });
  second("hardshrink", [](const Tensor& x) { return torch::hardshrink(x, 0.2); });
  second("in_place", [](const Tensor& x) {
    auto y = x * 2;
    return torch::leaky_relu_(y, 0.1);
  });
}

// Hooks on the way see these zeros.
PARITY_CASE(second_gradients, hooks_see_zeros) {
  auto x = c.leaf({3}, torch::kDouble);
  int calls = 0;
  auto u = x * 2;
  u.register_hook([&](const Tensor& g) { return ++calls, g + 1; });
  auto y = torch::leaky_relu(u, 0.1);
  auto g = torch::autograd::grad({y.sum()}, {u}, {}, true, true)[0];
  c.out("g", g);
  g.sum().backward();
  c.value("calls", calls);
  c.out("x", x.grad());
}

PARITY_CASE(second_gradients, logcumsumexp) {
  auto x = c.leaf({2, 4}, torch::kDouble);
  c.gradgradcheck([&] { return torch::logcumsumexp(x, 1); }, {x});
  auto g = torch::autograd::grad({torch::logcumsumexp(x, 1).sum()}, {x}, {}, true, true)[0];
  c.out("of_ones", torch::autograd::grad({g.sum() + g.pow(2).sum()}, {x})[0]);
  auto mixed = c.leaf({3}, torch::kFloat);
  g = torch::autograd::grad({torch::logcumsumexp(mixed, 0)}, {mixed}, {c.values({1, -2, 0})}, true, true)[0];
  c.out("mixed_signs", torch::autograd::grad({g.pow(2).sum()}, {mixed})[0]);
}

PARITY_CASE(second_gradients, elu_far_from_and_at_zero) {
  for (const auto dtype : {torch::kFloat, torch::kDouble}) {
    auto x = c.values({-2, -0.5, 0, 0.5, 100, 1000}, dtype).requires_grad_();
    const auto both = [&](const char* name, const Tensor& y) {
      auto g = torch::autograd::grad({y.sum()}, {x}, {}, true, true)[0];
      c.out(name + std::string(parity::dtype_name(dtype)), g);
      c.out("second_" + std::string(name) + parity::dtype_name(dtype), torch::autograd::grad({g.sum()}, {x})[0]);
    };
    both("elu", torch::elu(x, 0.7));
    both("celu", torch::celu(x, 0.5));
    both("selu", torch::selu(x));
  }
}

// The parts of complex numbers, and such numbers over their parts, changed in place through the view and through its
// base.
PARITY_CASE(second_gradients, of_views_with_another_dtype) {
  const auto second = [&](const char* name, const Tensor& x, const Tensor& y) {
    auto real = torch::is_complex(y) ? torch::view_as_real(y) : y;
    auto g = torch::autograd::grad({(real * real * real).sum()}, {x}, {}, true, true)[0];
    auto parts = torch::is_complex(g) ? torch::view_as_real(g) : g;
    c.out(name, parts);
    auto gg = torch::autograd::grad({parts.pow(2).sum()}, {x}, {}, true)[0];
    c.out(std::string("second_") + name, torch::is_complex(gg) ? torch::view_as_real(gg) : gg);
  };
  auto x = c.leaf({3, 2}, torch::kDouble);
  auto base = x * 2;
  auto view = torch::view_as_complex(base);
  base.cumsum_(0);
  second("base_changed", x, view.cos());
  view.mul_(0.5);
  second("view_changed", x, base * x);
  view.slice(0, 0, 2).sin_();
  second("part_changed", x, base * view.abs().unsqueeze(1));
  auto z = torch::complex(c.randn({2, 2}, torch::kDouble), c.randn({2, 2}, torch::kDouble)).requires_grad_();
  auto whole = z * 1;
  auto parts = torch::view_as_real(whole);
  whole.mul_(2);
  second("whole_changed", z, parts.sin());
  parts.select(2, 1).sin_();
  second("parts_changed", z, whole * whole);
}
