#pragma once
// Who stands around every step of every optimizer and may change it: the HALFBRIDGE_AMP variable (the contract:
// core/watchers.h).

#include <functional>
#include <utility>

#include <halfbridge/bridge/optim/optimizer.h>

#include "core/watchers.h"

namespace hb::bridge::optim {

class StepWatcher {
 public:
  virtual ~StepWatcher() = default;
  /// An optimizer is given these parameters.
  virtual void parameters_added(const std::vector<Tensor>& parameters) = 0;
  /// Does the step, or leaves it out. `grads`: those that step() was given, or nullptr where they are the parameters'
  /// own.
  virtual Tensor step(Optimizer& optimizer, const std::vector<Tensor>* grads,
                      const std::function<Tensor()>& do_step) = 0;
  /// Called each time that an optimizer has computed gradients within its step: whether one of them overflowed, so that
  /// the step has to be taken back.
  virtual bool evaluation_overflowed(Optimizer& optimizer) = 0;
};
using StepWatchers = Watchers<StepWatcher>;

/// The optimizer whose step a watcher stands around on this thread.
inline thread_local constinit Optimizer* watched_now = nullptr;

namespace detail {
/// The outer watchers stand around the inner ones.
inline Tensor step_under(const Watching<StepWatcher>& watching, Optimizer& optimizer, const std::vector<Tensor>* grads,
                         const std::function<Tensor()>& do_step) {
  std::function<Tensor()> whole = do_step;
  watching.each_back([&](StepWatcher& w) {
    whole = [&w, &optimizer, grads, inner = std::move(whole)] { return w.step(optimizer, grads, inner); };
  });
  return whole();
}
}  // namespace detail

/// do_step() -> Tensor, under the watchers if there are any; what the same optimizer calls inside is part of that step.
template <class F>
Tensor watched_step(Optimizer& optimizer, const std::vector<Tensor>* grads, const F& do_step) {
  if (!StepWatchers::any() || watched_now == &optimizer) return do_step();
  struct Watched {
    Optimizer* outer;
    ~Watched() { watched_now = outer; }
  } watched{std::exchange(watched_now, &optimizer)};
  return detail::step_under(StepWatchers::now(), optimizer, grads, do_step);
}

}  // namespace hb::bridge::optim
