#include <algorithm>
#include <map>

#include <halfbridge/error.h>
#include <halfbridge/graph.h>

#include "autograd/loss_scaling.h"
#include "autograd/watch.h"
#include "core/warnings.h"
#include "core/watch_call.h"
#include "core/watch_threads.h"
#include "gpu_steps.h"
#include "objects.h"
#include "ops/nn/mask_watch.h"
#include "optim/step_observer.h"
#include "optim/step_watcher.h"
#include "program.h"
#include "seeing.h"

namespace hb::graph {

namespace {
constexpr int kWarmUp = 2;    // eager calls before the first recording
constexpr int kTries = 3;     // recordings that may fail before the step counts as one that cannot be captured
constexpr int kCertain = 2;   // as many failures as a recording counts that met what cannot be captured
constexpr int kTrusted = 16;  // replays before a graph is compared with the step that two calls in a row agreed on
constexpr char kChanges[] =
    "; what the program changes from call to call has to be an argument of the step, a tensor, or named with "
    "CompileOptions::reads()";
constexpr int kTooOften = 4;  // recordings without a replay between them

}  // namespace

bool watched() {
  settle_watchers_of_thread();
  return functions_watched() || GraphWatchers::any() || Watchers<MaskWatcher>::any() ||
         Watchers<BackwardScaling>::any() || bridge::optim::StepWatchers::any() ||
         Watchers<bridge::optim::StepObserver>::any();
}

struct Captured::State {
  explicit State(CompileOptions o) : options(std::move(o)) {}

  /// A step that ran eagerly while it was recorded.
  struct Run {
    std::unique_ptr<Recording> recording;
    std::vector<Tensor> results;
    std::vector<Signature> signature;
    Fingerprint did;
    bool refused() const { return !recording->refused.empty(); }
  };
  struct Arguments {
    const std::vector<Tensor>& tensors;
    const std::vector<double>& numbers;
    const Surroundings& surroundings;
  };

  std::vector<Tensor> run_eagerly(const char* why, const Eager& eager);
  Run run_recorded(const Arguments& arguments, const Eager& eager);
  std::vector<Tensor> warm_up(const Arguments& arguments, const Eager& eager);
  std::vector<Tensor> record(const Arguments& arguments, const Eager& eager);
  std::vector<Tensor> compare(const Arguments& arguments, const Eager& eager);
  bool keep(Run& run, const Arguments& arguments, int64_t compare_after);
  void learn(Recording& recording);
  void failed(const std::string& why, int weight);
  bool pauses(const char* reason);

  CompileOptions options;
  CompileCounts counts;
  std::vector<std::unique_ptr<Program>> programs;  // the one used last first
  std::vector<TensorHandle> leaves;
  struct Before {  // what the last call did, until there is a first graph
    Fingerprint did;
    std::vector<Signature> signature;
    std::vector<const TensorImpl*> tensors;
    std::vector<double> numbers;
    Surroundings surroundings;
    std::map<const TensorImpl*, const TensorImpl*> gradients;  // of leaves, when it began
    std::map<const TensorImpl*, bool> requires_grad;           // of what it used
    std::vector<capture::Differs> conditions;
    std::unique_ptr<ObjectGuard> objects;
  };
  Before before_of(Run& run, const Arguments& arguments) const;
  static bool same_conditions(const Before& before, const Run& run, const Arguments& arguments);
  std::optional<Before> before;
  int failures = 0, in_a_row = 0, pause = 0;
  bool given_up = false;
  GpuSteps gpu{options};
};

Captured::Captured(CompileOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Captured::Captured(Captured&&) noexcept = default;
Captured& Captured::operator=(Captured&&) noexcept = default;
Captured::~Captured() = default;

CompileCounts Captured::counts() const {
  CompileCounts all = state_->counts;
  state_->gpu.add_to(all);
  return all;
}
std::string Captured::print() const { return state_->programs.empty() ? "" : state_->programs.front()->print(); }
void Captured::save_page(const std::string& file, int replays) {
  HB_CHECK(!state_->programs.empty(), "[save_page] expected a step that was captured; it is at its third call");
  HB_CHECK(replays > 0, "[save_page] expected 1 replay or more, got ", replays);
  state_->programs.front()->save_page(file, replays);
}
size_t Captured::arena_bytes() const { return state_->programs.empty() ? 0 : state_->programs.front()->arena_bytes(); }
void Captured::reset() { state_ = std::make_unique<State>(state_->options); }

std::vector<Tensor> Captured::State::run_eagerly(const char* why, const Eager& eager) {
  ++counts.eager;
  counts.reason = why;
  return eager();
}

// Leaves that get gradients are known to the next recording when it begins.
void Captured::State::learn(Recording& recording) {
  for (const auto& [t, had] : recording.found_leaves)
    if (std::none_of(leaves.begin(), leaves.end(), [&](const TensorHandle& known) { return known->is_same(t); }))
      leaves.push_back(handle_of(t));
}

void Captured::State::failed(const std::string& why, int weight) {
  counts.reason = why;
  if ((failures += weight) < kTries) return;
  const std::string text = "[compile] the step cannot be captured: " + why;
  if (!options.fall_back) throw Error(text);
  if (!std::exchange(given_up, true)) detail::warn(text + "; it runs eagerly");
}

Captured::State::Run Captured::State::run_recorded(const Arguments& arguments, const Eager& eager) {
  ++counts.eager;
  const auto seeing = std::make_shared<Seeing>();
  std::vector<Tensor> known;
  for (const TensorHandle& leaf : leaves) known.push_back(*leaf);
  const uint64_t modes = capture::modes_of_thread();
  Run run;
  run.signature = Signature::of(arguments.tensors);
  run.recording = std::make_unique<Recording>(arguments.tensors, known);
  {
    const Attachment<FunctionWatcher> attached(seeing);
    watch_functions(*seeing, true);
    struct Off {
      const Seeing& seeing;
      Recording& recording;
      ~Off() { watch_functions(seeing, false), recording.stop(); }
    } off{*seeing, *run.recording};
    capture::ReplayWatcher* const watcher = capture::replay_watcher();
    if (watcher) watcher->step_begins(/*replayed=*/false);
    run.results = eager();
    for (const Tensor& t : run.results) capture::uses(t);
    if (watcher) watcher->recorded();
  }
  if (capture::modes_of_thread() != modes)
    run.recording->refuse("train", "leaves a module in another mode; call train() and eval() outside of the step");
  learn(*run.recording);
  if (!run.refused()) run.did = Fingerprint(*run.recording, run.results);
  return run;
}

// Makes a graph of what was recorded, if that can be.
bool Captured::State::keep(Run& run, const Arguments& arguments, int64_t compare_after) {
  try {
    auto program = std::make_unique<Program>(*run.recording, run.results, std::move(run.signature), arguments.numbers,
                                             arguments.surroundings, options);
    program->compare_after(std::move(run.did), options.compare_every > 0 ? compare_after : 0);
    if (programs.size() >= std::max<size_t>(options.max_graphs, 1)) programs.pop_back();
    programs.insert(programs.begin(), std::move(program));
    ++counts.recorded, ++in_a_row;
    failures = 0;
    counts.reason = "recorded";
    return true;
  } catch (const RecordingError& e) {
    failed(e.why, run.refused() ? kCertain : 1);
    return false;
  }
}

Captured::State::Before Captured::State::before_of(Run& run, const Arguments& arguments) const {
  Before b{std::move(run.did), std::move(run.signature), {}, arguments.numbers, arguments.surroundings, {}, {}, {}, {}};
  for (const Tensor& t : arguments.tensors)
    if (t.defined()) b.tensors.push_back(&t.impl());
  b.objects = std::make_unique<ObjectGuard>(options.objects);
  for (const Leaf& l : run.recording->leaves)
    b.gradients[&l.leaf.impl()] = l.before.defined() ? &l.before.impl() : nullptr;
  for (const FoundLeaf& l : run.recording->found_leaves) b.gradients[&l.leaf.impl()] = l.gradient;
  for (const Outside& o : run.recording->outside) b.requires_grad[&o.tensor.impl()] = o.requires_grad;
  b.conditions = run.recording->conditions;
  return b;
}

// Whether a graph of the call before would stand for this one: else they may well differ.
bool Captured::State::same_conditions(const Before& b, const Run& run, const Arguments& arguments) {
  if (b.signature != run.signature || b.numbers != arguments.numbers ||
      b.surroundings.differs(arguments.surroundings) || b.objects->differs())
    return false;
  for (const Leaf& l : run.recording->leaves) {
    const auto then = b.gradients.find(&l.leaf.impl());
    if (then == b.gradients.end()) continue;
    if ((then->second != nullptr) != l.before.defined()) return false;
    // The step adds to one, or reads it.
    if (l.before.defined() && !l.dropped && then->second != &l.before.impl()) return false;
  }
  for (const Outside& o : run.recording->outside) {
    const auto then = b.requires_grad.find(&o.tensor.impl());
    if (then != b.requires_grad.end() && then->second != o.requires_grad) return false;
  }
  return std::none_of(b.conditions.begin(), b.conditions.end(),
                      [](const capture::Differs& differs) { return differs(); });
}

// The last call before the first graph: finds the leaves, and shows what the next one has to do, too.
std::vector<Tensor> Captured::State::warm_up(const Arguments& arguments, const Eager& eager) {
  Run run = run_recorded(arguments, eager);
  if (run.refused())
    failures = kCertain;
  else
    before = before_of(run, arguments);
  counts.reason = run.refused() ? run.recording->refused : "the first calls are eager";
  return std::move(run.results);
}

std::vector<Tensor> Captured::State::record(const Arguments& arguments, const Eager& eager) {
  Run run = run_recorded(arguments, eager);
  if (!run.recording->found_leaves.empty()) {
    counts.reason = "a gradient for a tensor that had none in the calls before";  // the next recording knows better
    return std::move(run.results);
  }
  std::optional<std::string> other;
  const bool twice =
      !run.refused() && before && before->did.comparable(run.did) && same_conditions(*before, run, arguments);
  if (twice) other = before->did.differs(run.did);
  if (other) {
    before = before_of(run, arguments);
    failed("two calls in a row differ: " + *other + kChanges, 1);
    return std::move(run.results);
  }
  const std::optional<Before> confirms = twice ? std::move(before) : std::nullopt;
  before.reset();
  if (keep(run, arguments, twice ? kTrusted : 1) && confirms) programs.front()->did_the_same_with(confirms->tensors);
  return std::move(run.results);
}

// A call that the graph in front stands for, made eagerly to see whether it still does.
std::vector<Tensor> Captured::State::compare(const Arguments& arguments, const Eager& eager) {
  Run run = run_recorded(arguments, eager);
  Program& program = *programs.front();
  std::optional<std::string> other;
  if (run.refused() || !program.did().comparable(run.did))
    other = run.recording->refused;
  else
    other = program.did().differs(run.did);
  if (!other) {
    ++counts.compared;
    counts.reason = "compared with the step";
    program.is_compared(options.compare_every);
    return std::move(run.results);
  }
  if (!other->empty())
    detail::warn(detail::str("[compile] the step is no longer what its graph was recorded from, which was replayed ",
                             program.replays(), " times since they were compared: ", *other, kChanges));
  programs.erase(programs.begin());
  keep(run, arguments, 1);
  return std::move(run.results);
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
  if (watched() && !capture::replay_watcher()) return s.run_eagerly("a tool watches what the program computes", eager);
  if (GpuSteps::takes(tensors)) return s.gpu.call(tensors, numbers, eager);
  if (s.counts.eager < kWarmUp - 1) return s.run_eagerly("the first calls are eager", eager);
  const Surroundings now = Surroundings::now();
  const State::Arguments arguments{tensors, numbers, now};
  const char* reason = "the first recording";
  for (size_t i = 0; i < s.programs.size(); ++i) {
    const char* const other = s.programs[i]->mismatch(tensors, numbers, now);
    if (other) {
      if (i == 0) reason = other;
      continue;
    }
    if (i > 0)
      std::rotate(s.programs.begin(), s.programs.begin() + static_cast<std::ptrdiff_t>(i),
                  s.programs.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    if (HB_UNLIKELY(s.programs.front()->to_be_compared(tensors))) return s.compare(arguments, eager);
    ++s.counts.replayed;
    s.in_a_row = 0;
    return s.programs.front()->replay(tensors);
  }
  if (s.pauses(reason)) return s.run_eagerly(reason, eager);
  return s.counts.eager == kWarmUp - 1 ? s.warm_up(arguments, eager) : s.record(arguments, eager);
}

}  // namespace hb::graph
