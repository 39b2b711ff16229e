#pragma once
// Gradients of functions, as values: torch::value_and_grad, torch::grad, and clipping of such gradients.

#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/autograd.h>
#include <halfbridge/bridge/nn/hooks.h>
#include <halfbridge/tensor.h>

namespace hb {

namespace detail {

/// An argument that is differentiated: a leaf of its own, or, where it has a history, a view whose gradient can be
/// differentiated again.
HB_API Tensor differentiable_input(const Tensor& input, bool& create_graph);
/// The gradients of `outputs` with respect to `inputs`, each in memory of its own as backward() leaves them. Undefined
/// where an input was not used or does not require a gradient.
HB_API std::vector<Tensor> gradients_of(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                        bool create_graph);

template <class T>
constexpr bool is_tensor_argument = std::is_same_v<std::decay_t<T>, Tensor>;

struct NoArgnums {};

// One gradient for one number, a list for a list.
template <class Argnums>
auto input_grads(std::vector<Tensor> grads) {
  if constexpr (std::is_integral_v<Argnums>)
    return std::move(grads.front());
  else
    return grads;
}

/// What value_and_grad returns. `Argnums`: NoArgnums, int64_t or std::vector<int64_t>.
template <class F, class Argnums, bool with_params>
class ValueAndGrad {
 public:
  ValueAndGrad(F forward, Argnums argnums, std::vector<Tensor> params, bool has_aux)
      : forward_(std::move(forward)), argnums_(std::move(argnums)), params_(std::move(params)), has_aux_(has_aux) {}

  /// (value, gradients): of the inputs, of the parameters, or the pair of both.
  template <class... Args>
  auto operator()(const Args&... inputs) {
    std::vector<Tensor> grads;
    auto value = run(grads, inputs...);
    if constexpr (std::is_same_v<Argnums, NoArgnums>) {
      return std::make_pair(std::move(value), std::move(grads));
    } else if constexpr (!with_params) {
      return std::make_pair(std::move(value), input_grads<Argnums>(std::move(grads)));
    } else {
      const auto middle = grads.end() - static_cast<std::ptrdiff_t>(params_.size());
      std::vector<Tensor> of_params(middle, grads.end());
      grads.erase(middle, grads.end());
      return std::make_pair(std::move(value),
                            std::make_pair(input_grads<Argnums>(std::move(grads)), std::move(of_params)));
    }
  }

 private:
  template <class... Args>
  auto run(std::vector<Tensor>& grads, const Args&... inputs) {
    std::tuple<std::decay_t<Args>...> arguments(inputs...);
    bool create_graph = false;
    std::vector<Tensor> wanted = pick_inputs(arguments, create_graph);
    wanted.insert(wanted.end(), params_.begin(), params_.end());
    AutoGradMode enable_grad(true);
    auto value = std::apply([&](auto&... a) { return forward_(a...); }, arguments);
    bridge::nn::TensorPointers outputs;
    bridge::nn::detail::collect_tensors(value, outputs);
    HB_CHECK(!outputs.empty(), "[value_and_grad] expected the function to return a tensor, or several, got none");
    HB_CHECK(!has_aux_ || outputs.size() > 1,
             "[value_and_grad] expected the function to return more than one tensor with has_aux, got one");
    std::vector<Tensor> differentiated;
    for (const Tensor* t : outputs)
      if (differentiated.empty() || !has_aux_) differentiated.push_back(*t);
    grads = gradients_of(differentiated, wanted, create_graph);
    if (!create_graph)
      for (Tensor* t : outputs)
        if (t->defined()) *t = t->detach();
    return value;
  }
  template <class Tuple>
  std::vector<Tensor> pick_inputs(Tuple& arguments, bool& create_graph) {
    std::vector<Tensor> picked;
    const auto pick = [&](int64_t number) {
      constexpr auto count = static_cast<int64_t>(std::tuple_size_v<Tuple>);
      const int64_t at = number < 0 ? number + count : number;
      HB_CHECK(at >= 0 && at < count, "[value_and_grad] expected argnums below ", count, ", got ", number);
      int64_t i = 0;
      std::apply([&](auto&... a) { ((i++ == at ? take(a, picked, create_graph) : void()), ...); }, arguments);
    };
    if constexpr (std::is_integral_v<Argnums>) {
      pick(argnums_);
    } else if constexpr (!std::is_same_v<Argnums, NoArgnums>) {
      for (const int64_t number : argnums_) pick(number);
    }
    return picked;
  }
  template <class T>
  static void take(T& argument, std::vector<Tensor>& picked, bool& create_graph) {
    if constexpr (is_tensor_argument<T>) {
      argument = differentiable_input(argument, create_graph);
      picked.push_back(argument);
    } else {
      HB_CHECK(false, "[value_and_grad] expected argnums to name tensors, got an argument of another type");
    }
  }

  F forward_;
  Argnums argnums_;
  std::vector<Tensor> params_;
  bool has_aux_;
};

template <class Fn>
auto only_grad(Fn fn) {
  return [fn = std::move(fn)](const auto&... inputs) mutable { return fn(inputs...).second; };
}
template <class F>
using enable_if_function = std::enable_if_t<!std::is_convertible_v<F, Tensor> && !std::is_convertible_v<F, TensorList>>;

}  // namespace detail

/// A function that calls `forward` and also gives the gradients of what it returned with respect to `params`, in their
/// order. It touches no `.grad()`:
///
///   auto loss_of = [&](Tensor x, Tensor y) { return cross_entropy(net(x), y); };
///   auto fn = torch::value_and_grad(loss_of, net->parameters());
///
///   auto [loss, grads] = fn(images, labels);
///
///   optimizer.step(grads);
///
/// A parameter that `forward` did not use, or that requires no gradient, has an undefined gradient, as `.grad()` would
/// be. The value carries no history. If `forward` returns several tensors (a tuple, a pair or a vector), the gradients
/// are those of their sum, all elements of all of them: of (loss, logits) too, unless `has_aux` says that the logits
/// are not a part of it. A single tensor must have one element.
template <class F, class = detail::enable_if_function<F>>
auto value_and_grad(F forward, std::vector<Tensor> params) {
  return detail::ValueAndGrad<F, detail::NoArgnums, true>(std::move(forward), {}, std::move(params), false);
}
/// The same; with `has_aux` only the first tensor that `forward` returned is differentiated, and there must be others.
template <class F, class = detail::enable_if_function<F>>
auto value_and_grad(F forward, std::nullopt_t, std::vector<Tensor> params, bool has_aux = false) {
  return detail::ValueAndGrad<F, detail::NoArgnums, true>(std::move(forward), {}, std::move(params), has_aux);
}
/// With respect to the argument of number `argnums` (from 0; below 0 from the end): `auto [value, grad] = fn(x, y)`.
template <class F, class = detail::enable_if_function<F>>
auto value_and_grad(F forward, int64_t argnums = 0, std::nullopt_t = std::nullopt, bool has_aux = false) {
  return detail::ValueAndGrad<F, int64_t, false>(std::move(forward), argnums, {}, has_aux);
}
template <class F, class = detail::enable_if_function<F>>
auto value_and_grad(F forward, std::vector<int64_t> argnums, std::nullopt_t = std::nullopt, bool has_aux = false) {
  return detail::ValueAndGrad<F, std::vector<int64_t>, false>(std::move(forward), std::move(argnums), {}, has_aux);
}
/// With respect to arguments and parameters: `auto [value, grads] = fn(x, y); auto& [of_inputs, of_params] = grads;`
template <class F, class = detail::enable_if_function<F>>
auto value_and_grad(F forward, int64_t argnums, std::vector<Tensor> params, bool has_aux = false) {
  return detail::ValueAndGrad<F, int64_t, true>(std::move(forward), argnums, std::move(params), has_aux);
}
template <class F, class = detail::enable_if_function<F>>
auto value_and_grad(F forward, std::vector<int64_t> argnums, std::vector<Tensor> params, bool has_aux = false) {
  return detail::ValueAndGrad<F, std::vector<int64_t>, true>(std::move(forward), std::move(argnums), std::move(params),
                                                             has_aux);
}

/// Like value_and_grad, without the value: a function that gives the gradients. `torch::grad(torch::grad(f))` is the
/// second derivative.
template <class F, class = detail::enable_if_function<F>>
auto grad(F forward, int64_t argnums = 0) {
  return detail::only_grad(value_and_grad(std::move(forward), argnums));
}
template <class F, class = detail::enable_if_function<F>>
auto grad(F forward, std::vector<int64_t> argnums) {
  return detail::only_grad(value_and_grad(std::move(forward), std::move(argnums)));
}
template <class F, class = detail::enable_if_function<F>>
auto grad(F forward, std::nullopt_t, std::vector<Tensor> params) {
  return detail::only_grad(value_and_grad(std::move(forward), std::move(params)));
}
template <class F, class Argnums, class = detail::enable_if_function<F>>
auto grad(F forward, Argnums argnums, std::vector<Tensor> params) {
  return detail::only_grad(value_and_grad(std::move(forward), std::move(argnums), std::move(params)));
}

/// The gradients, all times clip_norm / max(norm, clip_norm) with the norm of all of them together, so that theirs is
/// at most `clip_norm`. Computed on their device, nothing is read back; undefined ones stay so. An inf or NaN in one
/// makes all NaN.
[[nodiscard]] HB_API std::vector<Tensor> clip_by_global_norm(const std::vector<Tensor>& grads, double clip_norm = 1.0);

}  // namespace hb
