#include "autograd/destination.h"

#include <utility>

#include <halfbridge/ops/factories.h>

#include "autograd/accumulate_grad.h"
#include "autograd/backward_pass.h"
#include "autograd/watch.h"

namespace hb {

namespace {
thread_local constinit autodiff::Evaluation evaluation;
}

namespace autodiff {

Evaluating::Evaluating(BackwardPass* pass, const Node* node) : outer_(std::exchange(evaluation, {pass, node})) {}
Evaluating::~Evaluating() { evaluation = outer_; }

BackwardPass* evaluating(const Node& node) { return evaluation.node == &node ? evaluation.pass : nullptr; }

// Only a gradient that nobody but its leaf will see: no sum, no caller, no hook, no watcher.
Tensor BackwardPass::destination(const Node& node, size_t i) {
  if (restricted_ || create_graph_ || node.hooks_ || GraphWatchers::any()) return {};
  auto* const leaf = dynamic_cast<AccumulateGrad*>(node.next_edges()[i].function.get());
  if (!leaf || !leaf->destination().defined()) return {};
  const Progress& p = progress(leaf);
  if (p.dependencies != 1 || !p.buffer.empty()) return {};
  const Node* const end = leaf;
  if (const auto* h = end->hooks_.get())
    if (!h->tensor_hooks.empty() || !h->retain_hooks.empty() || !h->pre_hooks.empty()) return {};
  if (!leaf->variable.impl().materialize_autograd_meta().leaf_hooks.empty()) return {};
  return leaf->take_destination();
}

}  // namespace autodiff

bool Node::task_should_compute_output(size_t i) const {
  if (!should_compute_output(i)) return false;
  autodiff::BackwardPass* const pass = autodiff::evaluating(*this);
  return !pass || pass->needs(next_edges_[i]);
}
bool Node::task_should_compute_output(std::initializer_list<IndexRange> ranges) const {
  for (const auto& [first, last] : ranges)
    for (size_t i = first; i < last; ++i)
      if (task_should_compute_output(i)) return true;
  return false;
}

bool Backward::needs(size_t i) const { return node_.task_should_compute_output(i); }

Tensor destination_of(const Backward& b, size_t i, IntArrayRef sizes, const TensorOptions& options) {
  autodiff::BackwardPass* const pass = autodiff::evaluating(b.node());
  if (!pass || GradMode::is_enabled()) return {};
  Tensor memory = pass->destination(b.node(), i);
  const bool fits = memory.defined() && memory.sizes() == sizes && memory.scalar_type() == options.dtype() &&
                    memory.device() == options.device();
  return fits ? memory : Tensor();
}

Tensor destination_or_empty(const Backward& b, size_t i, IntArrayRef sizes, const TensorOptions& options) {
  Tensor memory = destination_of(b, i, sizes, options);
  return memory.defined() ? memory : empty(sizes, options);
}

bool returned_as_made(const Backward& b) {
  const autodiff::BackwardPass* const pass = autodiff::evaluating(b.node());
  return pass && pass->returns_gradients();
}

}  // namespace hb
