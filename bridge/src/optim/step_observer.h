#pragma once
// How tools see the steps of optimizers (the contract: core/watchers.h). They change nothing; who does is a
// StepWatcher.

#include <exception>

#include <halfbridge/bridge/optim/optimizer.h>

#include "core/recorder.h"
#include "core/watchers.h"

namespace hb::bridge::optim {

class StepObserver {
 public:
  virtual ~StepObserver() = default;
  /// `grads`: those that step() was given, or nullptr where they are the parameters' own.
  virtual void step_begins(Optimizer& optimizer, const std::vector<Tensor>* grads) noexcept = 0;
  /// The step is done. A step that throws has a beginning and no end.
  virtual void step_ended(Optimizer& optimizer) noexcept = 0;
  /// A gradient scaler has this scale from now on.
  virtual void scale_updated(const Tensor& scale) noexcept = 0;
  /// A loss was multiplied by this: so are the gradients of the backward passes that follow. Undefined: they are not.
  virtual void loss_scaled(const Tensor& /*scale*/) noexcept {}
};

inline void tell_loss_scaled(const Tensor& scale) {
  Watchers<StepObserver>::each([&](StepObserver& o) { o.loss_scaled(scale); });
}
inline void tell_scale_updated(const Tensor& scale) {
  Watchers<StepObserver>::each([&](StepObserver& o) { o.scale_updated(scale); });
}

/// Stands around one step; a step inside another is part of it.
class ObservedStep {
 public:
  /// `grads`: those that step() was given, or nullptr where they are the parameters' own.
  explicit ObservedStep(Optimizer& optimizer, const std::vector<Tensor>* grads = nullptr) : optimizer_(optimizer) {
    if (HB_UNLIKELY(hb::capture::any_recording()))
      if (auto* r = hb::capture::recorder()) r->step_begins();
    if (inside || !Watchers<StepObserver>::any()) return;
    observers_ = Watchers<StepObserver>::now();
    if (!observers_) return;
    inside = true;
    exceptions_ = std::uncaught_exceptions();
    observers_.each([&](StepObserver& o) { o.step_begins(optimizer, grads); });
  }
  ObservedStep(const ObservedStep&) = delete;
  ObservedStep& operator=(const ObservedStep&) = delete;
  ~ObservedStep() {
    if (HB_UNLIKELY(hb::capture::any_recording()))
      if (auto* r = hb::capture::recorder()) r->step_ends();
    if (!observers_) return;
    inside = false;
    if (std::uncaught_exceptions() == exceptions_)
      observers_.each_back([&](StepObserver& o) { o.step_ended(optimizer_); });
  }

 private:
  static inline thread_local constinit bool inside = false;
  Watching<StepObserver> observers_;
  Optimizer& optimizer_;
  int exceptions_ = 0;
};

}  // namespace hb::bridge::optim
