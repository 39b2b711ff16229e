#include <halfbridge/bridge/optim/nadam.h>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define NADAM_OPTIONS(_) _(lr) _(betas) _(eps) _(weight_decay) _(momentum_decay) _(decoupled_weight_decay)
#define NADAM_EXTRA(_) _(maximize)
#define NADAM_STATE(_) _(step) _(mu_product) _(exp_avg) _(exp_avg_sq)
HB_OPTIMIZER_BOILERPLATE(NAdam, NADAM_OPTIONS, NADAM_EXTRA, NADAM_STATE)

NAdam::NAdam(const std::vector<OptimizerParamGroup>& param_groups, NAdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<NAdamOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.eps(), "epsilon value");
  check_betas(defaults.betas());
  check_not_negative(defaults.weight_decay(), "weight_decay value");
  check_not_negative(defaults.momentum_decay(), "momentum_decay value");
}

Tensor NAdam::step(const std::vector<Tensor>& grads, LossClosure closure) {
  const auto make = [](const NAdamOptions& o) {
    const auto [beta1, beta2] = o.betas();
    const unsigned decay = o.decoupled_weight_decay() ? NadamRule::kDecoupled : NadamRule::kDecay;
    const unsigned flags = flag_if(o.weight_decay() != 0, decay);
    return GroupRule<NadamRule>{
        {o.lr(), beta1, beta2, o.eps(), o.weight_decay(), o.momentum_decay()}, flags, o.maximize()};
  };
  const auto refs = [](const NAdamOptions&, NAdamParamState& s, const Tensor&) {
    return StateRefs{{&s.exp_avg(), &s.exp_avg_sq()}, &s.step_counter(), &s.mu_product()};
  };
  return fused_step<NAdamOptions, NAdamParamState>(*this, nadam_update, grads, closure, make, refs);
}

}  // namespace hb::bridge::optim
