#pragma once
// Calls of optimizers' rules, and such a call for some of its parameters alone.

#include <algorithm>
#include <memory>
#include <vector>

#include "backend/optim.h"
#include "recording.h"

namespace hb::graph {

/// The call of an optimizer's rule.
template <class Rule>
using Update = capture::CallOf<const UpdateCall&, ArrayRef<UpdateTensor>, const Rule&>;

/// Where a call holds addresses: in one of the tensors of its list, or beside them (-1).
template <class Rule>
int tensor_of(const Update<Rule>& update, const void* pointer) {
  const auto& list = std::get<1>(update.kept).value;
  const auto* const first = reinterpret_cast<const char*>(list.data());
  const auto at = static_cast<const char*>(pointer) - first;
  return at < 0 || at >= static_cast<std::ptrdiff_t>(list.size() * sizeof(UpdateTensor))
             ? -1
             : static_cast<int>(at / static_cast<std::ptrdiff_t>(sizeof(UpdateTensor)));
}

/// The update of some of the tensors alone.
template <class Rule>
RecordedCall subset(const RecordedCall& from, const std::vector<int>& chosen) {
  const auto& update = static_cast<const Update<Rule>&>(*from.call);
  const auto& list = std::get<1>(update.kept).value;
  std::vector<UpdateTensor> tensors;
  for (const int i : chosen) tensors.push_back(list[i]);
  auto part = std::make_unique<Update<Rule>>(update.name, update.fn, std::get<0>(update.kept).value, tensors,
                                             std::get<2>(update.kept).value);
  RecordedCall result;
  for (const Place& p : from.places) {
    const int i = tensor_of(update, p.pointer);
    const auto at = std::find(chosen.begin(), chosen.end(), i) - chosen.begin();
    if (i >= 0 && at == static_cast<std::ptrdiff_t>(chosen.size())) continue;
    const auto shift = [&](const void* old_base, void* new_base) {
      return static_cast<char*>(new_base) + (static_cast<const char*>(p.pointer) - static_cast<const char*>(old_base));
    };
    void* const pointer = i < 0 ? shift(&std::get<0>(update.kept).value, &std::get<0>(part->kept).value)
                                : shift(&list[i], &std::get<1>(part->kept).value[at]);
    result.places.push_back({pointer, p.memory, p.offset, p.access});
  }
  result.refresh = from.refresh;
  result.call = std::move(part);
  return result;
}

}  // namespace hb::graph
