#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <halfbridge/grad_mode.h>
#include <halfbridge/owned.h>
#include <halfbridge/tensor.h>

namespace hb {

using variable_list = std::vector<Tensor>;
using Variable = Tensor;

namespace autodiff {

/// An input slot of a node: where a gradient flows to.
struct Edge {
  std::shared_ptr<Node> function;
  uint32_t input_nr = 0;
  bool is_valid() const { return function != nullptr; }
};
using edge_list = std::vector<Edge>;

/// Shape, dtype and device of a forward result, which its gradient must have.
struct InputMetadata {
  DimVector sizes;
  ScalarType dtype = kFloat;
  Device device = kCPU;
};

class BackwardPass;

/// A run of a node's next edges, [first, second): those of one argument that is a list of tensors.
using IndexRange = std::pair<size_t, size_t>;

/// Hooks of a node as objects: see Node::add_pre_hook and add_post_hook.
struct FunctionPreHook {
  virtual ~FunctionPreHook() = default;
  virtual variable_list operator()(const variable_list& grads) = 0;
};
struct FunctionPostHook {
  virtual ~FunctionPostHook() = default;
  virtual variable_list operator()(const variable_list& outputs, const variable_list& inputs) = 0;
};

/// One operation of the recorded graph: turns the gradients of its forward results into those of its forward inputs.
class HB_API Node : public std::enable_shared_from_this<Node> {
 public:
  explicit Node(edge_list next_edges = {});
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// grads: one per forward result, undefined where no gradient arrived. Returns one per next edge.
  virtual variable_list apply(variable_list&& grads) = 0;
  /// "MulBackward0" and the like; the name of the C++ type unless overridden.
  virtual std::string name() const;
  /// Frees what was saved for the backward pass.
  virtual void release_variables() {}
  /// Whether apply wants undefined gradients as they are rather than as nothing to do at all.
  virtual bool accepts_undefined() const { return false; }

  variable_list operator()(variable_list&& grads) { return apply(std::move(grads)); }
  const edge_list& next_edges() const { return next_edges_; }
  const Edge& next_edge(size_t i) const { return next_edges_[i]; }
  void set_next_edges(edge_list edges);
  void add_next_edge(Edge edge);
  size_t num_outputs() const { return next_edges_.size(); }
  uint32_t num_inputs() const { return static_cast<uint32_t>(inputs_.size()); }
  bool should_compute_output(size_t i) const { return next_edges_[i].is_valid(); }
  /// Of any in the ranges.
  bool should_compute_output(std::initializer_list<IndexRange> ranges) const;
  /// Whether the backward pass that runs asks for it: grad(outputs, inputs) may not. Outside of one as
  /// should_compute_output.
  bool task_should_compute_output(size_t i) const;
  bool task_should_compute_output(std::initializer_list<IndexRange> ranges) const;
  std::shared_ptr<Node> getptr() { return shared_from_this(); }
  const InputMetadata& input_metadata(size_t i) const { return inputs_[i]; }
  uint32_t add_input_metadata(const Tensor& forward_result);
  void set_input_metadata(size_t i, const Tensor& forward_result);
  uint64_t sequence_nr() const { return sequence_nr_; }

  using TensorHook = std::function<Tensor(const Tensor&)>;
  /// Runs on gradient `input_nr` before apply.
  unsigned add_tensor_hook(uint32_t input_nr, TensorHook hook);
  void remove_tensor_hook(uint32_t input_nr, unsigned position);
  /// Runs with (gradients of inputs, gradients of outputs) after apply; may replace the first.
  using PostHook = std::function<variable_list(const variable_list&, const variable_list&)>;
  uintptr_t add_post_hook(PostHook hook);
  uintptr_t add_post_hook(std::unique_ptr<FunctionPostHook> hook);
  /// Takes back what add_post_hook returned; whether there was such a hook.
  bool del_post_hook(uintptr_t key);
  using PreHook = std::function<variable_list(const variable_list&)>;
  void add_pre_hook(PreHook hook);
  void add_pre_hook(std::unique_ptr<FunctionPreHook> hook);

 protected:
  friend class BackwardPass;
  struct Hooks {
    std::vector<std::pair<uint32_t, TensorHook>> tensor_hooks;
    std::vector<std::pair<uint32_t, std::function<void(const Tensor&)>>> retain_hooks;
    std::vector<PreHook> pre_hooks;
    std::vector<PostHook> post_hooks;
  };
  edge_list next_edges_;
  std::vector<InputMetadata> inputs_;
  detail::Owned<Hooks> hooks_;
  uint64_t sequence_nr_;
  // Where a backward pass is with this node; belongs to the pass that `pass_` names.
  struct Progress {
    int32_t dependencies = 0;
    bool queued = false, wanted = false, runs = true;
    variable_list buffer;
  };
  std::atomic<const BackwardPass*> pass_{nullptr};
  Progress progress_;

 public:
  Hooks& hooks();
};

}  // namespace autodiff

/// What a tensor that takes part in a graph carries.
struct HB_API AutogradMeta {
  AutogradMeta() = default;
  ~AutogradMeta();
  Tensor grad;
  std::shared_ptr<autodiff::Node> grad_fn;
  std::weak_ptr<autodiff::Node> grad_accumulator;
  uint32_t output_nr = 0;
  bool requires_grad = false;
  bool retains_grad = false;
  std::vector<autodiff::Node::TensorHook> leaf_hooks;
  std::shared_ptr<TensorImpl*> retain_slot;  // how retain_grad's hook finds this tensor while it lives
  std::string name;
  // A view that shares memory with `base`; grad_fn is rebuilt when the base was changed in place since.
  Tensor base;
  uint32_t attr_version = 0;
  bool created_in_no_grad = false;
};

/// Where the gradient of this tensor flows to: its grad_fn, its accumulator if it is a leaf, or nowhere.
HB_API autodiff::Edge gradient_edge(const Tensor& tensor);

namespace autodiff {

using hb::Variable;
using hb::variable_list;
using tensor_list = variable_list;
using hb::AutoGradMode;
using hb::GradMode;

/// Sums gradients of `tensors` into the leaves (or `inputs`) of their graph.
HB_API void backward(const variable_list& tensors, const variable_list& grad_tensors = {},
                     std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                     const variable_list& inputs = {});
/// The gradients of `outputs` with respect to `inputs`, without touching any `.grad()`.
HB_API variable_list grad(const variable_list& outputs, const variable_list& inputs,
                          const variable_list& grad_outputs = {}, std::optional<bool> retain_graph = std::nullopt,
                          bool create_graph = false, bool allow_unused = false);

}  // namespace autodiff
}  // namespace hb
