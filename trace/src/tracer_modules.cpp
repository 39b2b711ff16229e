// What the tracer sees of modules: which there are, and their calls, by hooks.
#include "tracer.h"

namespace hb::trace {

namespace {
std::vector<const Tensor*> pointers(const variable_list& tensors) {
  std::vector<const Tensor*> result;
  for (const Tensor& t : tensors) result.push_back(&t);
  return result;
}
}  // namespace

void Tracer::made(Module& module, bool copy) {
  const Callback callback(*this);
  if (!open_) return;  // closed meanwhile, and so below
  const std::lock_guard lock(mutex_);
  if (tree_.contains(module)) return;
  tree_.add(module);
  if (recording()) watch_functions(*this, true);
  if (!copy) hook(module);  // a copy has its original's
}

void Tracer::gone(Module& module) {
  const Callback callback(*this);
  if (!open_) return;
  guarded([&] {
    const std::lock_guard lock(mutex_);
    if (!tree_.contains(module)) return;
    if (recording()) parameters_->module_gone(module, step_);
    hooks_.erase(&module);
    tree_.remove(module);
  });
}

void Tracer::children_changed() {
  const Callback callback(*this);
  const std::lock_guard lock(mutex_);
  tree_.changed();
}

// Copies keep their hooks when the session is closed; they do nothing in a later one.
void Tracer::hook(Module& module) {
  const int64_t session = session_;
  const auto mine = [this, session] { return open_ && session == session_; };
  hooks_[&module] = {
      module.register_forward_pre_hook([this, mine](Module& m, const variable_list& inputs) {
        const Callback callback(*this);
        if (mine()) module_begins(m, inputs);
      }),
      module.register_forward_scope(
          [this, mine](Module& m) { return mine() ? module_enters(m) : std::shared_ptr<void>(); }),
      module.register_forward_hook([this, mine](Module& m, const variable_list&, const variable_list& outputs) {
        const Callback callback(*this);
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
  frame.watching = watches_functions(*this);
  watch_functions(*this, frame.call != nullptr && !frame.layer);
  return std::shared_ptr<void>(this, [](void* tracer) { static_cast<Tracer*>(tracer)->module_leaves(); });
}

void Tracer::module_leaves() {
  Thread& t = thread();
  t.left = std::move(t.running.back());
  t.running.pop_back();
  // From the first call on, the tracer sees functions outside of all modules too.
  watch_functions(*this, recording() && (t.left.watching || t.running.empty()) && !Recomputation::active());
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

}  // namespace hb::trace
