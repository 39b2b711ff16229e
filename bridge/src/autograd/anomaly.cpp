#include <halfbridge/bridge/autograd/anomaly.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include <halfbridge/ops.h>

#include "autograd/watch.h"
#include "core/backtrace.h"
#include "core/warnings.h"

namespace hb::autodiff {

namespace {

// Where the program made a node, and what the node was made for: in the backward pass of a graph, the node that ran
// then.
struct Trace {
  std::string calls, induced_by;
  std::shared_ptr<const Trace> induced;
};

// Lives among the hooks of the node, so that it goes when the node goes; changes nothing.
struct TraceHook {
  std::shared_ptr<const Trace> trace;
  variable_list operator()(const variable_list& grads, const variable_list&) const { return grads; }
};

std::shared_ptr<const Trace> trace_of(const Node& node) {
  for (const Node::PostHook& hook : const_cast<Node&>(node).hooks().post_hooks)
    if (const auto* found = hook.target<TraceHook>()) return found->trace;
  return nullptr;
}

thread_local std::vector<const Node*> running;  // nodes of backward passes inside each other

void warn_of(const Node& node) {
  auto trace = trace_of(node);
  hb::detail::warn(hb::detail::str("Error detected in ", node.name(), ". ",
                                   trace ? "Traceback of forward call that caused the error:\n" + trace->calls
                                         : "No traceback of the forward call: anomaly mode was off when it ran."));
  for (; trace && trace->induced; trace = trace->induced)
    hb::detail::warn(hb::detail::str("\n\nPrevious calculation was induced by ", trace->induced_by,
                                     ". Traceback of forward call that induced the previous calculation:\n",
                                     trace->induced->calls));
}

class AnomalyWatcher final : public GraphWatcher {
 public:
  std::atomic<bool> check_nan{true};

  void inputs(const Node& node, ArrayRef<const Tensor*>) override {
    auto trace = std::make_shared<Trace>();
    trace->calls = hb::detail::backtrace_text(/*skipped=*/2);
    if (!running.empty()) {
      trace->induced = trace_of(*running.back());
      trace->induced_by = running.back()->name();
    }
    const_cast<Node&>(node).add_post_hook(Node::PostHook(TraceHook{std::move(trace)}));
  }
  void result(const Node&, const Tensor&) override {}
  void arrived(const Node&, const variable_list&) override {}
  void begins(const Node& node, const variable_list&) override { running.push_back(&node); }
  void failed(const Node& node) override { ended(node), warn_of(node); }
  void evaluated(const Node& node, const variable_list& grads) override {
    ended(node);
    if (!check_nan) return;
    const Unwatched unwatched;
    NoGradGuard no_grad;
    for (size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i].defined() || !isnan(grads[i].is_sparse() ? grads[i]._values() : grads[i]).any().item<bool>())
        continue;
      warn_of(node);
      HB_CHECK(false, "Function '", node.name(), "' returned nan values in its ", i, "th output.");
    }
  }

 private:
  // A node that began before the mode was on is not among them.
  static void ended(const Node& node) {
    if (!running.empty() && running.back() == &node) running.pop_back();
  }
};

struct State {
  std::mutex mutex;
  AnomalyWatcher watcher;
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
  const bool watched = s.enabled;
  s.enabled = enabled, s.check_nan = check_nan;
  s.watcher.check_nan = check_nan;
  if (enabled && !watched) GraphWatchers::attach(s.watcher);
  if (watched && !enabled) GraphWatchers::detach(s.watcher);
}

DetectAnomalyGuard::DetectAnomalyGuard(bool check_nan)
    : enabled_before_(AnomalyMode::is_enabled()), check_nan_before_(AnomalyMode::should_check_nan()) {
  HB_WARN_ONCE(
      "This mode should be enabled only for debugging as the different tests will slow down your program "
      "execution.");
  AnomalyMode::set_enabled(true, check_nan);
}
DetectAnomalyGuard::~DetectAnomalyGuard() { AnomalyMode::set_enabled(enabled_before_, check_nan_before_); }

}  // namespace hb::autodiff
