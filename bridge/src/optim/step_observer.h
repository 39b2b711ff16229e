#pragma once
// How a trace sees the steps of optimizers. As a rule nobody looks.

#include <atomic>
#include <exception>

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

class StepObserver {
 public:
  virtual ~StepObserver() = default;
  /// `grads`: those that step() was given, or nullptr where they are the parameters' own.
  virtual void step_begins(Optimizer& optimizer, const std::vector<Tensor>* grads) noexcept = 0;
  virtual void step_ended(Optimizer& optimizer) noexcept = 0;
  /// A gradient scaler has this scale from now on.
  virtual void scale_updated(const Tensor& scale) noexcept = 0;
  /// A loss was multiplied by this: so are the gradients of the backward passes that follow. Undefined: they are not.
  virtual void loss_scaled(const Tensor& /*scale*/) noexcept {}
};

inline std::atomic<StepObserver*> step_observer_slot{nullptr};
inline StepObserver* step_observer() { return step_observer_slot.load(std::memory_order_acquire); }
inline void tell_loss_scaled(const Tensor& scale) {
  if (auto* observer = step_observer(); HB_UNLIKELY(observer != nullptr)) observer->loss_scaled(scale);
}

/// Stands around one step; a step inside another is part of it. One that throws is none.
class ObservedStep {
 public:
  /// `grads`: those that step() was given, or nullptr where they are the parameters' own.
  explicit ObservedStep(Optimizer& optimizer, const std::vector<Tensor>* grads = nullptr)
      : observer_(inside ? nullptr : step_observer()), optimizer_(optimizer) {
    if (HB_LIKELY(observer_ == nullptr)) return;
    inside = true;
    exceptions_ = std::uncaught_exceptions();
    observer_->step_begins(optimizer, grads);
  }
  ObservedStep(const ObservedStep&) = delete;
  ObservedStep& operator=(const ObservedStep&) = delete;
  ~ObservedStep() {
    if (HB_LIKELY(observer_ == nullptr)) return;
    inside = false;
    if (std::uncaught_exceptions() == exceptions_) observer_->step_ended(optimizer_);
  }

 private:
  static inline thread_local constinit bool inside = false;
  StepObserver* observer_;
  Optimizer& optimizer_;
  int exceptions_ = 0;
};

}  // namespace hb::bridge::optim
