// Functions with a backward of their own: what they save, change in place, leave undefined or get wrong is drawn.
#include "own_functions.h"

namespace random_calls {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// x * y * factor, from what was saved.
class Product : public torch::autograd::Function<Product> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& y, double factor) {
    context->saved_data["factor"] = factor;
    context->save_for_backward({x, y});
    return x * y * factor;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const double factor = context->saved_data["factor"].toDouble();
    Tensor of_x, of_y;
    if (context->needs_input_grad(0)) of_x = (gradients[0] * saved[1] * factor).sum_to_size(saved[0].sizes());
    if (context->needs_input_grad(1)) of_y = (gradients[0] * saved[0] * factor).sum_to_size(saved[1].sizes());
    return {of_x, of_y, Tensor()};
  }
};

/// exp(x), whose result is saved.
class Exponential : public torch::autograd::Function<Exponential> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    const Tensor y = x.clamp_max(2).exp();
    context->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {gradients[0] * context->get_saved_variables()[0]};
  }
};

/// x doubled in place.
class Doubled : public torch::autograd::Function<Doubled> {
 public:
  static Tensor forward(AutogradContext* context, Tensor x, bool marked) {
    x.mul_(2);
    if (marked) context->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list gradients) { return {gradients[0] * 2, Tensor()}; }
};

/// Two results and a third that has no gradient. Without materialized gradients some are undefined.
class Several : public torch::autograd::Function<Several> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& y, bool materialized) {
    context->set_materialize_grads(materialized);
    const Tensor larger = x > 0.5;
    context->mark_non_differentiable({larger});
    context->saved_data["sizes"] = y.sizes().vec();
    return {x * 2, y.sum(), larger};
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto sizes = context->saved_data["sizes"].toIntVector();
    return {gradients[0].defined() ? gradients[0] * 2 : Tensor(),
            gradients[1].defined() ? gradients[1].expand(sizes) : Tensor(), Tensor()};
  }
};

/// x as it is, or a view of it, whose gradient is tripled.
class Same : public torch::autograd::Function<Same> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, bool view) {
    context->saved_data["sizes"] = x.sizes();
    return view ? x.flatten() : x;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {gradients[0].reshape(context->saved_data["sizes"].toIntVector()) * 3, Tensor()};
  }
};

/// What x and perhaps y add up to, with gradients that are too few, of another shape or dtype, or missing.
class Total : public torch::autograd::Function<Total> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const std::optional<Tensor>& y, int64_t kind) {
    context->saved_data["kind"] = kind;
    context->saved_data["x"] = x;
    return y ? x.sum() + y->sum() : x.sum();
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const Tensor x = context->saved_data["x"].toTensor();
    switch (context->saved_data["kind"].toInt()) {
      case 0:
        return {gradients[0].expand(x.sizes())};  // one too few
      case 1:
        return {torch::ones({7}, x.options()), Tensor(), Tensor()};  // of another shape
      case 2:
        return {gradients[0].expand(x.sizes()).to(torch::kFloat), Tensor(), Tensor()};
      case 3:
        return {gradients[0], Tensor(), torch::ones({})};  // broadcast; and a gradient of a number
      default:
        return {Tensor(), Tensor(), Tensor()};
    }
  }
};

}  // namespace

Tensors own_function(Inputs& in, const Tensor& x, const Tensor& y) {
  in.note("own");
  switch (in.between(0, 6)) {
    case 0:
      return {Exponential::apply(x)};
    case 1:
      return {Doubled::apply(x, !in.one_of(4))};
    case 2:
      return Several::apply(x, y, in.coin());
    case 3:
      return {Same::apply(x, in.coin())};
    case 4:
      return {Total::apply(x, in.coin() ? std::optional<Tensor>(y) : std::nullopt, in.between(0, 4))};
    default:
      return {Product::apply(x, y, 0.5)};
  }
}

}  // namespace random_calls
