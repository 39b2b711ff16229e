// The tape: backward, grad, graphs of graphs, hooks, modes, in-place changes, custom functions.
#include "parity/case.h"

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

PARITY_CASE(autograd, backward_accumulates) {
  auto x = c.leaf({3}), y = c.leaf({3});
  (x * y).sum().backward();
  c.out("first", x.grad());
  (x * x).sum().backward();
  c.out("second", x.grad());
  c.out("other", y.grad());
  x.mutable_grad().reset();
  c.check(!x.grad().defined(), "the gradient is gone after reset");
  auto z = (x * y).exp();
  z.backward(c.randn({3}));
  c.out("weighted", x.grad());
  c.throws("not_a_scalar", [&] { (x * 2).backward(); });
  c.throws("no_grad_needed", [&] { c.randn({}).backward(); });
}

PARITY_CASE(autograd, shared_subgraphs) {
  auto x = c.leaf({4});
  auto y = x.sin();
  auto z = y * y + y.exp() * x;
  c.backward("diamond", z, {x});
  auto w = x;
  for (int i = 0; i < 50; ++i) w = w * 1.01 + x * 0.01;
  c.backward("long_chain", w, {x});
}

PARITY_CASE(autograd, retain_graph) {
  auto x = c.leaf({3});
  auto y = (x * x).sum();
  y.backward({}, /*retain_graph=*/true);
  y.backward();
  c.out("twice", x.grad());
  c.throws("freed", [&] { y.backward(); });
}

PARITY_CASE(autograd, grad_function) {
  auto x = c.leaf({3}), y = c.leaf({3}), unused = c.leaf({2});
  auto out = (x * y).sum();
  auto grads = torch::autograd::grad({out}, {x, y}, {}, /*retain_graph=*/true);
  c.out("dx", grads[0]);
  c.out("dy", grads[1]);
  c.check(!x.grad().defined(), "grad() leaves .grad() alone");
  auto with_unused = torch::autograd::grad({out}, {unused, x}, {}, true, false, /*allow_unused=*/true);
  c.check(!with_unused[0].defined(), "an unused input has no gradient");
  c.throws("unused", [&] { torch::autograd::grad({out}, {unused}, {}, true); });
  auto middle = x * 2;
  auto z = (middle * middle).sum();
  c.out("of_middle", torch::autograd::grad({z}, {middle})[0]);
  c.throws("grad_output_shape", [&] { torch::autograd::grad({x * 2}, {x}, {c.randn({4})}); });
}

PARITY_CASE(autograd, second_derivatives) {
  auto x = c.leaf({4}, torch::kDouble);
  auto y = (x.pow(3) * x.sin()).sum();
  auto first = torch::autograd::grad({y}, {x}, {}, true, /*create_graph=*/true)[0];
  c.out("first", first);
  auto second = torch::autograd::grad({first.sum()}, {x}, {}, true, true)[0];
  c.out("second", second);
  c.out("third", torch::autograd::grad({second.sum()}, {x})[0]);
  auto w = c.leaf({3, 2}, torch::kDouble), v = c.leaf({5, 3}, torch::kDouble);
  auto loss = torch::tanh(v.mm(w)).pow(2).mean();
  auto g = torch::autograd::grad({loss}, {v}, {}, true, true)[0];
  auto penalty = (g.norm(2, {1}) - 1).pow(2).mean();  // as gradient-penalty GANs do
  penalty.backward();
  c.out("penalty", w.grad());
}

PARITY_CASE(autograd, retain_grad_and_leaves) {
  auto x = c.leaf({3});
  auto y = x * 2;
  y.retain_grad();
  (y * y).sum().backward();
  c.out("of_non_leaf", y.grad());
  c.value("x_is_leaf", x.is_leaf());
  c.value("y_is_leaf", y.is_leaf());
  c.value("y_requires", y.requires_grad());
  c.value("detached_requires", y.detach().requires_grad());
  c.value("grad_fn", y.grad_fn() != nullptr);
  auto leaf = y.detach().requires_grad_();
  c.value("new_leaf", leaf.is_leaf());
  c.throws("integers", [&] { c.arange({3}, torch::kLong).requires_grad_(); });
}

PARITY_CASE(autograd, modes) {
  auto x = c.leaf({3});
  {
    torch::NoGradGuard guard;
    c.value("no_grad", (x * 2).requires_grad());
    x.add_(1);
  }
  c.out("changed", x);
  {
    torch::NoGradGuard outer;
    torch::AutoGradMode inner(true);
    c.value("enabled_again", (x * 2).requires_grad());
  }
  c.value("after", (x * 2).requires_grad());
  c.value("mode", torch::GradMode::is_enabled());
  Tensor inference;
  {
    torch::InferenceMode guard;
    inference = x * 2;
    c.value("inference", inference.requires_grad());
    c.value("is_inference", inference.is_inference());
  }
  c.throws("inference_saved", [&] { (x * inference).sum().backward(); });
  c.throws("in_place_on_leaf", [&] { x.add_(1); });
  c.throws("in_place_on_view_of_leaf", [&] {
    x[0] = 5;
    x.view({3}).mul_(2);
  });
}

PARITY_CASE(autograd, version_checks) {
  auto x = c.leaf({3});
  auto y = x.exp();
  auto z = y.sum();
  y.mul_(2);
  c.throws("result_changed", [&] { z.backward(); });
  auto a = x * 1;
  auto b = a * a;
  a.add_(1);
  c.throws("input_changed", [&] { b.sum().backward(); });
  auto d = x * 1;
  auto e = d * 2;  // saves nothing of d
  d.add_(1);
  c.backward("not_saved", e, {x});
  auto saved = x * 1;
  auto f = saved.sin();
  saved.detach().add_(1);
  c.throws("changed_through_detach", [&] { f.sum().backward(); });
  auto g = x * 1;
  auto h = g.sin();
  g.data().add_(1);  // .data() has its own version
  h.sum().backward();
  c.out("through_data", x.grad());
}

PARITY_CASE(autograd, in_place) {
  auto x = c.leaf({3, 4}), v = c.leaf({4});
  auto y = x * 2;
  y.add_(v).mul_(v).sigmoid_();
  c.backward("chain", y, {x, v});
  auto z = x * 1;
  z.select(0, 1).mul_(v);
  c.backward("through_select", z * z, {x, v});
  auto w = x * 1;
  auto view = w.view({12});
  view.slice(0, 2, 6).zero_();
  c.backward("view_sees_it", view * 3, {x});
  c.backward("base_sees_it", w * 3, {x});
  auto t = x.clone();
  t.t().copy_(c.leaf({4, 3}).detach() * 2);
  c.backward("overwritten", t + x, {x});
  auto zeros = torch::zeros({3, 4});
  zeros.narrow(0, 1, 1).copy_(v);  // a tensor without history gains one
  c.value("gains_grad", zeros.requires_grad());
  c.backward("gained", zeros * 2, {v});
}

PARITY_CASE(autograd, hooks) {
  auto x = c.leaf({3});
  int calls = 0;
  auto handle = x.register_hook([&](Tensor grad) {
    ++calls;
    return grad * 2;
  });
  (x * x).sum().backward();
  c.out("doubled", x.grad());
  x.remove_hook(handle);
  x.mutable_grad().reset();
  (x * x).sum().backward();
  c.out("removed", x.grad());
  c.value("calls", calls);
  auto y = x * 3;
  Tensor seen;
  y.register_hook([&](Tensor grad) { seen = grad.clone(); });
  (y * y).sum().backward();
  c.out("seen", seen);
}

namespace {

struct Cube : torch::autograd::Function<Cube> {
  static Tensor forward(AutogradContext* ctx, Tensor x, double factor) {
    ctx->save_for_backward({x});
    ctx->saved_data["factor"] = factor;
    return x * x * x * factor;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto x = ctx->get_saved_variables()[0];
    const double factor = ctx->saved_data["factor"].toDouble();
    return {grads[0] * x * x * 3 * factor, Tensor()};
  }
};

struct TwoOutputs : torch::autograd::Function<TwoOutputs> {
  static variable_list forward(AutogradContext* ctx, Tensor a, Tensor b) {
    ctx->save_for_backward({a, b});
    return {a * b, a + b};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto saved = ctx->get_saved_variables();
    return {grads[0] * saved[1] + grads[1], grads[0] * saved[0] + grads[1]};
  }
};

struct Clipped : torch::autograd::Function<Clipped> {  // a straight-through estimator
  static Tensor forward(AutogradContext*, Tensor x) { return torch::sign(x); }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0].clamp(-0.5, 0.5)}; }
};

}  // namespace

PARITY_CASE(autograd, custom_functions) {
  auto x = c.leaf({4});
  c.gradients("cube", {x}, [&] { return Cube::apply(x, 0.5); });
  auto a = c.leaf({3}), b = c.leaf({3});
  auto both = TwoOutputs::apply(a, b);
  c.out("product", both[0]);
  c.backward("both", both[0] * both[1], {a, b});
  c.backward("one_unused", TwoOutputs::apply(a, b)[1], {a, b});
  c.gradients("straight_through", {x}, [&] { return Clipped::apply(x * 2); });
  auto d = c.leaf({3}, torch::kDouble);
  c.gradcheck([&] { return Cube::apply(d, 2.0); }, {d});
  c.gradgradcheck([&] { return Cube::apply(d, 2.0); }, {d});
}

PARITY_CASE(autograd, detach_and_set_data) {
  auto x = c.leaf({3});
  auto y = x.detach();
  c.check(y.data_ptr() == x.data_ptr(), "detach() shares memory");
  auto z = (x * 2).detach_();
  c.value("detached_in_place", z.requires_grad());
  x.set_data(c.randn({3}));
  (x * x).sum().backward();
  c.out("after_set_data", x.grad());
  auto clone = x.clone();
  c.backward("clone", clone * clone, {x});
}

PARITY_CASE(autograd, dtypes_of_gradients) {
  auto x = c.leaf({3}, torch::kHalf), y = c.leaf({3});
  c.gradients("mixed", {x, y}, [&] { return x * y; });
  auto z = c.leaf({3}, torch::kBFloat16);
  z.to(torch::kFloat).pow(2).sum().backward();
  c.out("bf16_leaf", z.grad());
}

PARITY_CASE(autograd, threads_and_depth) {
  auto x = c.leaf({2});
  auto y = x;
  for (int i = 0; i < 20000; ++i) y = y + 1;  // deep enough to end a recursive engine
  c.backward("deep", y, {x});
}

PARITY_CASE(autograd, views_made_without_grad) {
  auto w = c.leaf({2, 3});
  const auto flags = [&](const std::string& name, const torch::Tensor& t) {
    c.value(name + ".requires_grad", t.requires_grad());
    c.value(name + ".is_leaf", t.is_leaf());
  };
  torch::Tensor view;
  {
    torch::NoGradGuard no_grad;
    view = w.view({6});
    flags("view", view);
    flags("select", w[0]);
    flags("of_view", view.slice(0, 1, 4));
    flags("detached", w.detach());
    flags("product", w * 2);
  }
  {
    torch::InferenceMode inference;
    flags("inference", w.t());
  }
  flags("outside", view);
  // What is computed from it is recorded, but no gradient arrives.
  const auto sum = (view * w.view({6})).sum();
  sum.backward();
  c.out("grad", w.grad());
  c.value("view.grad", view.grad().defined());
  const auto early = torch::zeros({3});
  const auto before = early[0];
  flags("before", before);
  early.requires_grad_(true);
  flags("after", before);
}
PARITY_CASE(autograd, frozen_after_the_forward_pass) {
  const auto l = c.leaf({3}), m = c.leaf({3});
  const auto y = (l * m).sum();
  l.requires_grad_(false);
  y.backward();
  c.value("frozen", l.grad().defined()), c.out("other", m.grad());
}
PARITY_CASE(autograd, overwritten_values) {
  const auto a = c.leaf({2, 3}), b = c.leaf({2, 3}), row = c.leaf({3});
  const auto overwritten = [&](const std::string& name, const Tensor& by) {
    c.scope(name, [&] {
      for (const auto& t : {a, b, row}) t.mutable_grad() = Tensor();
      auto x = a * 1;
      x.copy_(by);
      c.value("requires_grad", x.requires_grad());
      if (!x.requires_grad()) return;
      x.pow(2).sum().backward();
      for (const auto& [of, t] : {std::pair{"a", a}, {"b", b}, {"row", row}}) {
        c.value(std::string(of) + " defined", t.grad().defined());
        if (t.grad().defined()) c.out(of, t.grad());
      }
    });
  };
  overwritten("a leaf", b), overwritten("a row", row), overwritten("constants", c.randn({2, 3}));
}
