// Gradients that autocast's casts made float32 of half ones, for an optimizer's rule alone: the rule reads the half
// ones, which it widens block by block. The others take neither time nor, while the step runs, memory.
#include <algorithm>

#include "backend/elementwise.h"
#include "call_types.h"
#include "consumed_gradients.h"
#include "operands.h"
#include "split_updates.h"

namespace hb::graph {

namespace {

using Calls = std::vector<RecordedCall>;
using Copy = capture::CallOf<const Loop&>;

constexpr int64_t kLeast = 1 << 14;  // elements: fewer are not worth work that waits

Loop& loop_of(const RecordedCall& c) { return std::get<0>(static_cast<Copy&>(*c.call).kept).value; }

/// Whether a loop of one output and one input takes elements in the order in which they lie.
bool in_order(const Loop& loop) {
  const auto dense = [](const Loop::Operand& o) { return o.strides[0] == static_cast<int64_t>(element_size(o.dtype)); };
  return loop.operands == 2 && loop.sizes.size() == 1 && dense(loop.op[0]) && dense(loop.op[1]);
}

/// The only call but `at` that works on this memory, before it, where one argument of `at` reads it; -1: none. Loops
/// count as changing what they write, so that sole_writer() finds no cast.
int only_other(const Calls& calls, int memory, size_t at) {
  int other = -1;
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto works = [&](const auto& operand) { return operand.memory == memory; };
    if (std::any_of(calls[i].tensors.begin(), calls[i].tensors.end(), works)) return -1;
    const auto places = std::count_if(calls[i].places.begin(), calls[i].places.end(), works);
    if (i == at && places > 1) return -1;
    if (i == at || places == 0) continue;
    if (other >= 0 || i > at) return -1;
    other = static_cast<int>(i);
  }
  return other;
}

class Reading final : public SplitUpdates<Reading> {
 public:
  Reading(Calls& calls, const std::vector<Memory>& memories, const MayBeLate& may_be_late)
      : SplitUpdates(calls, memories, may_be_late) {}

 private:
  friend class SplitUpdates<Reading>;

  /// The call that makes float32 of a half gradient for call `at`, which alone reads it; -1 where there is none.
  int cast_for(size_t at, const UpdateTensor& t) const {
    const Place* const read = place_at(calls_[at], &t.grad);
    if (t.numel < kLeast || !read || read->offset != 0) return -1;
    const int cast = only_other(calls_, read->memory, at);
    if (cast < 0 || !is_call_of(copy_kernel, *calls_[cast].call)) return -1;
    const Loop& loop = loop_of(calls_[cast]);
    const Place *const to = place_at(calls_[cast], &loop.op[0].data), *const half =
                                                                          place_at(calls_[cast], &loop.op[1].data);
    const bool whole = loop.numel == t.numel && memories_[read->memory].bytes == static_cast<size_t>(t.numel) * 4;
    if (!to || !half || !whole || !in_order(loop) || !is_half_type(loop.op[1].dtype)) return -1;
    const bool late = !memories_[read->memory].temporary();
    if (late && !(memories_[half->memory].temporary() && may_be_late_(read->memory))) return -1;
    const auto first = static_cast<size_t>(cast) + 1;
    return changed(calls_, half->memory, first, late ? calls_.size() : at) ? -1 : cast;
  }

  /// The parameters of one call whose gradients are casts get a call of their own before it. Returns how many calls
  /// more there are.
  template <class Rule>
  size_t take(size_t at) {
    const auto& update = static_cast<const Update<Rule>&>(*calls_[at].call);
    const UpdateCall& common = std::get<0>(update.kept).value;
    const auto& list = std::get<1>(update.kept).value;
    if (common.grad != kFloat || common.left || overlap(list, element_size(common.param))) return 0;
    std::vector<int> chosen, casts, rest;
    ScalarType half = kFloat;
    for (int i = 0; i < static_cast<int>(list.size()); ++i) {
      const int cast = cast_for(at, list[i]);
      const ScalarType dtype = cast >= 0 ? loop_of(calls_[cast]).op[1].dtype : kFloat;
      if (cast < 0 || (half != kFloat && half != dtype)) {
        rest.push_back(i);
        continue;
      }
      half = dtype, chosen.push_back(i), casts.push_back(cast);
    }
    if (chosen.empty()) return 0;
    RecordedCall by_half = subset<Rule>(calls_[at], chosen);
    auto& kept = static_cast<Update<Rule>&>(*by_half.call).kept;
    std::get<0>(kept).value.grad = half;
    for (size_t k = 0; k < chosen.size(); ++k) read_half(calls_[casts[k]], by_half, std::get<1>(kept).value[k]);
    return split<Rule>(at, std::move(by_half), rest);
  }

  /// `tensor` of `update` reads what `cast` reads.
  void read_half(RecordedCall& cast, RecordedCall& update, const UpdateTensor& tensor) {
    const Place half = *place_at(cast, &loop_of(cast).op[1].data);
    const auto read = std::find_if(update.places.begin(), update.places.end(),
                                   [&](const Place& p) { return p.pointer == &tensor.grad; });
    const int gradient = read->memory;
    read->memory = half.memory, read->offset = half.offset;
    leave_out(cast, gradient);
  }
};

}  // namespace

std::vector<LateGradient> read_half_gradients(Calls& calls, const std::vector<Memory>& memories,
                                              const MayBeLate& may_be_late) {
  return Reading(calls, memories, may_be_late).run();
}

}  // namespace hb::graph
