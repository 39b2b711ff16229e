#pragma once

#include <functional>

#include <halfbridge/autograd.h>

namespace hb::autodiff {

/// Backward passes as LibTorch's torch::autograd::Engine runs them, from edges to edges. Each runs on the thread that
/// asks for it.
class HB_API BackwardEngine {
 public:
  static BackwardEngine& get_default_engine();
  /// Sends `grads` from `roots` through the graph. With `outputs` only what leads to these edges runs: their gradients
  /// are returned (undefined for those that nothing reached), or with `accumulate_grad` added to the leaves and kept by
  /// the tensors that they belong to. Without `outputs` all leaves get theirs, and nothing is returned.
  variable_list execute(const edge_list& roots, const variable_list& grads, bool keep_graph, bool create_graph,
                        bool accumulate_grad, const edge_list& outputs = {});
  /// Calls the function at the end of the pass that runs on this thread; throws outside of one.
  void queue_callback(std::function<void()> callback);

  BackwardEngine(const BackwardEngine&) = delete;
  BackwardEngine& operator=(const BackwardEngine&) = delete;

 private:
  BackwardEngine() = default;
};

}  // namespace hb::autodiff
