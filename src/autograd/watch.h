#pragma once
// How a debugging tool sees every operation that is recorded and every step of the backward pass. Nobody watches as a
// rule: then each costs one branch.

#include <atomic>

#include "autograd/names.h"

namespace hb {

class GraphWatcher {
 public:
  virtual ~GraphWatcher() = default;
  /// `node` is being made for an operation on these inputs (some may be undefined) ...
  virtual void inputs(const Node& node, ArrayRef<const Tensor*> inputs) = 0;
  /// ... and this is one of its results.
  virtual void result(const Node& node, const Tensor& result) = 0;
  /// Gradients have arrived at a node of the backward pass.
  virtual void arrived(const Node& node, const variable_list& grads) = 0;
  /// The node has turned them into these.
  virtual void evaluated(const Node& node, const variable_list& grads) = 0;
};

inline std::atomic<GraphWatcher*> graph_watcher{nullptr};
inline GraphWatcher* watcher() { return graph_watcher.load(std::memory_order_acquire); }

}  // namespace hb
