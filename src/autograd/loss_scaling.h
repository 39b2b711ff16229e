#pragma once
// How every backward pass of a program that knows nothing of it is scaled: the roots' gradients before the pass, the
// leaves' gradients back where they arrive. As a rule nobody does: then each costs one branch.

#include <atomic>

#include <halfbridge/autograd.h>

namespace hb {

class BackwardScaling {
 public:
  virtual ~BackwardScaling() = default;
  /// The gradients of a pass that begins with them, to be scaled in place.
  virtual void begin(variable_list& grads) = 0;
  /// That pass is over, however it ended.
  virtual void end() = 0;
  /// What arrived at a leaf, as the leaf shall have it; called within a pass, and also outside of one.
  virtual Tensor arrived(const Tensor& leaf, Tensor grad) = 0;
};

inline std::atomic<BackwardScaling*> backward_scaling_slot{nullptr};
inline BackwardScaling* backward_scaling() { return backward_scaling_slot.load(std::memory_order_acquire); }

/// One pass that adds to leaves.
class ScaledPass {
 public:
  ScaledPass(variable_list& grads, bool create_graph) : scaling_(create_graph ? nullptr : backward_scaling()) {
    if (HB_UNLIKELY(scaling_ != nullptr)) scaling_->begin(grads);
  }
  ~ScaledPass() {
    if (HB_UNLIKELY(scaling_ != nullptr)) scaling_->end();
  }
  ScaledPass(const ScaledPass&) = delete;
  ScaledPass& operator=(const ScaledPass&) = delete;

 private:
  BackwardScaling* scaling_;
};

}  // namespace hb
