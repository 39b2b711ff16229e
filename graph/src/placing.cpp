// The block of memory that values of a step share, and what is done to the calls before they get their places.
#include <algorithm>

#include "arena.h"
#include "passes.h"
#include "program.h"

namespace hb::graph {

namespace {
constexpr double kForMemory = 0.02;  // the share of a step's time that may go to memory unasked
}

// Temporary values, made in the step and gone with it, and gradients that the next step drops when it begins.
void Program::place_values(const CompileOptions& options) {
  if (options.drop_dead) drop_dead(calls_, memories_);
  if (options.share_common) share_common(calls_, memories_);
  if (options.consume_gradients) clip(options.late_gradients);
  if (options.consume_gradients) read_halves(options.late_gradients && options.plan_memory);
  if (options.max_memory > 0)
    recompute_until(calls_, memories_, options.max_memory);
  else if (options.plan_memory)
    recompute_cheap(calls_, memories_, kForMemory);
  slot_of_memory_.resize(memories_.size(), -1);
  if (options.fuse) fuse_chains(calls_, memories_);
  if (options.update_early) update_early(calls_);
  if (options.consume_gradients) consume(options.late_gradients);
  if (options.update_early) update_with_products(calls_);
  find_lifetimes(calls_, memories_);
  place_late();
  for (const int memory : kept_) memories_[memory].last = static_cast<int>(calls_.size());
  if (options.plan_memory) adopt_gradients();
  const std::vector<int> shared = options.plan_memory ? share_in_place(calls_, memories_) : std::vector<int>();
  std::vector<int> ids;
  std::vector<size_t> at(memories_.size());  // whose place is whose
  size_t apart = 0;
  for (size_t i = 0; i < memories_.size(); ++i) {
    const bool adopted = slot_of_memory_[i] >= 0 && slots_[slot_of_memory_[i]].in_arena;
    if ((memories_[i].temporary() && memories_[i].first >= 0) || adopted) ids.push_back(static_cast<int>(i));
  }
  // Values in whose place others lie come before them.
  std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) { return memories_[a].first < memories_[b].first; });
  for (const int i : ids) {
    const Memory& m = memories_[i];
    if (const int into = shared.empty() ? -1 : shared[i]; into >= 0) {
      at[i] = at[into];
      lives_[at[i]].last = m.last;
      continue;
    }
    at[i] = lives_.size();
    // A gradient stays until the next step begins; one that is late is written after this one.
    const int end = static_cast<int>(calls_.size());
    lives_.push_back({m.bytes, is_late(i) ? end : m.first, m.temporary() ? m.last : end, apart});
    apart += (m.bytes + 127) / 64 * 64;
  }
  arena_size_ = options.plan_memory ? plan_arena(lives_) : apart;
  for (const int i : ids) placed_.push_back({i, lives_[at[i]].offset});
}

void Program::adopt_gradients() {
  for (Slot& s : slots_) s.in_arena = s.input < 0 && !s.kept && memories_[s.memory].first >= 0;
  for (const Result& r : results_)
    if (r.slot >= 0) slots_[r.slot].in_arena = false;
  for (const LeafState& l : leaves_)
    if (l.slot >= 0 && !l.any) slots_[l.slot].in_arena = false;
}

// Another block: at first, and where the program holds a gradient that lies in the one before.
void Program::lie_in(intrusive_ptr<StorageImpl> arena) {
  arena_ = std::move(arena);
  char* const base = static_cast<char*>(arena_->data());
  for (const Placed& p : placed_) {
    Memory& m = memories_[p.memory];
    m.begin = base + p.offset;
    if (m.temporary()) {
      m.storage = StorageImpl::borrow(base + p.offset, m.bytes, kCPU, nullptr);
      continue;
    }
    Slot& s = slots_[slot_of_memory_[p.memory]];
    if (!s.in_arena) continue;
    s.storage = StorageImpl::borrow(base + p.offset, m.bytes, kCPU, [held = arena_](void*) {});
    hold_now(s);
  }
  for (RecordedCall& c : calls_) {
    for (const Place& p : c.places)
      if (memories_[p.memory].temporary()) point(p, memories_[p.memory].begin);
    for (const TensorPlace& t : c.tensors)
      if (memories_[t.memory].temporary())
        t.tensor->impl().set_storage(memories_[t.memory].storage, t.tensor->impl().dtype());
  }
}

}  // namespace hb::graph
