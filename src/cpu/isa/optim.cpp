// The loops of the update rules. Built without contraction of products and sums, so that a rule rounds where LibTorch
// does.

#include "backend/optim.h"

#include <array>
#include <utility>

#include "cpu/isa/update_blocks.h"

namespace hb::cpu::HB_ISA {
namespace {

template <unsigned used, class Formula, class T>
void update_run(const Formula& formula, T factor, int64_t n, T* __restrict p, const T* __restrict g, T* __restrict s0,
                T* __restrict s1, T* __restrict s2) {
  const Formula f = formula;
  HB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    T param = p[i], s[UpdateTensor::kMaxStates] = {};
    if constexpr (used & 1) s[0] = s0[i];
    if constexpr (used & 2) s[1] = s1[i];
    if constexpr (used & 4) s[2] = s2[i];
    f(param, g[i] * factor, s);
    p[i] = param;
    if constexpr (used & 1) s0[i] = s[0];
    if constexpr (used & 2) s1[i] = s[1];
    if constexpr (used & 4) s2[i] = s[2];
  }
}

/// Elements [from, to) of one tensor, by a rule that has begun.
template <class Rule, class T, unsigned flags>
void update_range(const UpdateCall& call, const Rule& rule, const UpdateTensor& t, int64_t from, int64_t to) {
  constexpr unsigned used = Rule::states(flags);
  const typename Rule::template Formula<T, flags> formula(rule);
  const T factor = grad_factor<T>(call);
  for_blocks<used, T>(call, t, from, to, [&](const UpdateBlock<T>& b) {
    update_run<used>(formula, factor, b.size, b.param, b.grad, b.state[0], b.state[1], b.state[2]);
  });
}

template <class Rule, class T>
void update_all(const UpdateCall& call, ArrayRef<UpdateTensor> tensors, const Rule& rule) {
  using Function = void (*)(const UpdateCall&, const Rule&, const UpdateTensor&, int64_t, int64_t);
  static constexpr auto table = []<unsigned... f>(std::integer_sequence<unsigned, f...>) {
    return std::array<Function, sizeof...(f)>{update_range<Rule, T, f>...};
  }
  (std::make_integer_sequence<unsigned, Rule::kFlagSets>());
  in_turn_if_shared(call, tensors, [&, fn = table[call.flags]](ArrayRef<UpdateTensor> some) {
    // Nearly always all are at the same step.
    const auto step_of = [](const UpdateTensor& t) { return t.step ? *t.step : 0; };
    const int64_t step = step_of(some[0]);
    const Rule shared = begun(rule, some[0]);
    for_ranges(some, threads_for(total_units(some), kUpdateGrain / kUnit),
               [&](const UpdateTensor& t, int64_t from, int64_t to) {
                 const bool same = !t.scalar && step_of(t) == step;
                 fn(call, same ? shared : begun(rule, t), t, from, to);
               });
    for (const auto& t : some) count_step(rule, t);
  });
}

template <class Rule>
void update(const UpdateCall& call, ArrayRef<UpdateTensor> tensors, const Rule& rule) {
  if (skipped(call)) return;
  if (call.param == kDouble) return update_all<Rule, double>(call, tensors, rule);
  update_all<Rule, float>(call, tensors, rule);
}

[[maybe_unused]] const bool registered = [] {
  if (isa_level() < kIsaLevel) return false;
#define HB_SET_UPDATE(Rule, kernel, name) kernel.set(kCPU, update<Rule>, kIsaLevel);
  HB_FORALL_UPDATE_RULES(HB_SET_UPDATE)
#undef HB_SET_UPDATE
  return true;
}();

}  // namespace
}  // namespace hb::cpu::HB_ISA
