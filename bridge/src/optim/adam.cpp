#include <halfbridge/bridge/optim/adam.h>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define ADAM_OPTIONS(_) _(lr) _(betas) _(eps) _(weight_decay) _(amsgrad)
#define ADAM_EXTRA(_) _(maximize) _(decoupled_weight_decay)
#define ADAMW_EXTRA(_) _(maximize)
#define ADAM_STATE(_) _(step) _(exp_avg) _(exp_avg_sq) _(max_exp_avg_sq)
HB_OPTIMIZER_BOILERPLATE(AdamW, ADAM_OPTIONS, ADAMW_EXTRA, ADAM_STATE)
HB_OPTIMIZER_BOILERPLATE(Adam, ADAM_OPTIONS, ADAM_EXTRA, ADAM_STATE)

AdamOptions::AdamOptions(double lr) : lr_(lr) {}
AdamWOptions::AdamWOptions(double lr) : lr_(lr) {}

namespace {
template <class Options>
void check(const Options& defaults) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.eps(), "epsilon value");
  check_betas(defaults.betas());
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

bool is_decoupled(const AdamOptions& options) { return options.decoupled_weight_decay(); }
bool is_decoupled(const AdamWOptions&) { return true; }

template <class Options, class State>
Tensor adam_step(Optimizer& optimizer, const std::vector<Tensor>& grads, const Optimizer::LossClosure& closure) {
  const auto make = [](const Options& o) {
    const auto [beta1, beta2] = o.betas();
    const unsigned flags = flag_if(o.weight_decay() != 0, is_decoupled(o) ? AdamRule::kDecoupled : AdamRule::kDecay) |
                           flag_if(o.amsgrad(), AdamRule::kAmsgrad);
    return GroupRule<AdamRule>{{o.lr(), beta1, beta2, o.eps(), o.weight_decay()}, flags, o.maximize()};
  };
  const auto refs = [](const Options& o, State& s, const Tensor&) {
    return StateRefs{{&s.exp_avg(), &s.exp_avg_sq(), o.amsgrad() ? &s.max_exp_avg_sq() : nullptr}, &s.step_counter()};
  };
  return fused_step<Options, State>(optimizer, adam_update, grads, closure, make, refs);
}
}  // namespace

Adam::Adam(const std::vector<OptimizerParamGroup>& param_groups, AdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamOptions>(defaults)) {
  check(defaults);
}
AdamW::AdamW(const std::vector<OptimizerParamGroup>& param_groups, AdamWOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamWOptions>(defaults)) {
  check(defaults);
}

Tensor Adam::step(const std::vector<Tensor>& grads, LossClosure closure) {
  return adam_step<AdamOptions, AdamParamState>(*this, grads, closure);
}
Tensor AdamW::step(const std::vector<Tensor>& grads, LossClosure closure) {
  for (const Tensor& grad : grads)
    if (grad.is_sparse())  // the kernel, which it shares, would say Adam
      HB_CHECK(false, "[AdamW] AdamW does not support sparse gradients; use SGD or Adagrad, or sparse = false");
  return adam_step<AdamWOptions, AdamWParamState>(*this, grads, closure);
}

}  // namespace hb::bridge::optim
