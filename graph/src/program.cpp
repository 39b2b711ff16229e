#include "program.h"

#include <algorithm>
#include <cstring>

#include <halfbridge/autograd.h>
#include <halfbridge/grad_mode.h>

#include "operands.h"
#include "prepared.h"
#include "returned_number.h"

namespace hb::graph {

namespace {
// Geometry alone.
Tensor form_of(const Tensor& t) { return formed(t, StorageImpl::allocate(0, kCPU)); }
}  // namespace

Program::Program(Recording& r, const std::vector<Tensor>& results, std::vector<Signature> inputs,
                 std::vector<double> numbers, Surroundings surroundings, const CompileOptions& options)
    : inputs_(std::move(inputs)), numbers_(std::move(numbers)), surroundings_(std::move(surroundings)) {
  if (!r.refused.empty()) throw RecordingError{r.refused};
  slot_of_memory_.assign(r.memories.size(), -1);
  for (size_t i = 0; i < r.memories.size(); ++i)
    if (r.memories[i].origin == Memory::Origin::input)
      slot_of(static_cast<int>(i)), slots_.back().input = r.memories[i].input;
  for (size_t i = 0; i < r.inputs.size(); ++i)
    if (const Tensor& t = r.inputs[i]; t.defined()) recorded_inputs_.push_back({i, &t.impl(), WeakTensor(t)});
  for (const Leaf& leaf : r.leaves) add_leaf(r, leaf);
  for (const Tensor& t : results) add_result(r, t);
  check_made(r, results);
  guard(r);
  for (const RecordedCall& c : r.calls)
    if (c.refresh && !c.refresh(*c.call, capture::Numbers::compare))
      throw RecordingError{detail::str("[", c.call->name, "] the step changes the options of its optimizer")};
  write_variables(r.calls, options.variables);
  check_sole_holders(results);
  objects_ = std::make_unique<ObjectGuard>(options.objects);
  conditions_ = std::move(r.conditions);
  memories_ = std::move(r.memories);
  calls_ = std::move(r.calls);
  for (Slot& s : slots_) s.bound = memories_[s.memory].begin, s.bytes = memories_[s.memory].bytes;
  place_values(options);
  for (size_t i = 0; i < calls_.size(); ++i)
    if (calls_[i].refresh) refreshed_.push_back(static_cast<int>(i));
  collect_places();
  if (!placed_.empty()) lie_in(StorageImpl::allocate(arena_size_, kCPU));
  count_holders();
  prepare_calls(calls_);
}

int Program::slot_of(int memory) {
  int& slot = slot_of_memory_[memory];
  if (slot >= 0) return slot;
  slot = static_cast<int>(slots_.size());
  slots_.emplace_back();
  slots_.back().memory = memory;
  return slot;
}

void Program::add_result(const Recording& r, const Tensor& t) {
  Result result;
  if (!t.defined()) {
    results_.push_back({});
    return;
  }
  if (t.layout() != kStrided) throw RecordingError{"[compile] expected dense results"};
  for (size_t i = 0; i < r.inputs.size(); ++i)
    if (r.inputs[i].is_same(t)) result.input = static_cast<int>(i);
  const int memory = r.memory_of(t);
  if (result.input < 0) {
    if (memory < 0) throw RecordingError{"[compile] expected results of the step's own functions"};
    const Memory& m = r.memories[memory];
    const auto known =
        std::find_if(r.outside.begin(), r.outside.end(), [&](const Outside& o) { return o.tensor.is_same(t); });
    if (known != r.outside.end()) {
      result.kept = handle_of(t);
    } else {
      result.form = form_of(t);
      if (m.origin == Memory::Origin::outside) {
        result.storage = handle_of(m.storage);
      } else {
        const bool made = slot_of_memory_[memory] < 0;
        result.slot = slot_of(memory);
        if (made) slots_[result.slot].storage = t.impl().physical_storage();
      }
    }
  }
  results_.push_back(std::move(result));
}

void Program::add_leaf(const Recording& r, const Leaf& leaf) {
  LeafState s;
  s.leaf = handle_of(leaf.leaf);
  if (leaf.before.defined()) s.before = handle_of(leaf.before);
  s.had_gradient = leaf.before.defined(), s.any = leaf.dropped;
  const Tensor now = leaf.leaf.grad();
  if (!now.defined()) {
    s.after = LeafState::After::none;
    if (s.had_gradient && !leaf.met) s.any = true;  // dropped, and nothing else
  } else if (!now.is_same(leaf.before)) {
    const int memory = r.memory_of(now);
    if (memory < 0 || r.memories[memory].origin != Memory::Origin::made)
      throw RecordingError{"[backward] a gradient lies in memory that the step did not make"};
    s.after = LeafState::After::slot;
    s.form = form_of(now);
    s.now = handle_of(now);
    const bool made = slot_of_memory_[memory] < 0;
    s.slot = slot_of(memory);
    if (made) slots_[s.slot].storage = now.impl().physical_storage();
  }
  const auto read = [&](const Outside& o) { return o.tensor.is_same(leaf.before); };
  if (s.had_gradient && std::any_of(r.outside.begin(), r.outside.end(), read)) s.any = false;  // it has to be that one
  if (s.any) s.before.reset();
  leaves_.push_back(std::move(s));
}

// What the step made and what still lives is a result, a gradient or the library's own. Anything else the program keeps
// where a replay cannot renew it.
void Program::check_made(Recording& r, const std::vector<Tensor>& /*results*/) {
  for (size_t i = 0; i < r.memories.size(); ++i) {
    Memory& m = r.memories[i];
    if (m.origin != Memory::Origin::made) continue;
    const char* maker = m.first >= 0 ? r.calls[m.first].call->name : "empty";
    if (m.alive && slot_of_memory_[i] < 0) {
      if (!m.keeps)
        throw RecordingError{
            detail::str("[", maker,
                        "] a value that it made is kept beyond the step, and is no result of it: return it, "
                        "or call backward() within the step")};
      keep(static_cast<int>(i), m);
    }
    if (m.shown && m.first >= 0)
      throw RecordingError{
          detail::str("[", maker, "] the program takes the address of a value that it made (data_ptr(), accessor())")};
  }
}

// What the library has of this call stays as it is. It is given what replays make instead, or does without.
void Program::keep(int memory, Memory& m) {
  if (m.given.empty()) {
    m.alive = false;
    return;
  }
  Slot& s = slots_[slot_of(memory)];
  s.storage = intrusive_ptr<StorageImpl>(const_cast<StorageImpl*>(m.impl));
  s.kept = true;
  for (auto& [form, give] : m.given) given_away_.push_back({form, slot_of(memory), std::move(give)});
}

// The program has no other way to a result or a gradient than that: a variable that the step gave it to would not be
// renewed.
void Program::check_sole_holders(const std::vector<Tensor>& results) const {
  for (const Slot& slot : slots_) {
    if (slot.input >= 0 || slot.kept) continue;
    std::vector<std::pair<const Tensor*, size_t>> known;  // with our handles to each
    const auto add = [&](const Tensor& t, size_t handles) {
      if (!t.defined() || t.layout() != kStrided || t.impl().physical_storage() != slot.storage) return;
      for (auto& [other, count] : known)
        if (other->is_same(t)) return void(count += handles);
      known.emplace_back(&t, handles);
    };
    for (const Tensor& t : results) add(t, 1);
    for (const LeafState& l : leaves_)
      if (l.now) add(*l.now, 2);
    for (size_t i = 0, n = known.size(); i < n; ++i)  // a view holds its base
      if (const AutogradMeta* const meta = known[i].first->impl().autograd_meta()) add(meta->base, 1);
    const bool tensors_held =
        std::any_of(known.begin(), known.end(), [](const auto& k) { return k.first->use_count() > k.second; });
    if (tensors_held || slot.storage.use_count() > 1 + static_cast<int64_t>(known.size()))
      throw RecordingError{"[compile] a result or a gradient of the step is kept in another place, too"};
  }
}

void Program::guard(Recording& r) {
  for (const Outside& o : r.outside) {
    const TensorImpl& t = o.tensor.impl();
    if (t.physical_storage().get() != o.storage)
      throw RecordingError{"[set_data] a tensor got other memory within the step"};
    guarded_.push_back({handle_of(o.tensor), o.storage, o.storage->data(), o.storage->nbytes(), t.dtype(), t.sizes(),
                        t.physical_strides(), t.physical_offset(), requires_grad(t), t.version() != o.version,
                        t.seen_version() == o.seen_version, hooks_of(t)});
  }
  for (size_t i = 0; i < r.inputs.size(); ++i)
    if (r.inputs[i].defined() && r.inputs[i].impl().version() != r.input_versions[i])
      bumped_inputs_.push_back(static_cast<int>(i));
  check_versions(r);
  for (Memory& m : r.memories) {
    if (m.origin != Memory::Origin::outside) continue;
    storages_.push_back(handle_of(m.storage));
    const auto known = [&](const Outside& o) { return o.storage == m.impl; };
    if (std::none_of(r.outside.begin(), r.outside.end(), known))
      anonymous_.push_back({storages_.back(), m.impl->data()});
    // Recorded tensors shall not count as holders.
    m.storage = StorageImpl::borrow(m.storage->data(), m.bytes, kCPU, nullptr);
  }
  for (const Tensor& t : r.inputs)
    if (t.defined() && requires_grad(t.impl()))
      throw RecordingError{"[compile] expected arguments that require no gradient"};
}

// What the step changes is changed by calls of this thread, or a replay would not do it.
void Program::check_versions(const Recording& r) const {
  const auto check = [&](const Tensor& t, uint32_t version) {
    const int memory = t.defined() && t.numel() > 0 && t.impl().version() != version ? r.memory_of(t) : -1;
    if (memory >= 0 && !changed(r.calls, memory, 0, r.calls.size()))
      throw RecordingError{
          "[compile] a tensor changes within the step by no function that this thread calls (another thread, "
          "mutable_grad())"};
  };
  for (const Outside& o : r.outside) check(o.tensor, o.version);
  for (size_t i = 0; i < r.inputs.size(); ++i) check(r.inputs[i], r.input_versions[i]);
}

void Program::collect_places() {
  for (RecordedCall& c : calls_) {
    for (const Place& p : c.places)
      if (const int s = slot_of_memory_[p.memory]; s >= 0) slots_[s].places.push_back(p);
    for (const TensorPlace& t : c.tensors) {
      if (const int s = slot_of_memory_[t.memory]; s >= 0) {
        slots_[s].tensors.push_back(t.tensor);
        if (slots_[s].storage) t.tensor->impl().set_storage(slots_[s].storage, t.tensor->impl().dtype());
      } else if (memories_[t.memory].storage) {
        t.tensor->impl().set_storage(memories_[t.memory].storage, t.tensor->impl().dtype());
      }
    }
  }
}

// How many handles of our own there are to what the program may hold, too.
void Program::count_holders() {
  for (Slot& s : slots_) {
    s.holders = 1 + static_cast<int64_t>(s.tensors.size());
    for (const LeafState& l : leaves_) s.holders += l.slot >= 0 && &slots_[l.slot] == &s;
  }
}

}  // namespace hb::graph
