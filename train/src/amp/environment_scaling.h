#pragma once
// HALFBRIDGE_AMP: how backward passes are scaled, and which gradients overflowed.

#include <mutex>
#include <vector>

#include <halfbridge/bridge/optim/optimizer.h>

#include "autograd/loss_scaling.h"
#include "environment.h"
#include "overflow_flags.h"

namespace hb::amp {

/// Turns autocast on in this thread; again, it does nothing.
void enter_thread(const Environment& environment);

class Scaling final : public BackwardScaling {
 public:
  explicit Scaling(const Environment& environment) : environment_(environment) {}

  void begin(variable_list& grads, const variable_list& inputs) override;
  void end() noexcept override;
  Tensor arrived(const Tensor& leaf, Tensor grad) override;
  Tensor returned(const Tensor& input, Tensor grad) override;

  void watch(const std::vector<Tensor>& parameters);
  /// Whether a gradient of these parameters overflowed (float32, not 0), undefined where none was scaled; forgets it.
  /// Of parameters that several ranks train together: on some rank.
  /// It looks at explicit gradients too: they may be sums of several passes, and flags know the last pass alone.
  Tensor take_overflow(bridge::optim::Optimizer& optimizer, const std::vector<Tensor>* grads);
  /// What follows from it for the scale.
  void adapt(const Tensor& overflow);

 private:
  Tensor own_overflow(bridge::optim::Optimizer& optimizer, const std::vector<Tensor>* grads);
  /// On the device where it is first asked for.
  Tensor& scale(const Device& device);
  bool scales() const { return environment_.dtype == kHalf || environment_.fixed_scale > 0; }

  /// Scales the gradients that a pass begins with; returns the scale, undefined where none of them is scaled.
  Tensor scale_roots(variable_list& grads, const variable_list& inputs);

  const Environment environment_;
  std::mutex mutex_;
  int64_t passes_ = 0;   // that are scaled and run now, of all threads
  uint64_t round_ = 0;   // passes that run at the same time are of one round
  OverflowFlags flags_;  // of parameters that optimizers have
  Tensor scale_, growth_tracker_;
};

}  // namespace hb::amp
