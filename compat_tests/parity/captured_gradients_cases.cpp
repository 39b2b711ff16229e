// What hooks and retain_grad() see, and what grad() returns, where a pass is asked for gradients of certain tensors and
// where a tensor with hooks was changed in place since.
#include "parity/case.h"

using torch::Tensor;
using torch::autograd::grad;

namespace {

/// A hook that multiplies, and leaves its name behind.
auto times(double factor, std::string& order, const char* name) {
  return [=, &order](const Tensor& g) {
    order += name;
    return g * factor;
  };
}

}  // namespace

PARITY_CASE(captured_gradients, of_a_leaf_after_its_hooks) {
  std::string order;
  auto x = c.leaf({3}), other = c.leaf({3});
  x.register_hook(times(3, order, "x"));
  x.register_hook([&](const Tensor&) { return order += "look", Tensor(); });
  x.register_hook(times(5, order, "again"));
  other.register_hook(times(7, order, "other"));
  auto y = (x * x * other).sum();
  c.out("x", grad({y}, {x}, {}, true)[0]);
  c.text("order", order);
  auto both = grad({y}, {other, x, x}, {}, true);
  for (size_t i = 0; i < both.size(); ++i) c.out("all" + std::to_string(i), both[i]);
  c.text("order_of_both", order);
  c.check(!x.grad().defined(), "grad() leaves .grad() alone");
}

// The hooks of a tensor whose node is not needed run before its gradient is captured; where the node runs they come
// after that.
PARITY_CASE(captured_gradients, of_an_intermediate_tensor) {
  std::string order;
  auto x = c.leaf({3});
  auto y = x * 2;
  y.register_hook(times(3, order, "y"));
  auto z = (y * y).sum();
  z.register_hook(times(5, order, "z"));
  c.out("alone", grad({z}, {y}, {}, true)[0]);
  auto both = grad({z}, {y, x}, {}, true);
  c.out("y", both[0]);
  c.out("x", both[1]);
  c.out("of_itself", grad({z}, {z}, {}, true)[0]);
  c.out("of_itself_and_x", grad({z}, {z, x}, {}, true)[0]);
  c.text("order", order);
}

PARITY_CASE(captured_gradients, retain_grad_in_every_pass) {
  auto x = c.leaf({3});
  auto y = x * 2;
  y.register_hook([](const Tensor& g) { return g * 3; });
  y.retain_grad();
  auto z = (y * y).sum();
  c.out("alone", grad({z}, {y}, {}, true)[0]);
  c.out("kept", y.grad());
  grad({z}, {x}, {}, true);
  c.out("kept_twice", y.grad());
  auto parts = (x * 1).unbind();
  parts[1].retain_grad();
  grad({parts[0] * parts[1]}, {parts[1], x});
  c.out("of_a_part", parts[1].grad());
}

PARITY_CASE(captured_gradients, backward_to_intermediate_inputs) {
  auto x = c.leaf({3}), other = c.leaf({3});
  auto y = x * other;
  y.register_hook([](const Tensor& g) { return g * 3; });
  auto z = (y * y).sum();
  torch::autograd::backward({z}, {}, true, false, {y, x});
  c.out("y", y.grad());
  c.out("x", x.grad());
  c.check(!other.grad().defined(), "no gradient but those of the inputs");
  c.value("retains", y.retains_grad());
  z.backward();
  c.out("y_again", y.grad());
}

PARITY_CASE(captured_gradients, retained_by_changed_views) {
  auto run = [&](const char* name, bool through_view, bool use_view) {
    c.scope(name, [&] {
      auto x = c.leaf({2, 2});
      auto base = x * 2;
      base.retain_grad();
      auto view = base[0];
      view.retain_grad();
      (through_view ? view : base).mul_(3);
      auto y = use_view ? view : base;
      (y * y).sum().backward();
      c.out("base", base.grad().defined() ? base.grad() : torch::zeros({}));
      c.out("view", view.grad().defined() ? view.grad() : torch::zeros({}));
      c.out("x", x.grad());
    });
  };
  run("base_changed_base_read", false, false);
  run("base_changed_view_read", false, true);
  run("view_changed_base_read", true, false);
  run("view_changed_view_read", true, true);
}

// Hooks of a view that was changed since belong to those who read it before.
PARITY_CASE(captured_gradients, hooks_of_changed_views) {
  auto x = c.leaf({2, 2});
  auto base = x * 2;
  auto view = base[0];
  int calls = 0;
  view.register_hook([&](const Tensor& g) { return ++calls, g * 3; });
  auto before = view * 2;
  view.mul_(2);
  (before.sum() + base.sum()).backward();
  c.value("calls", calls);
  c.out("x", x.grad());
}

// A leaf may be a view of something that needs no gradient.
PARITY_CASE(captured_gradients, views_of_a_leaf_that_is_a_view) {
  auto whole = c.randn({4});
  auto leaf = whole.view({2, 2});
  leaf.requires_grad_();
  auto row = leaf[0];
  c.throws("row", [&] { row.mul_(2); });
  c.throws("leaf", [&] { leaf.mul_(2); });
  c.throws("put", [&] { leaf.index_put_({0}, 1); });
  c.value("still_a_leaf", leaf.is_leaf());
  {
    torch::NoGradGuard guard;
    row.mul_(2);
  }
  (leaf * leaf).sum().backward();
  c.out("gradient", leaf.grad());
}

PARITY_CASE(captured_gradients, complex_and_real_gradients) {
  auto real = c.leaf({2}), complex = torch::complex(c.randn({2}), c.randn({2})).requires_grad_();
  c.throws("complex_for_real", [&] { (real * real).backward(torch::ones({2}, torch::kComplexFloat)); });
  c.throws("real_for_complex", [&] { (complex * complex).backward(torch::ones({2})); });
  (complex * complex).backward(torch::ones({2}, torch::kComplexDouble));
  c.out("wider", torch::view_as_real(complex.grad()));
}

// A view made in no_grad mode requires grad as its base does, but no gradient goes on from there.
PARITY_CASE(captured_gradients, parts_of_a_view_made_in_no_grad_mode) {
  auto x = c.leaf({4, 2});
  auto base = x * 2;
  torch::Tensor view;
  {
    torch::NoGradGuard guard;
    view = base.view({2, 4});
  }
  (view[0].sum() + view.slice(1, 1, 3).exp().sum() + view.narrow(0, 1, 1).sum() + base.sum()).backward();
  c.out("parts", x.grad());
  auto halves = view.split(2, 1);
  auto columns = view.unbind(1);
  ((halves[0] * halves[1]).sum() + columns[2].sum() + (x * x).sum()).backward();
  c.out("more", x.grad());
}
