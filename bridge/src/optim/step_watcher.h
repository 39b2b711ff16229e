#pragma once
// Who stands around every step of every optimizer (the HALFBRIDGE_AMP variable). As a rule nobody.

#include <atomic>
#include <functional>

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

class StepWatcher {
 public:
  virtual ~StepWatcher() = default;
  /// Parameters that an optimizer is given.
  virtual void parameters_added(const std::vector<Tensor>& parameters) = 0;
  /// Does the step, or leaves it out.
  virtual Tensor step(Optimizer& optimizer, const std::function<Tensor()>& do_step) = 0;
};

inline std::atomic<StepWatcher*> step_watcher_slot{nullptr};
inline StepWatcher* step_watcher() { return step_watcher_slot.load(std::memory_order_acquire); }

}  // namespace hb::bridge::optim
