// The autograd API, gradients written by programs and undefined tensors used wrongly.
#include "parity/bad.h"

using torch::Tensor;
using Tensors = std::vector<Tensor>;

namespace {

struct Twice : torch::autograd::Function<Twice> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, Tensor x) {
    ctx->save_for_backward({x});
    return x * 2;
  }
  static Tensors backward(torch::autograd::AutogradContext* ctx, Tensors g) { return {g[0] * 2, g[0]}; }
};
struct Few : torch::autograd::Function<Few> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, Tensor x, Tensor y) { return x * y; }
  static Tensors backward(torch::autograd::AutogradContext* ctx, Tensors g) { return {g[0]}; }
};
struct Wide : torch::autograd::Function<Wide> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, Tensor x) { return x * 2; }
  static Tensors backward(torch::autograd::AutogradContext* ctx, Tensors g) { return {torch::cat({g[0], g[0]})}; }
};
struct Dirty : torch::autograd::Function<Dirty> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, Tensor x) {
    ctx->mark_dirty({x});
    x.add_(1);
    return x;
  }
  static Tensors backward(torch::autograd::AutogradContext* ctx, Tensors g) { return {g[0]}; }
};
struct Nondiff : torch::autograd::Function<Nondiff> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, Tensor x) {
    auto y = x * 2;
    ctx->mark_non_differentiable({y});
    return y;
  }
  static Tensors backward(torch::autograd::AutogradContext* ctx, Tensors g) { return {g[0]}; }
};
struct Saved2 : torch::autograd::Function<Saved2> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, Tensor x) {
    ctx->save_for_backward({x});
    ctx->saved_data["k"] = 3;
    return x * 2;
  }
  static Tensors backward(torch::autograd::AutogradContext* ctx, Tensors g) {
    ctx->saved_data["k"].toTensor();
    return {g[0]};
  }
};
struct Intback : torch::autograd::Function<Intback> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, Tensor x) { return x * 2; }
  static Tensors backward(torch::autograd::AutogradContext* ctx, Tensors g) {
    throw std::invalid_argument("of the backward");
  }
};

}  // namespace

PARITY_CASE(bad_autograd, graphs) {
  const auto x = c.leaf({3}), far = c.leaf({3});
  SAYS("'inputs' argument to backward cannot be empty",
       x.sum().backward({}, std::nullopt, false, std::vector<Tensor>{}));
  SAYS("invalid gradient at index 0 - got [4] but expected shape compatible with [3]",
       (x * 2).backward(torch::ones({4})));
  BAD((x * 2).sum().backward({}, false, false, std::vector<Tensor>{c.randn({3})}));
  BAD(torch::autograd::backward({Tensor()}, {}));
  SAYS("got 2 tensors and 1 gradients", torch::autograd::backward({x.sum(), x.sum()}, {torch::ones({})}));
  SAYS("of the differentiated Tensors appears to not have been used in the graph. Set", torch::autograd::grad({}, {x}));
  SAYS("grad requires non-empty inputs.", torch::autograd::grad({x.sum()}, {}));
  BAD(torch::autograd::grad({x.sum()}, {Tensor()}));
  SAYS("of the differentiated Tensors appears to not have been used in the graph. Set",
       torch::autograd::grad({x.sum()}, {x, far}));
  SAYS("element 0 of tensors does not require grad and does not have a grad_fn",
       torch::autograd::grad({c.randn({})}, {x}));
  SAYS("element 0 of the input tensors does not require grad", torch::autograd::grad({x.sum()}, {x.detach()}));
  SAYS("Trying to backward through the graph a second time (or directly access saved tensors", auto y = x * x;
       torch::autograd::grad({y.sum()}, {x}); torch::autograd::grad({y.sum()}, {x}));
  SAYS("element 0 of tensors does not require grad and does not have a grad_fn",
       auto g = torch::autograd::grad({(x * x).sum()}, {x})[0];
       torch::autograd::grad({g.sum()}, {x}));
  SAYS("a leaf Variable that requires grad is being used in an in-place operation.", x.add_(1));
  SAYS("one of the variables needed for gradient computation has been modified by an inplace", auto y = x.exp();
       y.add_(1); y.sum().backward());
  SAYS("one of the variables needed for gradient computation has been modified by an inplace", auto y = x * 1;
       auto z = y * y; y.mul_(2); z.sum().backward());
  SAYS("cannot resize variables that require grad", auto y = x * 1; auto v = y.view({3}); v.resize_({5}));
  SAYS("cannot resize variables that require grad", x.resize_({5}));
  SAYS("data set to a tensor that requires gradients must be floating point or complex dtype",
       x.set_data(torch::ones({3}, torch::kLong)));
  BAD(x.set_data(Tensor()));
  SAYS("can't retain_grad on Tensor that has requires_grad=False", x.detach().retain_grad());
  SAYS("Only Tensors of floating point and complex dtype can require gradients",
       (x * 2).detach().set_requires_grad(true).to(torch::kLong).set_requires_grad(true));
  SAYS("hook '0' has changed the size of value", auto y = c.leaf({2});
       y.register_hook([](Tensor g) { return torch::ones({5}); }); y.sum().backward());
  SAYS("of the hook", auto y = c.leaf({2});
       y.register_hook([](Tensor g) -> Tensor { throw std::domain_error("of the hook"); }); y.sum().backward());
  SAYS("Invalid index, no hook at position 7", auto y = c.leaf({2}); y.remove_hook(7));
  SAYS("Invalid index, no hook at position 0", c.randn({2}).remove_hook(0));
  SAYS("Twice> returned an incorrect number of gradients", auto y = c.leaf({2}); Twice::apply(y).sum().backward());
  SAYS("Few> returned an incorrect number of gradients", auto y = c.leaf({2}), z = c.leaf({2});
       Few::apply(y, z).sum().backward());
  SAYS("Wide> returned an invalid gradient at index 0 - got", auto y = c.leaf({2}); Wide::apply(y).sum().backward());
  SAYS("a leaf Variable that requires grad has been used in an in-place operation.", auto y = c.leaf({2});
       Dirty::apply(y).sum().backward());
  SAYS("element 0 of tensors does not require grad and does not have a grad_fn", auto y = c.leaf({2});
       Nondiff::apply(y).sum().backward());
  SAYS("Expected Tensor but got Int", auto y = c.leaf({2}); Saved2::apply(y).sum().backward());
  SAYS("of the backward", auto y = c.leaf({2}); Intback::apply(y).sum().backward());
  SAYS("Expected Tensor but got Int", auto y = c.leaf({2}); auto z = Saved2::apply(y); y.detach().add_(1);
       z.sum().backward());
  SAYS("element 0 of tensors does not require grad and does not have a grad_fn", torch::NoGradGuard g;
       auto y = c.leaf({2}); (y * 2).sum().backward());
  SAYS("element 0 of tensors does not require grad and does not have a grad_fn", torch::InferenceMode g;
       auto y = torch::ones({2}); y.requires_grad_(); y.sum().backward());
  SAYS(
      "Inference tensors cannot be saved for backward. Please do not use Tensors created in", Tensor t;
      {
        torch::InferenceMode g;
        t = torch::ones({3});
      }(x * t)
          .sum()
          .backward());
  SAYS(
      "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.", Tensor t; {
        torch::InferenceMode g;
        t = torch::ones({3});
      } t.requires_grad_());
  SAYS(
      "Inplace update to inference tensor outside InferenceMode is not allowed.", Tensor t; {
        torch::InferenceMode g;
        t = torch::ones({3});
      } t.add_(1));
  SAYS(
      "Inference tensors do not track version counter.", Tensor t; {
        torch::InferenceMode g;
        t = torch::ones({3});
      } t._version());
  SAYS(
      "Function 'LogBackward0' returned nan values in its 0th output.", torch::autograd::AnomalyMode::set_enabled(true);
      struct Off {
        ~Off() { torch::autograd::AnomalyMode::set_enabled(false); }
      } off;
      auto y = torch::zeros({2}).requires_grad_(); (y / y).log().sum().backward());
}

PARITY_CASE(bad_autograd, hooks_of_leaves) {
  SAYS("has changed the type of value (was", auto y = c.leaf({2});
       y.register_hook([](Tensor g) { return g.to(torch::kDouble); }); y.sum().backward());
  SAYS("has changed the size of value", auto y = c.leaf({2}); y.register_hook([](Tensor g) {
    return g.expand({2, 2});
  });
       (y * 2).sum().backward());
}

PARITY_CASE(bad_autograd, undefined) {
  SAYS("cannot register a hook on a variable that doesn't require gradient",
       Tensor().register_hook([](Tensor g) { return g; }));
  BAD(Tensor().requires_grad_());
  BAD(Tensor().grad());
  SAYS("Expected a proper Tensor but got None (or an undefined Tensor in C++)", Tensor().detach());
  BAD(Tensor().is_leaf());
  BAD(Tensor().grad_fn());
  SAYS("can't retain_grad on Tensor that has requires_grad=False", Tensor().retain_grad());
  BAD(Tensor().data_ptr<float>());
  SAYS("Expected a proper Tensor but got None (or an undefined Tensor in C++)", Tensor().clone());
  SAYS("Expected a proper Tensor but got None (or an undefined Tensor in C++)", Tensor().to(torch::kDouble));
  SAYS("Expected a proper Tensor but got None (or an undefined Tensor in C++)", Tensor().view({1}));
}
