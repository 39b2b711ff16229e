#include <halfbridge/bridge/autograd/anomaly.h>

#include <mutex>

#include <halfbridge/ops.h>

#include "autograd/watch.h"

namespace hb::autodiff {

namespace {

class NanWatcher final : public GraphWatcher {
 public:
  void inputs(const Node&, ArrayRef<const Tensor*>) override {}
  void result(const Node&, const Tensor&) override {}
  void arrived(const Node&, const variable_list&) override {}
  void evaluated(const Node& node, const variable_list& grads) override {
    const Unwatched unwatched;
    NoGradGuard no_grad;
    for (size_t i = 0; i < grads.size(); ++i)
      HB_CHECK(!grads[i].defined() || !grads[i].is_floating_point() || !isnan(grads[i]).any().item<bool>(),
               "Function '", node.name(), "' returned nan values in its ", i, "th output.");
  }
};

struct State {
  std::mutex mutex;
  NanWatcher watcher;
  bool enabled = false, check_nan = true;
};
State& state() {
  static State* s = new State;  // it may still be watching when statics are destroyed
  return *s;
}

}  // namespace

bool AnomalyMode::is_enabled() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().enabled;
}
bool AnomalyMode::should_check_nan() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().check_nan;
}

void AnomalyMode::set_enabled(bool enabled, bool check_nan) {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  const bool watched = s.enabled && s.check_nan, watch = enabled && check_nan;
  s.enabled = enabled, s.check_nan = check_nan;
  if (watch && !watched) GraphWatchers::attach(s.watcher);
  if (watched && !watch) GraphWatchers::detach(s.watcher);
}

DetectAnomalyGuard::DetectAnomalyGuard(bool check_nan)
    : enabled_before_(AnomalyMode::is_enabled()), check_nan_before_(AnomalyMode::should_check_nan()) {
  AnomalyMode::set_enabled(true, check_nan);
}
DetectAnomalyGuard::~DetectAnomalyGuard() { AnomalyMode::set_enabled(enabled_before_, check_nan_before_); }

}  // namespace hb::autodiff
