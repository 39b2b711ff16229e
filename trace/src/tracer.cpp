#include "tracer.h"

#include <cstdlib>
#include <iostream>

#include <halfbridge/ops.h>

#include "core/device_backend.h"
#include "core/thread_object.h"
#include "own_work.h"

namespace hb::trace {

namespace {
// Graphs that are older are not followed any more: a network may be computed in one step and used in the next.
constexpr int64_t kStepsFollowed = 4;

/// `end`, or what to say instead where HALFBRIDGE_TRACE_DEVICE names a device of which no memory was ever used.
std::string end_on_device(const std::string& end) {
  const char* const wish = std::getenv("HALFBRIDGE_TRACE_DEVICE");
  if (!wish || !*wish || end != "complete") return end;
  DeviceBackend* const backend = find_device_backend(Device(wish).type());
  for (DeviceIndex i = 0; backend && i < backend->count(); ++i)
    if (backend->peak_memory(i) > 0) return end;
  return std::string("nothing was computed on ") + wish;
}
}  // namespace

Tracer& Tracer::instance() {
  static auto* tracer = new Tracer;  // never destroyed: modules live until the process ends
  return *tracer;
}

Tracer::Thread& Tracer::thread() { return hb::detail::thread_object<Thread>(); }

// --- open and close

void Tracer::open(const std::string& folder, const std::vector<std::shared_ptr<Module>>& roots,
                  const SessionOptions& options) {
  const Change change(*this);
  HB_CHECK(!open_, "[trace] expected no other session to be open, got one");
  for (const auto& root : roots) HB_CHECK(root, "[trace] expected modules as roots, got a null pointer");
  auto replay = options.masks.empty() ? nullptr : std::make_unique<MaskReplay>(options.masks);
  replays_ = replays_wished();
  recorder_ = std::make_unique<Recorder>(folder, options);
  recorder_->watch = [this](const Record& r, const Tensor& t, const Recorder::Remake& again) { watch(r, t, again); };
  replay_ = std::move(replay);
  parameters_ = std::make_unique<Parameters>(tree_, *recorder_);
  gradients_ = std::make_unique<Gradients>(
      [this](const Call& call, Kind kind, int64_t index, const Tensor& g) { write(call, kind, index, g); },
      [this](const Tensor& leaf) { parameters_->touched(leaf); });
  step_ = 0, calls_ = 0, replayed_ = 0;
  ++session_;
  // After the writer's: what is left to record comes first when the process ends.
  static const bool registered = std::atexit([] { instance().close("complete", /*exits=*/true); }) == 0;
  (void)registered;
  open_ = true;
  for (const auto& root : roots) root->apply([this](Module& m) { made(m, false); });
  bridge::nn::ModuleWatchers::attach(*this);
  Watchers<FunctionWatcher>::attach(*this);
  Watchers<bridge::optim::StepObserver>::attach(*this);
  Watchers<MaskWatcher>::attach(*this);
  GraphWatchers::attach(*this);
  if (replays_) capture::set_replay_watcher(this);
  begin_step();
}

void Tracer::close(const std::string& end, bool exits) {
  const Change change(*this);
  if (!open_.exchange(false)) return;
  recording_ = false;
  watch_functions(*this, false);
  bridge::nn::ModuleWatchers::detach(*this);
  Watchers<FunctionWatcher>::detach(*this);
  Watchers<bridge::optim::StepObserver>::detach(*this);
  Watchers<MaskWatcher>::detach(*this);
  GraphWatchers::detach(*this);
  if (replays_) capture::set_replay_watcher(nullptr);
  guarded([&] {
    gradients_->flush();
    const std::lock_guard lock(mutex_);
    parameters_->trace_ends(step_);
  });
  gradients_->forget(INT64_MAX);
  recorder_->close(replays_ && replayed_ == 0 && end == "complete" ? "nothing was replayed" : end_on_device(end));
  const std::lock_guard lock(mutex_);
  if (!exits)
    for (auto& [module, handles] : hooks_)
      for (unsigned handle : handles) module->remove_hook(handle);
  hooks_.clear();
  tree_ = ModuleTree();
}

bool Tracer::stopped() {
  const Callback callback(*this);
  return !open_ || (recorder_->stopped() && !replay_);
}

void Tracer::begin_step() {
  recording_ = open_ && recorder_->wants_step(step_);
  watch_functions(*this, recording());
}

// An error here must not stop the program: it is printed once, and the trace ends.
void Tracer::guarded(const std::function<void()>& work) noexcept {
  try {
    work();
  } catch (const std::exception& e) {
    recording_ = false;
    std::cerr << "[trace] stopped: " << e.what() << std::endl;
    recorder_->close(e.what());
  }
}

// --- functions

std::shared_ptr<void> Tracer::begin(WatchedCall& call) {
  const Callback callback(*this);
  Thread& t = thread();
  std::shared_ptr<Call> begun;
  if (!recording() || Recomputation::active()) return begun;
  guarded([&] {
    if (t.running.empty() && !takes_recorded(call)) return;
    bool floats = false;
    for (const Tensor* in : call.inputs) floats = floats || in->is_floating_point() || in->is_complex();
    if (!floats) return;
    const Call* around = t.running.empty() ? nullptr : t.running.back().call.get();
    auto made = new_call(around ? around->layer : std::string());
    if (around) made->about.root = around->about.root;
    made->about.type = call.name, made->about.config = call.config;
    write_all(*made, Kind::input, call.inputs);
    if (t.running.empty()) gradients_->none_running();
    gradients_->begin(made, call.inputs);
    begun = made;
    t.function = std::move(made);
    t.masks = 0;
  });
  return begun;
}

void Tracer::end(WatchedCall&, const std::shared_ptr<void>& begun, ArrayRef<const Tensor*> results) {
  const Callback callback(*this);
  thread().function.reset();
  if (!begun) return;
  guarded([&] {
    const Call& ended = *static_cast<Call*>(begun.get());
    write_all(ended, Kind::output, results);
    gradients_->end(ended, results);
    for (const Tensor* r : results) recorder_->remember(*r);
  });
}

void Tracer::abandon(WatchedCall&, const std::shared_ptr<void>& begun) {
  const Callback callback(*this);
  thread().function.reset();
  if (begun) gradients_->abandon(*static_cast<Call*>(begun.get()));
}

bool Tracer::takes_recorded(const WatchedCall& call) {
  for (const Tensor* t : call.inputs) {
    if (!t->defined()) continue;
    if (GradMode::is_enabled() ? t->requires_grad() : !call.in_place && t->is_leaf() && t->requires_grad()) return true;
    if (recorder_->remembers(*t)) return true;
  }
  return false;
}

// --- the graph

void Tracer::inputs(const Node& node, ArrayRef<const Tensor*> inputs) {
  const Callback callback(*this);
  if (open_) gradients_->inputs(node, inputs);
}
void Tracer::arrived(const Node& node, const variable_list& grads) {
  const Callback callback(*this);
  if (open_) gradients_->arrived(node, grads);
}
void Tracer::evaluated(const Node& node, const variable_list& grads) {
  const Callback callback(*this);
  if (open_) gradients_->evaluated(node, grads);
}

// --- records

std::shared_ptr<Call> Tracer::new_call(const std::string& layer) {
  auto call = std::make_shared<Call>();
  call->layer = layer;
  call->chosen = recorder_->wants_layer(layer);
  call->session = session_;
  call->about.step = step_;
  call->about.call = calls_++;
  const auto& running = thread().running;
  for (auto it = running.rbegin(); it != running.rend() && !call->about.parent; ++it)
    if (it->call && it->call->chosen) call->about.parent = it->call->about.call;
  return call;
}

void Tracer::write(const Call& call, Kind kind, int64_t index, const Tensor& tensor) {
  const int64_t step = step_;
  // A call that began in an earlier session does not belong to this one.
  if (!call.chosen || call.session != session_ || !tensor.defined() || !recorder_->wants(kind, step, call.layer))
    return;
  Record r = call.about;
  r.kind = kind, r.index = index, r.step = step;
  recorder_->write(std::move(r), tensor);
}

void Tracer::write_all(const Call& call, Kind kind, ArrayRef<const Tensor*> tensors) {
  int64_t index = 0;
  for (const Tensor* t : tensors) write(call, kind, index++, *t);
}

void Tracer::drawn(Tensor& mask, double kept) {
  const Callback callback(*this);
  Thread& t = thread();
  const Frame* layer = !t.running.empty() && t.running.back().layer ? &t.running.back() : nullptr;
  if (replay_) {
    const std::lock_guard lock(mutex_);
    const std::string path = layer ? tree_.place_of(*layer->module).path : std::string();
    if (replay_->has_step(step_)) {
      const OwnWork own;
      mask.copy_(replay_->next(step_, layer != nullptr, path, mask.sizes(), Recomputation::active()));
      mask.mul_(kept);
    }
  }
  const Call* call = layer ? layer->call.get() : t.function.get();
  if (!call || !recording() || Recomputation::active()) return;
  guarded([&] {
    const OwnWork own;
    write(*call, Kind::mask, layer ? t.running.back().masks++ : t.masks++, mask.ne(0));
  });
}

// --- steps

void Tracer::step_begins(bridge::optim::Optimizer& optimizer, const std::vector<Tensor>* grads) noexcept {
  const Callback callback(*this);
  watch_functions(*this, false);
  stepping_ = true;
  if (!recording()) return;
  guarded([&] {
    gradients_->flush();
    const std::lock_guard lock(mutex_);
    parameters_->step_begins(optimizer, grads, step_);
  });
}

void Tracer::step_ended(bridge::optim::Optimizer& optimizer) noexcept {
  const Callback callback(*this);
  if (recording()) {
    guarded([&] {
      const std::lock_guard lock(mutex_);
      parameters_->step_ended(optimizer, step_);
      recorder_->flush();
    });
  }
  stepping_ = false;
  watch_step();
  next_step();
}

void Tracer::next_step() {
  ++step_;
  gradients_->forget(step_ - kStepsFollowed);
  begin_step();
}

// It belongs to the step whose gradients it scaled.
void Tracer::scale_updated(const Tensor& scale) noexcept {
  const Callback callback(*this);
  guarded([&] {
    Record r;
    r.kind = Kind::loss_scale, r.name = "scale", r.step = stepping_ ? step_.load() : std::max<int64_t>(step_ - 1, 0);
    if (recorder_->wants(r.kind, r.step, "")) recorder_->write(std::move(r), scale);
  });
}

}  // namespace hb::trace
