#include "function_observer.h"

#include <mutex>
#include <utility>

#include "autograd/sequence.h"
#include "autograd/watch.h"
#include "core/thread_object.h"
#include "core/watch_threads.h"

namespace hb::bridge::recording {

namespace {

std::vector<IValue> values(ArrayRef<const Tensor*> tensors) {
  std::vector<IValue> out;
  for (const Tensor* t : tensors) out.emplace_back(*t);
  return out;
}

/// A range of the library's, with the values that its callbacks look at.
struct Range {
  explicit Range(StepCallbacks&& step) : fn(std::move(step)) {}
  void begin(const std::string& name, std::vector<IValue>&& in, int64_t sequence_nr = -1) {
    inputs = std::move(in);
    fn.before(name, ArrayRef<const IValue>(inputs.data(), inputs.size()), sequence_nr);
  }
  std::vector<IValue> inputs;
  RecordFunction fn;  // ends first
};

/// The steps of backward passes that this thread is in: each is a range within one of the engine's.
using Steps = std::vector<std::pair<std::unique_ptr<Range>, std::unique_ptr<Range>>>;
Steps& steps() { return hb::detail::thread_object<Steps>(); }

class Observer final : public FunctionWatcher, public GraphWatcher {
 public:
  std::shared_ptr<void> begin(WatchedCall& call) override {
    StepCallbacks step = callbacks_of(RecordScope::FUNCTION);
    if (step.empty()) return nullptr;
    const auto range = std::make_shared<Range>(std::move(step));
    const bool asked = range->fn.needsInputs();
    // The node that the function may record gets this number, too.
    const bool recorded = GradMode::is_enabled() && !call.inputs.empty();
    range->begin("aten::" + call.name + (call.in_place ? "_" : ""), asked ? values(call.inputs) : std::vector<IValue>(),
                 recorded ? static_cast<int64_t>(next_sequence_nr()) : -1);
    return range;
  }
  void end(WatchedCall&, const std::shared_ptr<void>& begun, ArrayRef<const Tensor*> results) override {
    auto* range = static_cast<Range*>(begun.get());
    if (!range) return;
    if (range->fn.needsOutputs()) range->fn.setOutputs(values(results));
    range->fn.end();
  }
  void abandon(WatchedCall&, const std::shared_ptr<void>& begun) override {
    if (begun) static_cast<Range*>(begun.get())->fn.end();
  }

  bool sees_everything() const override { return true; }

  void inputs(const Node&, ArrayRef<const Tensor*>) override {}
  void result(const Node&, const Tensor&) override {}
  void arrived(const Node&, const variable_list&) override {}
  void begins(const Node& node, const variable_list& grads) override {
    StepCallbacks outer = callbacks_of(RecordScope::FUNCTION);
    std::unique_ptr<Range> engine, step;
    if (!outer.empty()) {
      engine = std::make_unique<Range>(std::move(outer));
      engine->begin("autograd::engine::evaluate_function: " + node.name(), {});
    }
    StepCallbacks inner = callbacks_of(RecordScope::BACKWARD_FUNCTION);
    if (!inner.empty()) {
      step = std::make_unique<Range>(std::move(inner));
      step->begin(node.name(), {grads.begin(), grads.end()}, static_cast<int64_t>(node.sequence_nr()));
    }
    steps().emplace_back(std::move(engine), std::move(step));
  }
  void evaluated(const Node& node, const variable_list& /*grads*/) override { failed(node); }
  void failed(const Node&) override {
    const auto ended = std::move(steps().back());
    steps().pop_back();
    if (ended.second) ended.second->fn.end();
    if (ended.first) ended.first->fn.end();
  }

  /// Attached while any thread, or all of them together, want it.
  void want(bool& wanted, bool on) {
    const std::lock_guard lock(mutex_);
    if (wanted == on) return;
    wanted = on;
    wishes_ += on ? 1 : -1;
    if (on && wishes_ == 1) {
      Watchers<FunctionWatcher>::attach(*this, WatchPlace::inner);
      GraphWatchers::attach(*this, WatchPlace::inner);
    } else if (!on && wishes_ == 0) {
      Watchers<FunctionWatcher>::detach(*this);
      GraphWatchers::detach(*this);
    }
  }

 private:
  std::mutex mutex_;
  int wishes_ = 0;
};

Observer& observer() {
  static Observer& only = *new Observer;  // threads may compute while the process ends
  return only;
}

}  // namespace

void see_this_thread(bool on) {
  static thread_local bool wanted = false;
  observer().want(wanted, on);
  watch_functions(observer(), on || hasGlobalCallbacks());
}
void see_all_threads(bool on) {
  static bool wanted = false;
  observer().want(wanted, on);
  watch_all_threads(observer(), on);
}

}  // namespace hb::bridge::recording
