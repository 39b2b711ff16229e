#include "autocast/level.h"

#include <algorithm>

#include <halfbridge/autograd.h>
#include <halfbridge/grad_mode.h>

#include "autocast/autocast.h"
#include "autograd/arithmetic.h"
#include "autograd/record.h"
#include "core/recorder.h"

namespace hb::autocast {

namespace {
bool is_leaf_in_float(const Tensor& t) { return t.scalar_type() == kFloat && t.is_leaf() && !t.is_view(); }
}  // namespace

WeightCopies::Entry& WeightCopies::entry_of(const Tensor& t) {
  const auto known = entries_.find(&t.impl());
  if (known != entries_.end() && known->second.of.get() == &t.impl()) return known->second;
  // Copies of weights that are gone go whenever the number has doubled: a constant share of what made them.
  if (entries_.size() >= look_at_size_) {
    for (auto it = entries_.begin(); it != entries_.end();)
      it = it->second.of.is_gone() ? entries_.erase(it) : std::next(it);
    look_at_size_ = std::max<size_t>(64, 2 * entries_.size());
  }
  Entry& entry = entries_[&t.impl()];
  entry = {};
  entry.of = WeakTensor(t);
  return entry;
}

void WeightCopies::adopt(const Tensor& t) {
  const std::lock_guard lock(mutex_);
  entry_of(t).adopted = true;
}

bool WeightCopies::applies_to(const Tensor& t) const {
  if (!is_leaf_in_float(t)) return false;
  if (t.requires_grad()) return true;
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(&t.impl());
  return known != entries_.end() && known->second.adopted && known->second.of.get() == &t.impl();
}

Tensor WeightCopies::values(const Tensor& weight, ScalarType dtype) {
  const std::lock_guard lock(mutex_);
  Entry& e = entry_of(weight);
  TensorImpl& impl = weight.impl();
  const auto& storage = impl.physical_storage();
  const uint64_t calls = data_calls.load(std::memory_order_acquire);
  const bool exclusive = storage->use_count() == 1 && !storage->is_borrowed() && !storage->address_shown();
  const bool unchanged = e.values.defined() && e.values.scalar_type() == dtype && e.storage == storage.get() &&
                         e.version == impl.version() && e.data_calls == calls && e.exclusive && exclusive;
  if (unchanged && !capture::is_from_before(e.values)) return e.values;
  e.values.reset();  // its memory serves the new one, unless a graph keeps it
  e.version = impl.version(), e.storage = storage.get(), e.data_calls = calls, e.exclusive = exclusive;
  InferenceMode no_inference(false);  // the copy outlives this pass
  NoGradGuard no_grad;
  Excluded excluded;
  e.values = autodiff::arithmetic.cast(weight.detach(), dtype);
  ++made_;
  capture::keeps(e.values);
  return e.values;
}

WeightCopies::Count WeightCopies::count() const {
  const std::lock_guard lock(mutex_);
  Count c;
  for (const auto& [impl, e] : entries_) {
    if (!e.values.defined() || e.of.is_gone()) continue;
    ++c.tensors, c.bytes += static_cast<int64_t>(e.values.nbytes());
  }
  c.made = made_;
  return c;
}

Tensor recorded_copy(const Tensor& weight, const Tensor& values) {
  Tensor copy(values.impl().alias(/*share_version=*/true));
  record("ToCopyBackward0", copy, {&weight}, [](Backward& b) -> variable_list { return {b.grad()}; });
  return copy;
}

}  // namespace hb::autocast
