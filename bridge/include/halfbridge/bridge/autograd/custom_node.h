#pragma once
// What a gradient written as a class of its own needs: a Node that keeps SavedVariables and gets its edges by
// collect_next_edges. torch::autograd::Function is the shorter way.
//
//   struct CubeBackward : torch::autograd::Node {
//     variable_list apply(variable_list&& grads) override { return {grads[0] * 3 * x.unpack().pow(2)}; }
//     void release_variables() override { x.reset_data(); }
//     SavedVariable x;
//   };
//   auto node = std::shared_ptr<CubeBackward>(new CubeBackward(), torch::autograd::deleteNode);
//   node->set_next_edges(torch::autograd::collect_next_edges(x));
//   node->x = SavedVariable(x, /*is_output=*/false);
//   torch::autograd::set_history(y, node);

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <halfbridge/autograd.h>
#include <halfbridge/owned.h>

namespace hb::autodiff {

/// What a program keeps instead of a saved tensor: packed once, when the hooks are registered, and unpacked each time.
struct HB_API SavedVariableHooks {
  virtual ~SavedVariableHooks();
  /// Without history; it must not be changed in place.
  virtual void call_pack_hook(const Tensor& tensor) = 0;
  virtual Tensor call_unpack_hook() = 0;
};

/// A tensor kept for the backward pass, an input or a result of the operation. unpack() throws where it was changed in
/// place since, or after reset_data().
class HB_API SavedVariable {
 public:
  SavedVariable();
  /// A result (`is_output`) is kept without its history, or the node would own itself.
  SavedVariable(const Variable& variable, bool is_output, bool is_inplace_on_view = false);
  SavedVariable(const std::optional<Variable>& variable, bool is_output, bool is_inplace_on_view = false);
  SavedVariable(SavedVariable&&) noexcept;
  SavedVariable& operator=(SavedVariable&&) noexcept;
  ~SavedVariable();

  /// The tensor, or an undefined one if that was saved. `saved_for`: the node that keeps it; a result of that node
  /// needs it to have its history back.
  Variable unpack(const std::shared_ptr<Node>& saved_for = nullptr) const;
  void reset_data();
  /// Packs the tensor at once and keeps it no longer. unpack() no longer sees changes in place: it gives what the hook
  /// gives, with the history of the tensor that was saved.
  void register_hooks(std::unique_ptr<SavedVariableHooks>&& hooks);
  bool has_hooks() const;

 private:
  struct State;
  hb::detail::Owned<State> state_;
};

/// The deleter of nodes: chains of any length are freed without recursion.
inline void deleteNode(Node* node) { delete node; }

/// Hands out the edges of a node to its arguments, one after the other.
struct IndexRangeGenerator {
  IndexRange range(size_t count) {
    next_ += count;
    return {next_ - count, next_};
  }
  size_t size() const { return next_; }

 private:
  size_t next_ = 0;
};
/// Puts the gradients of one argument at its place in a list.
HB_API void copy_range(variable_list& out, IndexRange range, const Tensor& t);
HB_API void copy_range(variable_list& out, IndexRange range, TensorList list);

/// Whether one of them is defined and requires a gradient.
HB_API bool any_variable_requires_grad(const variable_list& variables);

namespace detail {
HB_API void add_variables(variable_list& list, const Tensor& t);
HB_API void add_variables(variable_list& list, const std::optional<Tensor>& t);
HB_API void add_variables(variable_list& list, TensorList tensors);
HB_API void add_variables(variable_list& list, const variable_list& tensors);
template <class... Variables>
variable_list flatten(const Variables&... variables) {
  variable_list list;
  (add_variables(list, variables), ...);
  return list;
}
HB_API edge_list edges_of(const variable_list& variables);
}  // namespace detail

/// Where the gradients of the arguments flow to, in order: tensors, optional tensors and lists of them. Not valid
/// where an argument is undefined or requires no gradient.
template <class... Variables>
edge_list collect_next_edges(const Variables&... variables) {
  return detail::edges_of(detail::flatten(variables...));
}
/// Whether the operation on these arguments must be recorded.
template <class... Variables>
bool compute_requires_grad(const Variables&... variables) {
  return GradMode::is_enabled() && any_variable_requires_grad(detail::flatten(variables...));
}

/// Makes `variable` the next result of `grad_fn`; throws for dtypes that have no gradient.
HB_API void set_history(const Variable& variable, const std::shared_ptr<Node>& grad_fn);
HB_API void set_history(const std::vector<Variable>& variables, const std::shared_ptr<Node>& grad_fn);
/// The gradient of `variable` flows to `function` from now on, as that of one more result of it.
inline void create_gradient_edge(const Variable& variable, const std::shared_ptr<Node>& function) {
  set_history(variable, function);
}

namespace impl {
using hb::gradient_edge;
HB_API void set_gradient_edge(const Variable& variable, Edge edge);
/// The node that sums into a leaf's grad(); null for results of operations and where no gradient is required.
HB_API std::shared_ptr<Node> grad_accumulator(const Variable& variable);
}  // namespace impl

namespace utils {
/// A hook from a function: node->add_post_hook(std::make_unique<LambdaPostHook>([](outputs, inputs) { ... })).
class LambdaPostHook : public FunctionPostHook {
 public:
  using fn_type = std::function<variable_list(const variable_list&, const variable_list&)>;
  explicit LambdaPostHook(fn_type fn) : fn_(std::move(fn)) {}
  variable_list operator()(const variable_list& outputs, const variable_list& inputs) override {
    return fn_(outputs, inputs);
  }

 private:
  fn_type fn_;
};
}  // namespace utils

}  // namespace hb::autodiff
