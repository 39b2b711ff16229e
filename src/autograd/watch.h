#pragma once
// How tools see every operation that is recorded and every step of the backward pass (the contract: core/watchers.h).

#include "autograd/names.h"
#include "core/watchers.h"

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
  /// The node is evaluated now; not every one at which gradients arrive is.
  virtual void begins(const Node& /*node*/, const variable_list& /*grads*/) {}
  /// The node threw.
  virtual void failed(const Node& /*node*/) {}
  /// The node has turned them into these.
  virtual void evaluated(const Node& node, const variable_list& grads) = 0;
};
using GraphWatchers = Watchers<GraphWatcher>;

/// Lives while a checkpointed function is called again on this thread: a trace does not count these calls.
class Recomputation {
 public:
  Recomputation() { ++depth; }
  Recomputation(const Recomputation&) = delete;
  Recomputation& operator=(const Recomputation&) = delete;
  ~Recomputation() { --depth; }
  static bool active() { return depth != 0; }

 private:
  static inline thread_local constinit int depth = 0;
};

}  // namespace hb
