// autograd::Function beyond the plain case: in-place, results without gradients, inputs returned as they are,
// gradients that did not arrive, arguments that are no tensors, wrong answers.
#include "parity/case.h"

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

struct DoubleInPlace : torch::autograd::Function<DoubleInPlace> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    x.mul_(2);
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};

struct SortWithIndices : torch::autograd::Function<SortWithIndices> {
  static variable_list forward(AutogradContext* ctx, Tensor x) {
    auto sorted = x.sort();
    auto indices = std::get<1>(sorted);
    ctx->mark_non_differentiable({indices});
    ctx->save_for_backward({indices});
    return {std::get<0>(sorted), indices};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto indices = ctx->get_saved_variables()[0];
    return {torch::zeros_like(grads[0]).scatter(0, indices, grads[0])};
  }
};

struct Through : torch::autograd::Function<Through> {
  static Tensor forward(AutogradContext*, Tensor x) { return x; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 10}; }
};

/// A change in place that is not told, or that is told of what does not come back.
struct Untold : torch::autograd::Function<Untold> {
  static Tensor forward(AutogradContext*, Tensor x) { return x.mul_(2); }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};
struct NotReturned : torch::autograd::Function<NotReturned> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    ctx->mark_dirty({x});
    return x.mul_(2) + 1;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};
struct DirtyAndMore : torch::autograd::Function<DirtyAndMore> {
  static variable_list forward(AutogradContext* ctx, Tensor x) {
    ctx->mark_dirty({x});
    return {x.mul_(2), x.sum()};
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};
struct ThroughView : torch::autograd::Function<ThroughView> {
  static Tensor forward(AutogradContext*, Tensor x) { return x.view({-1}); }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0].view({1, 3}) * 10}; }
};

struct SavesResult : torch::autograd::Function<SavesResult> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    auto y = x.exp();
    ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * ctx->get_saved_variables()[0]};
  }
};

template <bool Materialize>
struct Pair : torch::autograd::Function<Pair<Materialize>> {
  static variable_list forward(AutogradContext* ctx, Tensor x) {
    ctx->set_materialize_grads(Materialize);
    return {x * 2, x * 3};
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    auto total = torch::zeros({3});
    if (grads[0].defined()) total = total + 2 * grads[0] + 1;
    if (grads[1].defined()) total = total + 3 * grads[1] + 100;
    return {total};
  }
};

struct ManyArguments : torch::autograd::Function<ManyArguments> {
  static Tensor forward(AutogradContext* ctx, int64_t power, Tensor x, const std::string& how, std::optional<Tensor> y,
                        bool negate) {
    ctx->saved_data["power"] = power;
    ctx->saved_data["how"] = how;
    ctx->saved_data["negate"] = negate;
    ctx->saved_data["list"] = std::vector<int64_t>{1, 2, 3};
    ctx->save_for_backward({x, y ? *y : Tensor()});
    auto z = x.pow(power);
    if (y) z = z + *y;
    return negate ? -z : z;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto power = ctx->saved_data["power"].toInt();
    const double sign = ctx->saved_data["negate"].toBool() ? -1 : 1;
    const double length = static_cast<double>(ctx->saved_data["list"].toIntVector().size());
    TORCH_CHECK(ctx->saved_data["how"].toStringRef() == "so", "the text is not what it was");
    auto dx = grads[0] * sign * static_cast<double>(power) * saved[0].pow(power - 1) * (length / 3);
    auto dy = saved[1].defined() ? grads[0] * sign : Tensor();
    return {Tensor(), dx, Tensor(), dy, Tensor()};
  }
};

struct TooFew : torch::autograd::Function<TooFew> {
  static Tensor forward(AutogradContext*, Tensor x, Tensor y) { return x + y; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0]}; }
};

struct ForNumber : torch::autograd::Function<ForNumber> {
  static Tensor forward(AutogradContext*, Tensor x, double by) { return x * by; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0], grads[0]}; }
};

struct Thrower : torch::autograd::Function<Thrower> {
  static Tensor forward(AutogradContext*, Tensor x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list) { throw std::runtime_error("no gradient today"); }
};

}  // namespace

PARITY_CASE(custom_function, in_place) {
  auto x = c.leaf({3});
  auto y = x * 1;
  auto z = DoubleInPlace::apply(y);
  c.check(z.is_same(y), "an input that was changed in place is what comes back");
  c.out("y", y);
  c.backward("dx", y.sin(), {x});
  c.throws("leaf", [&] { DoubleInPlace::apply(c.leaf({2})); });
}

PARITY_CASE(custom_function, non_differentiable) {
  auto x = c.leaf({6});
  auto results = SortWithIndices::apply(x);
  c.check(results[0].requires_grad() && !results[1].requires_grad(), "only the values require a gradient");
  c.out("indices", results[1]);
  c.backward("dx", results[0] * torch::arange(6), {x});
}

PARITY_CASE(custom_function, input_returned) {
  auto x = c.leaf({3});
  auto y = Through::apply(x);
  c.check(!y.is_same(x), "an input that is returned comes back as another tensor");
  c.backward("dx", y * y, {x});
  auto plain = c.randn({3});
  c.check(!Through::apply(plain).requires_grad(), "nothing is recorded without need");
}

PARITY_CASE(custom_function, not_recorded) {
  const auto known = [](const Tensor& t) {
    return torch::tensor({t.requires_grad(), t.is_leaf(), t.is_view(), t.grad_fn() != nullptr});
  };
  const auto leaf = c.leaf({3}), plain = c.randn({3}), row = c.leaf({1, 3});
  {
    const torch::NoGradGuard no_grad;
    c.out("leaf", known(Through::apply(leaf)));
    c.out("result", known(Through::apply(leaf * 2)));
    c.out("view", known(ThroughView::apply(row)));
  }
  c.out("plain", known(Through::apply(plain)));
  c.out("changed", known(Untold::apply(plain)));
  const auto y = DoubleInPlace::apply(plain);
  c.check(y.is_same(plain), "an input that was changed in place is what comes back");
  c.out("versions", torch::tensor({static_cast<int64_t>(y._version())}));
  auto z = Through::apply(leaf);
  c.throws("input returned, then changed", [&] { z.mul_(2); });
  auto v = ThroughView::apply(row);
  c.throws("view returned, then changed", [&] { v.mul_(2); });
}

PARITY_CASE(custom_function, wrong_marks) {
  const auto x = c.leaf({3});
  auto y = x * 1;
  c.throws("not returned", [&] { NotReturned::apply(y); });
  y = x * 1;
  c.throws("a view and more", [&] { DirtyAndMore::apply(y.slice(0, 0, 2)); });
  y = c.randn({3});
  c.throws("not returned, without a gradient", [&] { NotReturned::apply(y); });
  c.out("version", torch::tensor({static_cast<int64_t>(y._version())}));
}

PARITY_CASE(custom_function, saves_result) {
  auto x = c.leaf({3});
  auto y = SavesResult::apply(x);
  c.backward("dx", y, {x});
  auto x2 = c.leaf({3});
  auto first = torch::autograd::grad({SavesResult::apply(x2).sum()}, {x2}, {}, true, /*create_graph=*/true)[0];
  c.out("second", torch::autograd::grad({first.sum()}, {x2})[0]);
  auto z = SavesResult::apply(x);
  z.add_(1);
  c.throws("changed", [&] { z.sum().backward(); });
  auto twice = SavesResult::apply(x).sum();
  twice.backward();
  c.throws("freed", [&] { twice.backward(); });
}

PARITY_CASE(custom_function, materialize) {
  auto x = c.leaf({3}), x2 = c.leaf({3});
  Pair<true>::apply(x)[0].sum().backward();
  c.out("zeros", x.grad());
  Pair<false>::apply(x2)[1].sum().backward();
  c.out("undefined", x2.grad());
}

PARITY_CASE(custom_function, arguments) {
  auto x = c.leaf({3}), y = c.leaf({3});
  c.backward("both", ManyArguments::apply(3, x, "so", y, true), {x, y});
  auto x2 = c.leaf({3});
  c.backward("one", ManyArguments::apply(2, x2, std::string("so"), std::nullopt, false), {x2});
}

PARITY_CASE(custom_function, wrong_answers) {
  auto x = c.leaf({3}), y = c.leaf({3});
  c.throws("too_few", [&] { TooFew::apply(x, y).sum().backward(); });
  c.throws("for_number", [&] { ForNumber::apply(x, 2.0).sum().backward(); });
  c.throws("user", [&] { Thrower::apply(x).sum().backward(); });
}
