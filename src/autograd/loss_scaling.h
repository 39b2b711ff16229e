#pragma once
// How every backward pass of a program that knows nothing of it is scaled: the roots' gradients before the pass, the
// leaves' gradients back where they arrive. As a rule nobody does: then each costs one branch.

#include <atomic>

#include <halfbridge/autograd.h>

namespace hb {

class BackwardScaling {
 public:
  virtual ~BackwardScaling() = default;
  /// The gradients of a pass that begins with them, to be scaled in place. `inputs`: those whose gradients it returns;
  /// none if it adds to leaves.
  virtual void begin(variable_list& grads, const variable_list& inputs) = 0;
  /// That pass is over, however it ended.
  virtual void end() = 0;
  /// What arrived at a leaf, as the leaf shall have it; called within a pass, and also outside of one.
  virtual Tensor arrived(const Tensor& leaf, Tensor grad) = 0;
  /// What a pass that returns gradients found for one of its inputs, as the caller shall have it.
  virtual Tensor returned(const Tensor& input, Tensor grad) = 0;
};

inline std::atomic<BackwardScaling*> backward_scaling_slot{nullptr};
inline BackwardScaling* backward_scaling() { return backward_scaling_slot.load(std::memory_order_acquire); }

/// One pass; those that record a graph are not scaled.
class ScaledPass {
 public:
  ScaledPass(variable_list& grads, bool create_graph, const variable_list& inputs = {})
      : scaling_(create_graph ? nullptr : backward_scaling()) {
    if (HB_UNLIKELY(scaling_ != nullptr)) scaling_->begin(grads, inputs);
  }
  ~ScaledPass() {
    if (HB_UNLIKELY(scaling_ != nullptr)) scaling_->end();
  }
  ScaledPass(const ScaledPass&) = delete;
  ScaledPass& operator=(const ScaledPass&) = delete;
  Tensor returned(const Tensor& input, Tensor grad) const {
    return HB_UNLIKELY(scaling_ != nullptr) && grad.defined() ? scaling_->returned(input, std::move(grad)) : grad;
  }

 private:
  BackwardScaling* scaling_;
};

}  // namespace hb
