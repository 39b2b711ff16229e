#include "tracer.h"

#include <cstdlib>
#include <iostream>

#include <halfbridge/ops.h>

#include "own_work.h"

namespace hb::trace {

namespace {
// Graphs that are older are not followed any more: a network may be computed in one step and used in the next.
constexpr int64_t kStepsFollowed = 4;

std::vector<const Tensor*> pointers(const variable_list& tensors) {
  std::vector<const Tensor*> result;
  for (const Tensor& t : tensors) result.push_back(&t);
  return result;
}
}  // namespace

Tracer& Tracer::instance() {
  static auto* tracer = new Tracer;  // never destroyed: modules live until the process ends
  return *tracer;
}

Tracer::Thread& Tracer::thread() {
  static thread_local Thread state;
  return state;
}

// --- open and close

void Tracer::open(const std::string& folder, const std::vector<std::shared_ptr<Module>>& roots,
                  const SessionOptions& options) {
  HB_CHECK(!open_, "[trace] expected no other session to be open, got one");
  auto replay = options.masks.empty() ? nullptr : std::make_unique<MaskReplay>(options.masks);
  recorder_ = std::make_unique<Recorder>(folder, options);
  replay_ = std::move(replay);
  parameters_ = std::make_unique<Parameters>(tree_, *recorder_);
  gradients_ = std::make_unique<Gradients>(
      [this](const Call& call, Kind kind, int64_t index, const Tensor& g) { write(call, kind, index, g); },
      [this](const Tensor& leaf) { parameters_->touched(leaf); });
  step_ = 0, calls_ = 0;
  ++session_;
  // After the writer's: what is left to record comes first when the process ends.
  static const bool registered = std::atexit([] { instance().close("complete"); }) == 0;
  (void)registered;
  open_ = true;
  for (const auto& root : roots) {
    HB_CHECK(root, "[trace] expected modules as roots, got a null pointer");
    root->apply([this](Module& m) { made(m, false); });
  }
  bridge::nn::module_watcher_slot = this;
  function_watcher = this;
  bridge::optim::step_observer_slot = this;
  mask_watcher_slot = this;
  GraphWatchers::add(*gradients_);
  begin_step();
}

void Tracer::close(const std::string& end) {
  if (!open_.exchange(false)) return;
  recording_ = false;
  watch_functions(false);
  bridge::nn::module_watcher_slot = nullptr;
  function_watcher = nullptr;
  bridge::optim::step_observer_slot = nullptr;
  mask_watcher_slot = nullptr;
  GraphWatchers::remove(*gradients_);
  guarded([&] {
    gradients_->flush();
    const std::lock_guard lock(mutex_);
    parameters_->trace_ends(step_);
  });
  gradients_->forget(INT64_MAX);
  recorder_->close(end);
  const std::lock_guard lock(mutex_);
  for (auto& [module, handles] : hooks_)
    for (unsigned handle : handles) module->remove_hook(handle);
  hooks_.clear();
  tree_ = ModuleTree();
}

bool Tracer::stopped() const { return !open_ || (recorder_->stopped() && !replay_); }

void Tracer::begin_step() {
  recording_ = open_ && recorder_->wants_step(step_);
  watch_functions(recording());
}

// What goes wrong here is no matter of the program's: it is said once, and the trace ends.
void Tracer::guarded(const std::function<void()>& work) noexcept {
  try {
    work();
  } catch (const std::exception& e) {
    recording_ = false;
    std::cerr << "[trace] stopped: " << e.what() << std::endl;
    recorder_->close(e.what());
  }
}

// --- modules

void Tracer::made(Module& module, bool copy) {
  const std::lock_guard lock(mutex_);
  if (tree_.contains(module)) return;
  tree_.add(module);
  if (recording()) watch_functions(true);
  if (!copy) hook(module);  // a copy has its original's
}

void Tracer::gone(Module& module) {
  guarded([&] {
    const std::lock_guard lock(mutex_);
    if (!tree_.contains(module)) return;
    if (recording()) parameters_->module_gone(module, step_);
    hooks_.erase(&module);
    tree_.remove(module);
  });
}

void Tracer::children_changed() {
  const std::lock_guard lock(mutex_);
  tree_.changed();
}

// Copies keep their hooks when the session is closed; they do nothing in a later one.
void Tracer::hook(Module& module) {
  const int64_t session = session_;
  const auto mine = [this, session] { return open_ && session == session_; };
  hooks_[&module] = {
      module.register_forward_pre_hook([this, mine](Module& m, const variable_list& inputs) {
        if (mine()) module_begins(m, inputs);
      }),
      module.register_forward_scope(
          [this, mine](Module& m) { return mine() ? module_enters(m) : std::shared_ptr<void>(); }),
      module.register_forward_hook([this, mine](Module& m, const variable_list&, const variable_list& outputs) {
        if (mine()) module_ended(m, outputs);
      })};
}

void Tracer::module_begins(Module& module, const variable_list& inputs) {
  Thread& t = thread();
  if (t.running.empty()) {
    t.entering.clear();
    gradients_->none_running();
  }
  Frame frame;
  frame.module = &module;
  guarded([&] {
    std::unique_lock lock(mutex_);
    if (!tree_.contains(module)) return;
    const auto& traits = tree_.traits_of(module);
    frame.layer = traits.layer;
    if (!recording() || Recomputation::active()) return;
    const Place place = tree_.place_of(module);
    auto call = new_call(place.path);
    call->about.path = place.path, call->about.root = place.root, call->about.type = traits.type;
    call->about.training = module.is_training();
    if (call->chosen) {
      parameters_->module_called(module, step_);
      call->about.config = config_of(module);
    }
    lock.unlock();
    frame.call = call;
    const auto tensors = pointers(inputs);
    write_all(*call, Kind::input, tensors);
    gradients_->begin(call, tensors);
  });
  t.entering.push_back(std::move(frame));
}

std::shared_ptr<void> Tracer::module_enters(Module& module) {
  Thread& t = thread();
  while (!t.entering.empty() && t.entering.back().module != &module) t.entering.pop_back();
  if (t.entering.empty()) return nullptr;
  t.running.push_back(std::move(t.entering.back()));
  t.entering.pop_back();
  Frame& frame = t.running.back();
  frame.watching = functions_watched();
  watch_functions(frame.call != nullptr && !frame.layer);
  return std::shared_ptr<void>(this, [](void* tracer) { static_cast<Tracer*>(tracer)->module_leaves(); });
}

void Tracer::module_leaves() {
  Thread& t = thread();
  t.left = std::move(t.running.back());
  t.running.pop_back();
  // From the first call on, functions outside of all modules are looked at too.
  watch_functions(recording() && (t.left.watching || t.running.empty()) && !Recomputation::active());
}

void Tracer::module_ended(Module& module, const variable_list& outputs) {
  const Frame frame = std::exchange(thread().left, {});
  if (frame.module != &module || !frame.call) return;
  guarded([&] {
    const auto tensors = pointers(outputs);
    write_all(*frame.call, Kind::output, tensors);
    gradients_->end(*frame.call, tensors);
    for (const Tensor* t : tensors) recorder_->remember(*t);
  });
}

// --- functions

void Tracer::begin(WatchedCall& call) {
  Thread& t = thread();
  if (!recording() || Recomputation::active()) return;
  guarded([&] {
    if (t.running.empty() && !takes_recorded(call)) return;
    bool floats = false;
    for (const Tensor* in : call.inputs) floats = floats || (in->defined() && in->is_floating_point());
    if (!floats) return;
    const Call* around = t.running.empty() ? nullptr : t.running.back().call.get();
    auto made = new_call(around ? around->layer : std::string());
    if (around) made->about.root = around->about.root;
    made->about.type = call.name, made->about.config = call.config;
    write_all(*made, Kind::input, call.inputs);
    if (t.running.empty()) gradients_->none_running();
    gradients_->begin(made, call.inputs);
    call.data = made;
    t.function = std::move(made);
    t.masks = 0;
  });
}

void Tracer::end(WatchedCall& call, ArrayRef<const Tensor*> results) {
  thread().function.reset();
  if (!call.data) return;
  guarded([&] {
    const Call& ended = *static_cast<Call*>(call.data.get());
    write_all(ended, Kind::output, results);
    gradients_->end(ended, results);
    for (const Tensor* r : results) recorder_->remember(*r);
  });
}

void Tracer::abandon(WatchedCall& call) {
  thread().function.reset();
  if (call.data) gradients_->abandon(*static_cast<Call*>(call.data.get()));
}

bool Tracer::takes_recorded(const WatchedCall& call) {
  for (const Tensor* t : call.inputs) {
    if (!t->defined()) continue;
    if (GradMode::is_enabled() ? t->requires_grad() : !call.in_place && t->is_leaf() && t->requires_grad()) return true;
    if (recorder_->remembers(*t)) return true;
  }
  return false;
}

// --- records

std::shared_ptr<Call> Tracer::new_call(const std::string& layer) {
  auto call = std::make_shared<Call>();
  call->layer = layer;
  call->chosen = recorder_->wants_layer(layer);
  call->about.step = step_;
  call->about.call = calls_++;
  const auto& running = thread().running;
  for (auto it = running.rbegin(); it != running.rend() && !call->about.parent; ++it)
    if (it->call && it->call->chosen) call->about.parent = it->call->about.call;
  return call;
}

void Tracer::write(const Call& call, Kind kind, int64_t index, const Tensor& tensor) {
  const int64_t step = step_;
  if (!call.chosen || !tensor.defined() || !recorder_->wants(kind, step, call.layer)) return;
  Record r = call.about;
  r.kind = kind, r.index = index, r.step = step;
  recorder_->write(std::move(r), tensor);
}

void Tracer::write_all(const Call& call, Kind kind, ArrayRef<const Tensor*> tensors) {
  int64_t index = 0;
  for (const Tensor* t : tensors) write(call, kind, index++, *t);
}

void Tracer::drawn(Tensor& mask, double kept) {
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
  watch_functions(false);
  stepping_ = true;
  if (!recording()) return;
  guarded([&] {
    gradients_->flush();
    const std::lock_guard lock(mutex_);
    parameters_->step_begins(optimizer, grads, step_);
  });
}

void Tracer::step_ended(bridge::optim::Optimizer& optimizer) noexcept {
  if (recording()) {
    guarded([&] {
      const std::lock_guard lock(mutex_);
      parameters_->step_ended(optimizer, step_);
      recorder_->flush();
    });
  }
  stepping_ = false;
  ++step_;
  gradients_->forget(step_ - kStepsFollowed);
  begin_step();
}

// It belongs to the step whose gradients it scaled.
void Tracer::scale_updated(const Tensor& scale) noexcept {
  guarded([&] {
    Record r;
    r.kind = Kind::loss_scale, r.name = "scale", r.step = stepping_ ? step_.load() : std::max<int64_t>(step_ - 1, 0);
    if (recorder_->wants(r.kind, r.step, "")) recorder_->write(std::move(r), scale);
  });
}

}  // namespace hb::trace
