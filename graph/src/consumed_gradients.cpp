#include "consumed_gradients.h"

#include <algorithm>
#include <optional>

#include "call_types.h"
#include "operands.h"
#include "updates.h"

namespace hb::graph {

namespace {

using Calls = std::vector<RecordedCall>;

constexpr int64_t kLeast = 1 << 14;  // elements that do not stay in the first cache anyway

const Gemm& gemm_of(const RecordedCall& c) { return std::get<0>(static_cast<const Product&>(*c.call).kept).value; }

/// Whether the rule's loop can compute what this product is.
bool is_outer(const Gemm& g, const UpdateCall& common, const UpdateTensor& t) {
  const bool vectors = g.k == 1 && g.batch_count() == 1 && (g.a.row == 1 || g.m == 1) && (g.b.col == 1 || g.n == 1);
  const bool plain = g.alpha == 1 && g.beta == 0 && !g.bias && g.c.row == g.n && g.m * g.n == t.numel;
  const bool one_type = (g.dtype == kFloat || g.dtype == kDouble) && common.grad == g.dtype &&
                        common.param == g.dtype && common.state == g.dtype && !t.master;
  return vectors && plain && one_type;
}

/// The product of two vectors that is the gradient of a parameter that call `at` updates; -1 where it is another.
int product_for(const Calls& calls, const std::vector<Memory>& memories, size_t at, const UpdateCall& common,
                const UpdateTensor& t) {
  const Place* const read = place_at(calls[at], &t.grad);
  if (t.numel < kLeast || !read || read->offset != 0) return -1;
  const int product = sole_writer(calls, read->memory, at);
  if (product < 0 || !is_call_of(gemm_kernel, *calls[product].call)) return -1;
  const Gemm& g = gemm_of(calls[product]);
  const Place* const written = place_at(calls[product], &g.c.data);
  const bool whole = written && written->offset == 0 &&
                     memories[read->memory].bytes == static_cast<size_t>(t.numel) * element_size(g.dtype);
  return whole && is_outer(g, common, t) ? product : -1;
}

class Consuming {
 public:
  Consuming(Calls& calls, const std::vector<Memory>& memories, const MayBeLate& may_be_late)
      : calls_(calls), memories_(memories), may_be_late_(may_be_late), before_(calls.size()) {}

  Consumed run() {
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (!calls_[i].refresh) continue;
#define HB_TAKE(Rule, kernel, name) \
  if (dynamic_cast<const Update<Rule>*>(calls_[i].call.get())) take<Rule>(i);
      HB_FORALL_UPDATE_RULES(HB_TAKE)
#undef HB_TAKE
    }
    Calls result;
    for (size_t i = 0; i < calls_.size(); ++i) {
      for (RecordedCall& c : before_[i]) result.push_back(std::move(c));
      if (calls_[i].call) result.push_back(std::move(calls_[i]));
    }
    calls_ = std::move(result);
    return std::move(consumed_);
  }

 private:
  /// The parameters of one call whose gradients can be computed in the rule's loop: each gets a call of its own.
  template <class Rule>
  void take(size_t at) {
    const auto& update = static_cast<const Update<Rule>&>(*calls_[at].call);
    const UpdateCall& common = std::get<0>(update.kept).value;
    const auto& list = std::get<1>(update.kept).value;
    if (overlap(list, element_size(common.param))) return;
    std::vector<int> rest;
    for (int i = 0; i < static_cast<int>(list.size()); ++i) {
      const int product = product_for(calls_, memories_, at, common, list[i]);
      std::optional<RecordedCall> call;
      if (product >= 0) call = subset<Rule>(calls_[at], {i});
      if (!call || !consume(at, calls_[product], *call, static_cast<Update<Rule>&>(*call->call)))
        rest.push_back(i);
      else
        before_[at].push_back(std::move(*call));
    }
    if (rest.size() < list.size()) calls_[at] = rest.empty() ? RecordedCall() : subset<Rule>(calls_[at], rest);
  }

  template <class Rule>
  bool consume(size_t at, RecordedCall& product, RecordedCall& call, Update<Rule>& update) {
    UpdateCall& common = std::get<0>(update.kept).value;
    UpdateTensor& tensor = std::get<1>(update.kept).value[0];
    const Gemm& g = gemm_of(product);
    const Place *const left = place_at(product, &g.a.data), *const right = place_at(product, &g.b.data);
    const auto first = static_cast<size_t>(&product - calls_.data());
    for (const Place* const operand : {left, right})
      if (!operand || changes(call, operand->memory) || changed(calls_, operand->memory, first + 1, at)) return false;
    const int gradient = place_at(product, &g.c.data)->memory;
    const auto read =
        std::find_if(call.places.begin(), call.places.end(), [&](const Place& p) { return p.pointer == &tensor.grad; });
    if (!memories_[gradient].temporary()) {
      for (size_t i = first + 1; i < at; ++i)  // that may end the step: the gradient is there then
        if (checks_values(calls_, i)) return false;
      for (const Place* const operand : {left, right})
        if (changed(calls_, operand->memory, at, calls_.size())) return false;
      if (!may_be_late_(gradient)) return false;
      const auto copies = [&](const Place* p) {
        if (memories_[p->memory].temporary()) consumed_.kept.push_back(p->memory);
        return !memories_[p->memory].temporary();
      };
      consumed_.late.push_back(
          late(gradient, {&common, static_cast<const Product&>(*product.call).fn, g, copies(left), copies(right)}));
      read->access = Access::writes;  // later
    } else {
      tensor.grad = nullptr;
      call.places.erase(read);
    }
    common.left = g.a.data, common.right = g.b.data, common.width = g.n;
    call.places.push_back({&common.left, left->memory, left->offset, Access::reads});
    call.places.push_back({&common.right, right->memory, right->offset, Access::reads});
    product = {};
    return true;
  }

  Calls& calls_;
  const std::vector<Memory>& memories_;
  const MayBeLate& may_be_late_;
  std::vector<Calls> before_;  // each call
  Consumed consumed_;
};

}  // namespace

Consumed consume_gradients(Calls& calls, const std::vector<Memory>& memories, const MayBeLate& may_be_late) {
  return Consuming(calls, memories, may_be_late).run();
}

}  // namespace hb::graph
