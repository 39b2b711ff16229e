#pragma once
// How every backward pass of a program that knows nothing of it is scaled: the roots' gradients before the pass, the
// leaves' gradients back where they arrive (the contract: core/watchers.h).

#include <halfbridge/autograd.h>

#include "core/watchers.h"

namespace hb {

class BackwardScaling {
 public:
  virtual ~BackwardScaling() = default;
  /// Scales, in place, the gradients that a pass begins with. `inputs`: those whose gradients the pass returns; none if
  /// it adds to leaves.
  virtual void begin(variable_list& grads, const variable_list& inputs) = 0;
  /// That pass is over, however it ended.
  virtual void end() noexcept = 0;
  /// Returns what the leaf gets of a gradient that arrived at it, within a pass or outside of one.
  virtual Tensor arrived(const Tensor& leaf, Tensor grad) = 0;
  /// Returns what the caller gets of the gradient that a pass found for one of its inputs.
  virtual Tensor returned(const Tensor& input, Tensor grad) = 0;
};

inline Tensor as_the_leaf_has_it(const Tensor& leaf, Tensor grad) {
  if (Watchers<BackwardScaling>::any())
    Watchers<BackwardScaling>::now().each_back([&](BackwardScaling& s) { grad = s.arrived(leaf, std::move(grad)); });
  return grad;
}

/// One pass; those that record a graph are not scaled.
class ScaledPass {
 public:
  ScaledPass(variable_list& grads, bool create_graph, const variable_list& inputs = {}) {
    if (create_graph) return;
    scalings_ = Watchers<BackwardScaling>::now();
    scalings_.begin([&](BackwardScaling& s) { s.begin(grads, inputs); }, [](BackwardScaling& s) { s.end(); });
  }
  ~ScaledPass() {
    scalings_.each_back([](BackwardScaling& s) { s.end(); });
  }
  ScaledPass(const ScaledPass&) = delete;
  ScaledPass& operator=(const ScaledPass&) = delete;
  Tensor returned(const Tensor& input, Tensor grad) const {
    if (grad.defined()) scalings_.each_back([&](BackwardScaling& s) { grad = s.returned(input, std::move(grad)); });
    return grad;
  }

 private:
  Watching<BackwardScaling> scalings_;
};

}  // namespace hb
