#include "overflow_flags.h"

#include <algorithm>

#include <halfbridge/ops.h>

namespace hb::amp {

OverflowFlag& OverflowFlags::watch(const Tensor& parameter) {
  if (OverflowFlag* known = find(parameter)) return *known;
  if (entries_.size() >= look_at_size_) drop_the_gone();
  Entry& entry = entries_[&parameter.impl()];
  entry = {WeakTensor(parameter), {zeros({}, TensorOptions().dtype(kFloat).device(parameter.device())), false}};
  return entry.flag;
}

OverflowFlag* OverflowFlags::find(const Tensor& parameter) {
  const auto found = entries_.find(parameter.unsafeGetTensorImpl());
  return found == entries_.end() || found->second.tensor.is_gone() ? nullptr : &found->second.flag;
}

// Whenever the number has doubled: a constant share of what made them.
void OverflowFlags::drop_the_gone() {
  for (auto it = entries_.begin(); it != entries_.end();)
    it = it->second.tensor.is_gone() ? entries_.erase(it) : std::next(it);
  look_at_size_ = std::max<size_t>(64, 2 * entries_.size());
}

}  // namespace hb::amp
