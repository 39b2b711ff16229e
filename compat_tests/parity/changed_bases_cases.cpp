// Views whose base, and parts of values whose memory, changed before their gradients were asked for.
#include "parity/case.h"

#include <cmath>
#include <string>
#include <vector>

using torch::Tensor;
using List = std::vector<int64_t>;

namespace {
/// The gradients of the squares of y.
void gradients(parity::Case& c, const std::string& name, const Tensor& y, const std::vector<Tensor>& in) {
  const auto g = torch::autograd::grad({(y * y).sum()}, in, {}, false, false, true);
  for (size_t i = 0; i < g.size(); ++i)
    if (g[i].defined()) c.out(name + " g" + std::to_string(i), g[i]);
}
void change(const Tensor& leaf) {
  torch::NoGradGuard no_grad;
  leaf.mul_(2);
}
}  // namespace

PARITY_CASE(changed_bases, views_that_repeat_elements) {
  auto x = c.leaf({3, 4}, torch::kDouble);
  const auto expanded = x.unsqueeze(0).expand({2, 3, 4}), windows = x.unfold(1, 3, 1), diagonal = x.diagonal();
  change(x);
  gradients(c, "expanded", expanded, {x});
  gradients(c, "unfolded", windows, {x});
  gradients(c, "diagonal", diagonal, {x});
  auto y = (x * 1).expand({2, 3, 4});
  const auto part = y.select(0, 1);
  change(x);
  gradients(c, "part of an expanded one", part, {x});
}

PARITY_CASE(changed_bases, weights_of_a_norm) {
  for (const bool training : {true, false}) {
    auto x = c.leaf({3, 2, 4}, torch::kDouble), w = c.leaf({1}, torch::kDouble), wide = c.leaf({4}, torch::kDouble);
    const auto mean = c.randn({2}, torch::kDouble), variance = c.rand({2}, torch::kDouble, 0.5, 1.5);
    for (const auto& weight : {w.expand({2}), wide.slice(0, 0, 4, 2)}) {
      const auto y = torch::batch_norm(x, weight, weight, mean, variance, training, 0.1, 1e-3, false);
      gradients(c, training ? "trained" : "evaluated", y, {x, w, wide});
    }
  }
}

PARITY_CASE(changed_bases, other_data) {
  auto a = c.leaf({}, torch::kDouble), b = c.leaf({}, torch::kDouble);
  const auto sum = a + b;
  sum.set_data(c.randn({2, 3}, torch::kDouble));
  gradients(c, "a part of other sizes", sum.select(0, 0), {a, b});
}

PARITY_CASE(changed_bases, in_place) {
  auto x = c.leaf({2, 3});
  c.throws("a leaf from itself", [&] { x.copy_(x); });
  auto y = x * 1, z = x.detach().clone();
  y.copy_(y);
  z.copy_(z);
  c.value("version of a copy of itself", static_cast<int64_t>(z._version()));
  gradients(c, "a copy of itself", y, {x});
  auto wide = z.select(0, 0).expand({4, 3});
  wide.unsqueeze_(0).transpose_(1, 2);
  c.layout("expanded", wide);
  c.throws("a sum into an expanded one", [&] { wide.add_(1); });
}

PARITY_CASE(changed_bases, views_made_without_a_gradient) {
  auto x = c.leaf({2, 3});
  Tensor view;
  {
    torch::NoGradGuard no_grad;
    view = x.select(0, 0);
    x.mul_(2);
  }
  c.value("leaf", view.is_leaf());
  c.value("wants a gradient", view.requires_grad());
  c.throws("its history", [&] { view.grad_fn(); });
  c.out("detached", view.detach());
  view.requires_grad_(false);
  auto plain = c.randn({2, 3});
  Tensor part;
  {
    torch::NoGradGuard no_grad;
    part = plain.view({3, 2});
  }
  part.requires_grad_();
  const auto row = part.select(0, 1);
  plain.add_(1);
  c.throws("a view of it", [&] { (row * row).sum().backward(); });
}

PARITY_CASE(changed_bases, order_of_memory) {
  const auto x = c.randn({2, 3, 4}), turned = c.randn({4, 3, 2}).transpose(0, 2);
  const auto wide = c.randn({3, 4}).unsqueeze(0).expand({2, 3, 4}), row = c.randn({4});
  const auto inner = c.randn({2, 4, 3}).transpose(1, 2);
  const std::vector<std::pair<std::string, Tensor>> all = {
      {"plain", x}, {"turned", turned}, {"wide", wide}, {"row", row}, {"inner", inner}, {"column", c.randn({3, 1})}};
  for (const auto& [first, a] : all)
    for (const auto& [second, b] : all) {
      c.layout(first + " and " + second, a + b);
      auto out = torch::empty({0});
      c.layout(first + " into " + second, torch::mul_out(out, a, b));
      c.layout(first + " where " + second, torch::where(a > 0, b, turned));
    }
  auto out = torch::empty({0});
  c.layout("exp", torch::exp_out(out, turned));
  c.layout("clone", at::clone_out(out = torch::empty({0}), turned));
  c.layout("flip", at::flip_out(out = torch::empty({0}), turned, {0}));
  c.layout("cut", torch::constant_pad_nd(turned, {-1, 0}));
}

// It says that it requires a gradient, as its base does, and no gradient reaches it.
PARITY_CASE(changed_bases, gradients_of_a_view_without_history) {
  const auto x = c.leaf({3, 1});
  Tensor view;
  {
    const torch::NoGradGuard no_grad;
    view = x.view({3});
  }
  x.square().sum().backward({}, true, false, std::vector<Tensor>{view});
  c.text("backward", c10::str(view.requires_grad(), view.grad().defined(), x.grad().defined()));
  const auto gradients = torch::autograd::grad({x.square().sum()}, {view, x}, {}, true, false, true);
  c.text("grad", c10::str(gradients[0].defined()));
  c.out("grad of the base", gradients[1]);
  c.throws("unused", [&] { torch::autograd::grad({x.square().sum()}, {view}); });
}
