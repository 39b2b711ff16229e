#include <algorithm>

#include <halfbridge/error.h>
#include <halfbridge/graph.h>

#include "autograd/loss_scaling.h"
#include "autograd/watch.h"
#include "core/function_watch.h"
#include "core/warnings.h"
#include "ops/nn/mask_watch.h"
#include "optim/step_observer.h"
#include "optim/step_watcher.h"
#include "program.h"

namespace hb::graph {

namespace {
constexpr int kWarmUp = 2;    // eager calls before the first recording
constexpr int kTries = 3;     // recordings that may fail before the step counts as one that cannot be captured
constexpr int kTooOften = 4;  // recordings without a replay between them

// Tools see functions, modules and steps; a replay has none.
bool watched() {
  return functions_watched() || GraphWatchers::any() || Watchers<MaskWatcher>::any() ||
         Watchers<BackwardScaling>::any() || bridge::optim::StepWatchers::any() ||
         Watchers<bridge::optim::StepObserver>::any();
}

class Seeing final : public FunctionWatcher {
 public:
  std::shared_ptr<void> begin(WatchedCall& call) override {
    for (const Tensor* t : call.inputs) capture::uses(*t);
    return nullptr;
  }
  void end(WatchedCall&, const std::shared_ptr<void>&, ArrayRef<const Tensor*>) override {}
  void abandon(WatchedCall&, const std::shared_ptr<void>&) override {}
};
}  // namespace

struct Captured::State {
  explicit State(CompileOptions o) : options(std::move(o)) {}

  std::vector<Tensor> run_eagerly(const char* why, const Eager& eager);
  std::vector<Tensor> record(const std::vector<Tensor>& inputs, const std::vector<double>& numbers,
                             const Surroundings& surroundings, const Eager& eager);
  void learn(Recording& recording);
  void failed(const std::string& why);
  bool pauses(const char* reason);

  CompileOptions options;
  CompileCounts counts;
  std::vector<std::unique_ptr<Program>> programs;  // the one used last first
  std::vector<TensorHandle> leaves;
  int failures = 0, in_a_row = 0, pause = 0;
  bool given_up = false;
};

Captured::Captured(CompileOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Captured::Captured(Captured&&) noexcept = default;
Captured& Captured::operator=(Captured&&) noexcept = default;
Captured::~Captured() = default;

CompileCounts Captured::counts() const { return state_->counts; }
std::string Captured::print() const { return state_->programs.empty() ? "" : state_->programs.front()->print(); }
void Captured::save_page(const std::string& file, int replays) {
  HB_CHECK(!state_->programs.empty(), "[save_page] expected a step that was captured; it is at its third call");
  HB_CHECK(replays > 0, "[save_page] expected 1 replay or more, got ", replays);
  state_->programs.front()->save_page(file, replays);
}
size_t Captured::arena_bytes() const { return state_->programs.empty() ? 0 : state_->programs.front()->arena_bytes(); }
void Captured::reset() { *state_ = State(state_->options); }

std::vector<Tensor> Captured::State::run_eagerly(const char* why, const Eager& eager) {
  ++counts.eager;
  counts.reason = why;
  return eager();
}

// Leaves that get gradients are known to the next recording when it begins.
void Captured::State::learn(Recording& recording) {
  for (const Tensor& t : recording.found_leaves)
    if (std::none_of(leaves.begin(), leaves.end(), [&](const TensorHandle& known) { return known->is_same(t); }))
      leaves.push_back(handle_of(t));
}

void Captured::State::failed(const std::string& why) {
  counts.reason = why;
  if (++failures < kTries) return;
  const std::string text = "[compile] the step cannot be captured: " + why;
  if (!options.fall_back) throw Error(text);
  if (!std::exchange(given_up, true)) detail::warn(text + "; it runs eagerly");
}

std::vector<Tensor> Captured::State::record(const std::vector<Tensor>& inputs, const std::vector<double>& numbers,
                                            const Surroundings& surroundings, const Eager& eager) {
  ++counts.eager;
  const auto seeing = std::make_shared<Seeing>();
  std::vector<Tensor> results;
  std::string why;
  bool learnt = false;
  {
    std::vector<Tensor> known;
    for (const TensorHandle& leaf : leaves) known.push_back(*leaf);
    std::vector<Signature> signature = Signature::of(inputs);
    Recording recording(inputs, known);
    {
      const Attachment<FunctionWatcher> attached(seeing);
      watch_functions(*seeing, true);
      struct Off {
        const Seeing& seeing;
        Recording& recording;
        ~Off() { watch_functions(seeing, false), recording.stop(); }
      } off{*seeing, recording};
      results = eager();
    }
    if (capture::module_modes.load(std::memory_order_relaxed) != surroundings.module_modes)
      recording.refuse("train", "leaves a module in another mode; call train() and eval() outside of the step");
    learnt = !recording.found_leaves.empty();
    learn(recording);
    try {
      auto program =
          std::make_unique<Program>(recording, results, std::move(signature), numbers, surroundings, options);
      if (programs.size() >= std::max<size_t>(options.max_graphs, 1)) programs.pop_back();
      programs.insert(programs.begin(), std::move(program));
    } catch (const RecordingError& e) {
      why = e.why;
    }
  }
  if (why.empty()) {
    ++counts.recorded, ++in_a_row;
    failures = 0;
    counts.reason = "recorded";
  } else if (learnt) {
    counts.reason = why;  // the next recording knows better
  } else {
    failed(why);
  }
  return results;
}

// After recordings that were of no use the step runs eagerly for a while, longer each time.
bool Captured::State::pauses(const char* reason) {
  if (pause > 0) return --pause > 0;
  if (in_a_row < kTooOften) return false;
  if (in_a_row == kTooOften)
    detail::warn(detail::str("[compile] a step is recorded again at each call, as this differs: ", reason,
                             "; it runs eagerly most of the time"));
  pause = 1 << std::min(in_a_row, 10);
  return true;
}

std::vector<Tensor> Captured::call(const std::vector<Tensor>& tensors, const std::vector<double>& numbers,
                                   const Eager& eager) {
  State& s = *state_;
  if (s.given_up) return s.run_eagerly(s.counts.reason.c_str(), eager);
  if (capture::any_recording() && capture::recorder()) return s.run_eagerly("it is part of a recorded step", eager);
  if (watched()) return s.run_eagerly("a tool watches what the program computes", eager);
  if (s.counts.eager < kWarmUp - 1) return s.run_eagerly("the first calls are eager", eager);
  const Surroundings now = Surroundings::now();
  const char* reason = "the first recording";
  for (size_t i = 0; i < s.programs.size(); ++i) {
    const char* const other = s.programs[i]->mismatch(tensors, numbers, now);
    if (!other) {
      if (i > 0)
        std::rotate(s.programs.begin(), s.programs.begin() + static_cast<std::ptrdiff_t>(i),
                    s.programs.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      ++s.counts.replayed;
      s.in_a_row = 0;
      return s.programs.front()->replay(tensors);
    }
    if (i == 0) reason = other;
  }
  if (s.pauses(reason)) return s.run_eagerly(reason, eager);
  if (s.counts.eager == kWarmUp - 1) {
    // What the first recording finds is not used but for the leaves.
    auto results = s.record(tensors, numbers, now, eager);
    if (s.counts.recorded) s.programs.clear(), s.counts.recorded = 0;
    s.failures = 0, s.in_a_row = 0;
    s.counts.reason = "the first calls are eager";
    return results;
  }
  return s.record(tensors, numbers, now, eager);
}

}  // namespace hb::graph
