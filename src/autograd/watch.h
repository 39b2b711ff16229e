#pragma once
// How debugging tools see every operation that is recorded and every step of the backward pass. Nobody watches as a
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
  /// The node is evaluated now; not every one at which gradients arrive is.
  virtual void begins(const Node& /*node*/, const variable_list& /*grads*/) {}
  /// It threw.
  virtual void failed(const Node& /*node*/) {}
  /// The node has turned them into these.
  virtual void evaluated(const Node& node, const variable_list& grads) = 0;

 private:
  friend class GraphWatchers;
  std::atomic<GraphWatcher*> next_{nullptr};
};

/// Those that watch. One is removed while no other thread records or runs a backward pass.
class GraphWatchers {
 public:
  static void add(GraphWatcher& watcher);
  static void remove(GraphWatcher& watcher);
  static bool any() { return HB_UNLIKELY(first.load(std::memory_order_acquire) != nullptr); }
  template <class F>
  static void each(const F& f) {
    if (unseen) return;
    for (GraphWatcher* w = first.load(std::memory_order_acquire); w; w = w->next_.load(std::memory_order_acquire))
      f(*w);
  }

 private:
  friend class Unwatched;
  static inline std::atomic<GraphWatcher*> first{nullptr};
  static inline thread_local constinit int unseen = 0;
};

/// What this thread does meanwhile, a watcher's own work say, is not watched.
class Unwatched {
 public:
  Unwatched() { ++GraphWatchers::unseen; }
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;
  ~Unwatched() { --GraphWatchers::unseen; }
};

/// While a function that was checkpointed is called again on this thread: its calls are no new ones.
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
