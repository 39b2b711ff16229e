#include <halfbridge/bridge/optim/radam.h>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define RADAM_OPTIONS(_) _(lr) _(betas) _(eps) _(weight_decay) _(decoupled_weight_decay)
#define RADAM_EXTRA(_) _(maximize)
#define RADAM_STATE(_) _(step) _(exp_avg) _(exp_avg_sq)
HB_OPTIMIZER_BOILERPLATE(RAdam, RADAM_OPTIONS, RADAM_EXTRA, RADAM_STATE)

RAdam::RAdam(const std::vector<OptimizerParamGroup>& param_groups, RAdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<RAdamOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.eps(), "epsilon value");
  check_betas(defaults.betas());
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

Tensor RAdam::step(const std::vector<Tensor>& grads, LossClosure closure) {
  const auto make = [](const RAdamOptions& o) {
    const auto [beta1, beta2] = o.betas();
    const unsigned decay = o.decoupled_weight_decay() ? RadamRule::kDecoupled : RadamRule::kDecay;
    const unsigned flags = flag_if(o.weight_decay() != 0, decay);
    return GroupRule<RadamRule>{{o.lr(), beta1, beta2, o.eps(), o.weight_decay()}, flags, o.maximize()};
  };
  const auto refs = [](const RAdamOptions&, RAdamParamState& s, const Tensor&) {
    return StateRefs{{&s.exp_avg(), &s.exp_avg_sq()}, &s.step_counter()};
  };
  return fused_step<RAdamOptions, RAdamParamState>(*this, radam_update, grads, closure, make, refs);
}

}  // namespace hb::bridge::optim
