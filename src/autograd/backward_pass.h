#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "autograd/names.h"
#include "autograd/parts.h"

namespace hb::autodiff {

/// A tensor's hook, which must keep shape and dtype. The hook as a copy: it may take itself back, or add another.
void apply_tensor_hook(const Node::TensorHook hook, size_t number, Tensor& grad);

/// One backward pass over the graph that is reachable from the roots, on the calling thread. Later operations run
/// first, leaves before everything.
class BackwardPass {
 public:
  BackwardPass(bool keep_graph, bool create_graph) : keep_graph_(keep_graph), create_graph_(create_graph) {}
  ~BackwardPass();
  BackwardPass(const BackwardPass&) = delete;
  BackwardPass& operator=(const BackwardPass&) = delete;

  /// Computes only what these gradients need and keeps them, instead of adding to leaves.
  void want(edge_list inputs);
  void run(const edge_list& roots, variable_list&& grads);
  const Tensor& captured(size_t i) const { return captured_[i]; }
  /// Whether the pass returns gradients as they are, where another adds them to leaves.
  bool returns_gradients() const { return restricted_; }
  /// Whether the gradient that goes there is asked for.
  bool needs(const Edge& edge);
  static bool has_hooks(const Node& node) { return static_cast<bool>(node.hooks_); }
  /// Where `node`, which is evaluated now, may write the gradient of its input `i`; undefined where nobody says.
  Tensor destination(const Node& node, size_t i);
  /// The same where the input is a part of something: see place_in_whole().
  Tensor place(const Node& node, size_t i, IntArrayRef sizes, const TensorOptions& options);
  /// Takes the gradient of a part into that of its whole; false: `node` has to make one of its own.
  bool put(const PartNode& node, const Tensor& grad);
  /// The gradient of the whole of these parts, some of which were put in their places; undefined where none was.
  Tensor join(const PartsNode& parts, const variable_list& grads);

 private:
  using Progress = Node::Progress;

  Progress& progress(Node* node) { return node->pass_ == this ? node->progress_ : elsewhere_.at(node); }
  bool visit(Node* node);
  void release(Node* node);
  void discover(const edge_list& roots);
  Tensor& slot(Node& node, uint32_t nr);
  bool joins(const Node& node, const DimVector& whole);
  Tensor place(PartsNode& parts, uint32_t nr, const TensorOptions& options);
  Tensor memory_of_whole(const Edge& edge, const DimVector& sizes, const DimVector& strides,
                         const TensorOptions& options);
  Whole& whole_at(const Edge& edge, const PartNode& node, const TensorOptions& options);
  /// Puts what came together for inputs of `node` (or one of them) into their slots.
  void settle(Node& node, std::optional<uint32_t> nr = std::nullopt);
  void deliver(const Edge& edge, Tensor grad);
  void evaluate(Node* node);
  void capture(Node* node, const variable_list& grads);
  /// Takes note of a zero for an input of a node; what was noted for one that is evaluated now becomes zeros where
  /// somebody sees it. True: nothing but zeros reached the node.
  void note_zero(const Edge& edge);
  bool take_zeros(Node& node, bool wanted, variable_list& grads);
  variable_list call(Node* node, variable_list&& grads);

  const bool keep_graph_, create_graph_;
  bool restricted_ = false;
  edge_list wanted_;
  std::vector<size_t> wanted_by_node_;  // places in wanted_, in the order of their nodes' addresses
  variable_list captured_;
  std::vector<Node*> order_;                             // all nodes of the pass, each after the nodes that it leads to
  std::unordered_map<Node*, Progress> elsewhere_;        // nodes that another pass works on at the same time
  std::vector<Node*> ready_;                             // heap
  std::vector<std::pair<const Node*, uint32_t>> zeros_;  // inputs of nodes to come that a zero_gradient() reached
  std::vector<Whole> wholes_;                            // gradients whose parts come in; their slots are empty so long
  std::vector<Whole> joined_;                            // the same of parts that share a node, which is still to come
};

/// Whether sizes broadcast to others.
bool expands_to(const DimVector& from, const DimVector& to);

/// Gives a gradient the shape, dtype and device of the value that it belongs to, or throws: the `i`th of those that
/// `producer` returned, or of those that a pass begins with.
void conform(const Node* producer, size_t i, const InputMetadata& wanted, Tensor& grad);

/// What a thread evaluates.
struct Evaluation {
  BackwardPass* pass = nullptr;
  const Node* node = nullptr;
};

/// The pass that evaluates this node on this thread, or nullptr.
BackwardPass* evaluating(const Node& node);

/// Lives while the thread evaluates the node.
class Evaluating {
 public:
  Evaluating(BackwardPass* pass, const Node* node);
  ~Evaluating();
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  const Evaluation outer_;
};

/// Calls the function when the pass that this thread runs has ended well, with all passes within it; throws outside of
/// one.
void when_pass_ends(std::function<void()> function);

}  // namespace hb::autodiff
