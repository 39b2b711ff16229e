// A replay: bring the calls to where memory is now, make them, hand out what they made.
#include <cstring>

#include <halfbridge/autograd.h>

#include "core/watch_call.h"
#include "program.h"

namespace hb::graph {

Tensor formed(const Tensor& form, const intrusive_ptr<StorageImpl>& storage) {
  auto impl = form.impl().snapshot();
  impl->set_storage(storage, impl->dtype());
  return Tensor(std::move(impl));
}

void point(const Place& place, const char* base) {
  const char* address = base + place.offset;
  std::memcpy(place.pointer, &address, sizeof address);
}

void Program::bind(Slot& slot, const intrusive_ptr<StorageImpl>& storage) {
  const char* const base = static_cast<const char*>(storage->data());
  if (base != slot.bound) {
    slot.bound = base;
    for (const Place& p : slot.places) point(p, base);
  }
  for (Tensor* t : slot.tensors)
    if (t->impl().physical_storage() != storage) t->impl().set_storage(storage, t->impl().dtype());
}

// What the program still holds of the last replay keeps its values: this one gets memory of its own.
void Program::renew(Slot& slot) {
  const int64_t holders = slot.storage.use_count();
  const bool held = holders > slot.holders && holders > slot.holders + handles_of(*slot.storage);
  if (!held && !slot.storage->address_shown()) return;
  if (std::exchange(slot.in_arena, false) && held) leave_arena();
  slot.storage = StorageImpl::allocate(slot.bytes, kCPU);
  hold_now(slot);
}

// The program holds a gradient that lies in the arena, which stays as it is then. Who holds one is likely to hold
// others and to do so again: from now on all lie apart.
void Program::leave_arena() {
  for (Slot& s : slots_) {
    if (!std::exchange(s.in_arena, false)) continue;
    s.storage = StorageImpl::allocate(s.bytes, kCPU);
    hold_now(s);
  }
  lie_in(StorageImpl::allocate(arena_size_, kCPU));
}

// The calls and the gradients of leaves use the memory that the slot has now.
void Program::hold_now(Slot& slot) {
  bind(slot, slot.storage);
  for (LeafState& l : leaves_)
    if (l.slot >= 0 && &slots_[l.slot] == &slot) l.now = handle_of(formed(l.form, slot.storage));
}

void Program::run_call(size_t call) {
  const bool watches = kWatchesArena && arena_;
  char* const block = watches ? static_cast<char*>(arena_->data()) : nullptr;
  if (watches) {
    if (call == 0) close_place(block, arena_size_);
    open_places(block, lives_, static_cast<int>(call));
  }
  calls_[call].call->run();
  if (watches) close_places(block, lives_, static_cast<int>(call));
}

void Program::run() {
  size_t at = 0;
  try {
    if (HB_UNLIKELY(timed_ > 0)) return run_timed();
    for (const size_t n = calls_.size(); at < n; ++at) run_call(at);
  } catch (...) {  // an index out of range, a norm that is not finite
    hand_out_gradients(at);
    throw;
  }
}

void Program::bump_versions() {
  for (const Guarded& g : guarded_)
    if (g.bumped) g.tensor->impl().bump_version(g.overlooked);
  for (const int i : bumped_inputs_) (*given_)[i].impl().bump_version();
}

// Of the leaves whose gradients the first `calls` calls made: what the step has done when it ends, or an error ends it.
void Program::hand_out_gradients(size_t calls) {
  bump_versions();
  for (LeafState& l : leaves_) {
    const bool made = l.after == LeafState::After::slot && memories_[slots_[l.slot].memory].first < int64_t(calls);
    Tensor& grad = gradient_of(l.leaf);
    if (made) {
      if (!grad.is_same(*l.now)) grad = *l.now;
    } else if (l.any || l.after == LeafState::After::none) {
      grad.reset();
    }
  }
  leave_out(calls);
}

std::vector<Tensor> Program::replay(const std::vector<Tensor>& inputs) {
  end_waiting();
  given_ = &inputs;
  for (LeafState& l : leaves_) {
    if (l.after != LeafState::After::slot) continue;
    const bool held = is_held(l);
    if (held || l.now->impl().physical_storage() != slots_[l.slot].storage)
      l.now = handle_of(formed(l.form, slots_[l.slot].storage));
    if (held) renew(slots_[l.slot]);
  }
  for (Slot& s : slots_) {
    if (s.input >= 0)
      bind(s, inputs[s.input].impl().physical_storage());
    else
      renew(s);
  }
  ++replays_;
  if (capture::ReplayWatcher* const watcher = capture::replay_watcher(); HB_UNLIKELY(watcher != nullptr))
    watcher->step_begins(/*replayed=*/true);
  run();
  for (const Given& g : given_away_) g.give(formed(g.form, slots_[g.slot].storage));
  hand_out_gradients(calls_.size());
  std::vector<Tensor> out;
  out.reserve(results_.size());
  for (const Result& r : results_) {
    if (r.input >= 0)
      out.push_back(inputs[r.input]);
    else if (r.kept)
      out.push_back(*r.kept);
    else if (!r.form.defined())
      out.emplace_back();
    else if (r.slot >= 0 && slots_[r.slot].input >= 0)
      out.push_back(formed(r.form, inputs[slots_[r.slot].input].impl().physical_storage()));
    else
      out.push_back(formed(r.form, r.slot >= 0 ? slots_[r.slot].storage : *r.storage));
  }
  return out;
}

}  // namespace hb::graph
