#pragma once
// Who stands around every step of every optimizer (the HALFBRIDGE_AMP variable). As a rule nobody.

#include <atomic>
#include <functional>
#include <utility>

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

class StepWatcher {
 public:
  virtual ~StepWatcher() = default;
  /// Parameters that an optimizer is given.
  virtual void parameters_added(const std::vector<Tensor>& parameters) = 0;
  /// Does the step, or leaves it out. `grads`: those that step() was given, or nullptr where they are the parameters'
  /// own.
  virtual Tensor step(Optimizer& optimizer, const std::vector<Tensor>* grads,
                      const std::function<Tensor()>& do_step) = 0;
  /// For optimizers that compute gradients within their step, each time that they have: whether one overflowed, so that
  /// the step has to be taken back.
  virtual bool evaluation_overflowed(Optimizer& optimizer) = 0;
};

inline std::atomic<StepWatcher*> step_watcher_slot{nullptr};
inline StepWatcher* step_watcher() { return step_watcher_slot.load(std::memory_order_acquire); }

/// The optimizer whose step a watcher stands around on this thread.
inline thread_local constinit Optimizer* watched_now = nullptr;

/// do_step() -> Tensor, under the watcher if there is one; what the same optimizer calls inside is part of that step.
template <class F>
Tensor watched_step(Optimizer& optimizer, const std::vector<Tensor>* grads, const F& do_step) {
  StepWatcher* const watcher = step_watcher();
  if (HB_LIKELY(watcher == nullptr) || watched_now == &optimizer) return do_step();
  struct Watched {
    Optimizer* outer;
    ~Watched() { watched_now = outer; }
  } watched{std::exchange(watched_now, &optimizer)};
  return watcher->step(optimizer, grads, do_step);
}

}  // namespace hb::bridge::optim
