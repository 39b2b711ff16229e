#pragma once
// A pass over optimizers' calls that makes of one call two: of the parameters whose gradients it lets the rule take
// otherwise, and of the rest.

#include "consumed_gradients.h"
#include "updates.h"

namespace hb::graph {

/// Pass has `size_t take<Rule>(size_t at)`, which may split() call `at`, and says how many calls more there are.
template <class Pass>
class SplitUpdates {
 public:
  std::vector<LateGradient> run() {
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (!calls_[i].call || !calls_[i].refresh) continue;
#define HB_TAKE(Rule, kernel, name) \
  if (dynamic_cast<const Update<Rule>*>(calls_[i].call.get())) i += static_cast<Pass*>(this)->template take<Rule>(i);
      HB_FORALL_UPDATE_RULES(HB_TAKE)
#undef HB_TAKE
    }
    std::erase_if(calls_, [](const RecordedCall& c) { return !c.call; });
    return std::move(late_);
  }

 protected:
  SplitUpdates(std::vector<RecordedCall>& calls, const std::vector<Memory>& memories, const MayBeLate& may_be_late)
      : calls_(calls), memories_(memories), may_be_late_(may_be_late) {}

  /// Call `at` becomes `part` and, behind it, what it is for the rest of its list.
  template <class Rule>
  size_t split(size_t at, RecordedCall part, const std::vector<int>& rest) {
    if (rest.empty()) {
      calls_[at] = std::move(part);
      return 0;
    }
    calls_[at] = subset<Rule>(calls_[at], rest);
    calls_.insert(calls_.begin() + static_cast<std::ptrdiff_t>(at), std::move(part));
    return 1;
  }
  /// A call that makes a gradient which the rule does without. Where the program may look at the gradient, the call
  /// waits for that: then what waits, else null.
  LateGradient* leave_out(RecordedCall& call, int gradient) {
    if (memories_[gradient].temporary()) {
      call = {};
      return nullptr;
    }
    auto later = std::make_unique<LateCall>(std::move(call.call));
    late_.push_back(late(gradient, *later));
    call.call = std::move(later);
    return &late_.back();
  }

  std::vector<RecordedCall>& calls_;
  const std::vector<Memory>& memories_;
  const MayBeLate& may_be_late_;

 private:
  std::vector<LateGradient> late_;
};

}  // namespace hb::graph
