// The call of an optimizer updates all parameters when the backward pass is over. A large parameter is updated as soon
// as its gradient is there and nobody reads the parameter any more, while the gradient still lies in the cache; and
// where the step drops its gradients at the end, their memory is free again at once. Each element gets the same update.
#include <algorithm>
#include <map>

#include "operands.h"
#include "passes.h"
#include "updates.h"

namespace hb::graph {

namespace {

constexpr int64_t kLeast = 1 << 14;  // elements that are worth a call of their own

/// Whether call `at` has to stay before what works on these places: it touches what they change, or changes what they
/// read, or may end the step.
bool conflicts(const std::vector<RecordedCall>& calls, size_t at, const std::vector<Place>& places) {
  if (checks_values(calls, at)) return true;
  const RecordedCall& call = calls[at];
  for (const Place& mine : places) {
    for (const Place& p : call.places)
      if (p.memory == mine.memory && (p.access != Access::reads || mine.access != Access::reads)) return true;
    for (const TensorPlace& t : call.tensors)
      if (t.memory == mine.memory) return true;
  }
  return false;
}

/// Call `at` as calls for the parameters that can be updated earlier, and one for the rest.
template <class Rule>
void move_updates(std::vector<RecordedCall>& calls, size_t at) {
  const auto& update = static_cast<const Update<Rule>&>(*calls[at].call);
  const UpdateCall& common = std::get<0>(update.kept).value;
  const auto& list = std::get<1>(update.kept).value;
  if (overlap(list, element_size(common.param))) return;
  std::map<size_t, std::vector<int>> earlier;  // behind how many calls
  std::vector<int> rest;
  for (int i = 0; i < static_cast<int>(list.size()); ++i) {
    std::vector<Place> places;
    for (const Place& p : calls[at].places)
      if (const int of = tensor_of(update, p.pointer); of == i || of < 0) places.push_back(p);
    size_t behind = at;
    while (behind > 0 && list[i].numel >= kLeast && !conflicts(calls, behind - 1, places)) --behind;
    if (behind < at)
      earlier[behind].push_back(i);
    else
      rest.push_back(i);
  }
  if (earlier.empty()) return;
  std::vector<RecordedCall> result;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (const auto here = earlier.find(i); here != earlier.end())
      result.push_back(subset<Rule>(calls[at], here->second));
    if (i != at)
      result.push_back({});
    else if (!rest.empty())
      result.push_back(subset<Rule>(calls[at], rest));
  }
  // The call that was divided has been read by now.
  size_t next = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (i == at) continue;
    while (result[next].call) ++next;
    result[next] = std::move(calls[i]);
  }
  calls = std::move(result);
}

using Mover = void (*)(std::vector<RecordedCall>&, size_t);
Mover mover_of(const capture::Call& call) {
#define HB_MOVER(Rule, kernel, name) \
  if (dynamic_cast<const Update<Rule>*>(&call)) return move_updates<Rule>;
  HB_FORALL_UPDATE_RULES(HB_MOVER)
#undef HB_MOVER
  return nullptr;
}

}  // namespace

void update_early(std::vector<RecordedCall>& calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    const Mover move = calls[i].refresh ? mover_of(*calls[i].call) : nullptr;
    if (!move) continue;
    const size_t before = calls.size();
    move(calls, i);
    i += calls.size() - before;  // what was moved lies before it
  }
}

}  // namespace hb::graph
