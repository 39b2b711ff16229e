// Gradients that a step clips: a number that it computed is multiplied into each, and the optimizer's rule reads them.
// The rule multiplies by the number itself, as it reads. Who looks at such a gradient afterwards has it multiplied
// then.
#include <algorithm>

#include "call_types.h"
#include "chain.h"
#include "operands.h"
#include "split_updates.h"

namespace hb::graph {

namespace {

using Calls = std::vector<RecordedCall>;

constexpr int64_t kLeast = 1 << 14;  // elements: fewer are not worth work that waits

bool touches(const RecordedCall& c, int memory) {
  const auto works = [&](const auto& operand) { return operand.memory == memory; };
  return std::any_of(c.places.begin(), c.places.end(), works) || std::any_of(c.tensors.begin(), c.tensors.end(), works);
}

/// Where a call has the number by which it multiplies all of this memory in place; null where it does something else.
const Place* factor_of(const RecordedCall& c, int memory, int64_t numel) {
  if (!c.call || !is_call_of(mul_formula, *c.call)) return nullptr;
  const Elementwise* const call = elementwise(*c.call);
  if (!call || std::get<0>(call->kept).value.compute != kFloat) return nullptr;
  const FlatLoop& flat = std::get<0>(call->kept).flat;
  const bool alike = flat.operands == 3 && flat.numel == numel && flat.single == 4 && flat.numbers == 0;
  for (int k = 0; k < 3 && alike; ++k)
    if (flat.dtype[k] != kFloat) return nullptr;
  const Place *const out = place_at(c, &flat.data[0]), *const in = place_at(c, &flat.data[1]);
  const auto whole = [&](const Place* p) { return p && p->memory == memory && p->offset == 0; };
  return alike && whole(out) && whole(in) ? place_at(c, &flat.data[2]) : nullptr;
}

class Clipping final : public SplitUpdates<Clipping> {
 public:
  Clipping(Calls& calls, const std::vector<Memory>& memories, const MayBeLate& may_be_late)
      : SplitUpdates(calls, memories, may_be_late) {}

 private:
  friend class SplitUpdates<Clipping>;

  /// The call that multiplies a gradient which nobody but call `at` works on from there on; -1 where there is none.
  int product_for(size_t at, const UpdateTensor& t) const {
    const Place* const read = place_at(calls_[at], &t.grad);
    if (t.numel < kLeast || !read || read->offset != 0) return -1;
    if (memories_[read->memory].bytes != static_cast<size_t>(t.numel) * 4) return -1;
    if (!memories_[read->memory].temporary() && !may_be_late_(read->memory)) return -1;
    int product = -1;
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (i == at || !touches(calls_[i], read->memory)) continue;
      if (i > at) return -1;
      product = static_cast<int>(i);
    }
    const Place* const factor = product < 0 ? nullptr : factor_of(calls_[product], read->memory, t.numel);
    if (!factor || changed(calls_, factor->memory, product, calls_.size())) return -1;
    // Who looks later needs the number of then: one of the program's may be another by that time.
    return memories_[read->memory].temporary() || memories_[factor->memory].temporary() ? product : -1;
  }
  Place factor(int product) const {
    const auto& call = static_cast<const Elementwise&>(*calls_[product].call);
    return *place_at(calls_[product], &std::get<0>(call.kept).flat.data[2]);
  }

  /// The parameters of one call whose gradients the same number is multiplied into get a call of their own before it.
  /// Returns how many calls more there are.
  template <class Rule>
  size_t take(size_t at) {
    const auto& update = static_cast<const Update<Rule>&>(*calls_[at].call);
    const UpdateCall& common = std::get<0>(update.kept).value;
    const auto& list = std::get<1>(update.kept).value;
    if (common.grad != kFloat || common.param != kFloat || common.grad_scale || common.left ||
        overlap(list, element_size(common.param)))
      return 0;
    std::vector<int> chosen, products, rest;
    for (int i = 0; i < static_cast<int>(list.size()); ++i) {
      const int product = product_for(at, list[i]);
      const bool same = product >= 0 && (products.empty() || (factor(product).memory == factor(products[0]).memory &&
                                                              factor(product).offset == factor(products[0]).offset));
      if (!same) {
        rest.push_back(i);
        continue;
      }
      chosen.push_back(i), products.push_back(product);
    }
    if (chosen.empty()) return 0;
    RecordedCall clipped = subset<Rule>(calls_[at], chosen);
    UpdateCall& own = std::get<0>(static_cast<Update<Rule>&>(*clipped.call).kept).value;
    const Place by = factor(products[0]);
    own.grad_factor = reinterpret_cast<const float*>(memories_[by.memory].begin + by.offset);
    clipped.places.push_back({&own.grad_factor, by.memory, by.offset, Access::reads});
    for (const int product : products) {
      RecordedCall& call = calls_[product];
      if (LateGradient* const left = leave_out(call, call.places[0].memory))
        left->changes = static_cast<const LateCall*>(call.call.get());
    }
    return split<Rule>(at, std::move(clipped), rest);
  }
};

}  // namespace

std::vector<LateGradient> clip_in_rules(Calls& calls, const std::vector<Memory>& memories,
                                        const MayBeLate& may_be_late) {
  return Clipping(calls, memories, may_be_late).run();
}

}  // namespace hb::graph
