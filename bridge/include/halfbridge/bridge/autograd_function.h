// Operations with gradients that the program writes itself: autograd::Function and its context.
#pragma once

#include <halfbridge/autograd.h>
#include <halfbridge/ivalue.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace hb::autograd {

namespace detail {
class FunctionNode;
}

/// What a Function's forward leaves for its backward.
struct HB_API AutogradContext {
  AutogradContext() = default;
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  /// Data that is no tensor, by name.
  std::unordered_map<std::string, IValue> saved_data;

  /// Keeps tensors for backward: inputs, results or others. At most once, from forward.
  void save_for_backward(variable_list to_save) { to_save_ = std::move(to_save); }
  /// Inputs that forward changed in place; each must be among what it returns.
  void mark_dirty(const variable_list& inputs);
  /// Results that have no gradient.
  void mark_non_differentiable(const variable_list& outputs);
  /// Whether gradients that did not arrive are given to backward as zeros (they are, unless told otherwise)
  /// or undefined.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  /// In backward: what save_for_backward kept. Throws if one was changed in place since, or if it was freed.
  variable_list get_saved_variables() const;
  /// In backward: whether the gradient of input `i` of apply (tensors alone are counted) is wanted.
  bool needs_input_grad(size_t i) const;

 private:
  friend class detail::FunctionNode;
  variable_list to_save_;
  std::unordered_set<const TensorImpl*> dirty_, non_differentiable_;
  bool materialize_grads_ = true;
  detail::FunctionNode* node_ = nullptr;
};

namespace detail {

/// The node of one call of a Function.
class HB_API FunctionNode : public Node {
 public:
  FunctionNode();
  ~FunctionNode() override;

  AutogradContext& context() { return context_; }
  std::string name() const override;
  variable_list apply(variable_list&& grads) override;
  void release_variables() override;
  bool accepts_undefined() const override { return true; }
  variable_list saved_variables();

  /// Before forward: `is_tensor` says of each argument whether it is a tensor, `inputs` are those that are.
  void set_inputs(std::vector<bool> is_tensor, variable_list inputs);
  /// After forward: gives the results their history, where an input required a gradient.
  variable_list wrap(variable_list outputs);

 protected:
  virtual variable_list run_backward(AutogradContext* context, variable_list grads) = 0;

 private:
  Tensor wrap_one(const Tensor& output);
  void save(const variable_list& outputs);

  struct Saved;  // the tensors kept for backward
  AutogradContext context_;
  std::vector<bool> is_tensor_;
  variable_list inputs_;  // until wrap
  bool recorded_ = false;
  std::unique_ptr<Saved> saved_;
};

template <class T>
class FunctionNodeOf final : public FunctionNode {
 protected:
  variable_list run_backward(AutogradContext* context, variable_list grads) override {
    return T::backward(context, std::move(grads));
  }
};

struct TensorArguments {
  std::vector<bool> is_tensor;
  variable_list tensors;

  void add(const Tensor& x) {
    is_tensor.push_back(true);
    tensors.push_back(x);
  }
  void add(const std::optional<Tensor>& x) {
    is_tensor.push_back(x && x->defined());
    if (is_tensor.back()) tensors.push_back(*x);
  }
  void add(const TensorList& list) {
    for (const Tensor& x : list) add(x);
  }
  template <class T>
  void add(const T&) {
    is_tensor.push_back(false);  // vectors of tensors too: they are not looked into
  }
};

template <class X, class... Args>
using forward_t = decltype(X::forward(nullptr, std::declval<Args>()...));

}  // namespace detail

/// Derive from Function<Derived> and write
///   static Tensor forward(AutogradContext*, arguments...);            // or variable_list
///   static variable_list backward(AutogradContext*, variable_list);   // one gradient per argument of
///   forward
/// and call Derived::apply(arguments...). Forward runs without recording; backward is recorded under
/// create_graph.
template <class T>
struct Function {
  template <class X = T, class... Args>
  static auto apply(Args&&... args) -> std::enable_if_t<std::is_same_v<X, T>, detail::forward_t<X, Args...>> {
    auto node = std::make_shared<detail::FunctionNodeOf<T>>();
    detail::TensorArguments arguments;
    (arguments.add(args), ...);
    node->set_inputs(std::move(arguments.is_tensor), std::move(arguments.tensors));
    using Output = detail::forward_t<X, Args...>;
    Output output = [&] {
      AutoGradMode no_record(false);
      return T::forward(&node->context(), std::forward<Args>(args)...);
    }();
    if constexpr (std::is_same_v<std::decay_t<Output>, Tensor>) {
      return std::move(node->wrap({std::move(output)}).front());
    } else {
      return node->wrap(std::move(output));
    }
  }
  static constexpr bool is_traceable = false;
};

}  // namespace hb::autograd
