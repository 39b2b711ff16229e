#include <halfbridge/bridge/optim/lion.h>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define LION_OPTIONS(_) _(lr) _(betas) _(weight_decay)
#define LION_EXTRA(_) _(maximize)
#define LION_STATE(_) _(exp_avg)
HB_OPTIMIZER_BOILERPLATE(Lion, LION_OPTIONS, LION_EXTRA, LION_STATE)

Lion::Lion(const std::vector<OptimizerParamGroup>& param_groups, LionOptions defaults)
    : Optimizer(param_groups, std::make_unique<LionOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_betas(defaults.betas());
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

Tensor Lion::step(const std::vector<Tensor>& grads, LossClosure closure) {
  const auto make = [](const LionOptions& o) {
    const auto [beta1, beta2] = o.betas();
    const unsigned flags = flag_if(o.weight_decay() != 0, LionRule::kDecoupled);
    return GroupRule<LionRule>{{o.lr(), beta1, beta2, o.weight_decay()}, flags, o.maximize()};
  };
  const auto refs = [](const LionOptions&, LionParamState& s, const Tensor&) { return StateRefs{{&s.exp_avg()}}; };
  return fused_step<LionOptions, LionParamState>(*this, lion_update, grads, closure, make, refs);
}

}  // namespace hb::bridge::optim
