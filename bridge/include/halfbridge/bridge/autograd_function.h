#pragma once
// torch::autograd::Function: an operation with a gradient of the program's own.

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfbridge/autograd.h>
#include <halfbridge/ivalue.h>
#include <halfbridge/owned.h>

namespace hb::autodiff {

namespace detail {
class FunctionNode;
class FunctionCall;
}  // namespace detail

/// What forward leaves for backward.
class HB_API AutogradContext {
 public:
  AutogradContext();
  ~AutogradContext();
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  /// Values other than tensors.
  std::unordered_map<std::string, IValue> saved_data;

  /// Inputs and outputs of forward that backward reads. Throws in backward if they were changed in place since.
  void save_for_backward(variable_list to_save);
  variable_list get_saved_variables() const;
  /// Inputs that forward changed in place and returns.
  void mark_dirty(const variable_list& inputs);
  /// Outputs that have no gradient.
  void mark_non_differentiable(const variable_list& outputs);
  /// Whether gradients that did not arrive are given to backward as zeros (the default) or as undefined tensors.
  void set_materialize_grads(bool value);
  /// In backward: whether tensor argument number `i` of forward needs its gradient.
  bool needs_input_grad(size_t i) const;
  /// Whether any of the arguments in these ranges does.
  bool needs_input_grad(std::initializer_list<IndexRange> ranges) const;

 private:
  friend class detail::FunctionNode;
  friend class detail::FunctionCall;
  struct State;
  hb::detail::Owned<State> state_;
};

namespace detail {

using BackwardFn = variable_list (*)(AutogradContext*, variable_list);

// One call of Function::apply; what does not depend on the function's type.
class HB_API FunctionCall {
 public:
  FunctionCall(const std::type_info& function, BackwardFn backward);
  ~FunctionCall();
  FunctionCall(const FunctionCall&) = delete;
  FunctionCall& operator=(const FunctionCall&) = delete;

  void add(const Tensor& t) { add_tensor(&t); }
  void add(const std::optional<Tensor>& t) { add_tensor(t && t->defined() ? &*t : nullptr); }
  void add(const std::vector<Tensor>& list) { add(TensorList(list)); }
  void add(const TensorList& list) {
    for (const Tensor& t : list) add_tensor(&t);
  }
  template <class T>
  void add(const T&) {
    add_tensor(nullptr);
  }
  AutogradContext* start();
  variable_list finish(variable_list outputs);

 private:
  void add_tensor(const Tensor* t);
  Tensor with_history(Tensor output, size_t outputs);

  std::shared_ptr<FunctionNode> node_;
  variable_list inputs_;
  bool recorded_ = false;
};

template <class T>
variable_list call_backward(AutogradContext* ctx, variable_list grads) {
  return T::backward(ctx, std::move(grads));
}

}  // namespace detail

/// Derive as `struct F : Function<F>`, with
///   static Tensor (or variable_list) forward(AutogradContext*, args...);
///   static variable_list backward(AutogradContext*, variable_list grad_outputs);  // one per argument of forward
/// and call `F::apply(args...)`.
template <class T>
struct Function {
  template <typename X = T, typename... Args>
  static auto apply(Args&&... args)
      -> std::enable_if_t<std::is_same_v<X, T>,
                          decltype(X::forward(static_cast<AutogradContext*>(nullptr), std::forward<Args>(args)...))> {
    detail::FunctionCall call(typeid(T), &detail::call_backward<T>);
    (call.add(std::as_const(args)), ...);
    AutogradContext* ctx = call.start();
    using Result = decltype(X::forward(ctx, std::forward<Args>(args)...));
    static_assert(std::is_same_v<std::decay_t<Result>, Tensor> || std::is_same_v<std::decay_t<Result>, variable_list>,
                  "forward must return a Tensor or a variable_list");
    Result result = [&]() -> Result {
      AutoGradMode no_grad(false);
      return X::forward(ctx, std::forward<Args>(args)...);
    }();
    if constexpr (std::is_same_v<std::decay_t<Result>, Tensor>) {
      return call.finish({std::move(result)})[0];
    } else {
      return call.finish(std::move(result));
    }
  }
  static constexpr bool is_traceable = false;
};

}  // namespace hb::autodiff
