#include <halfbridge/bridge/optim/lamb.h>

#include "checks.h"
#include "fields.h"
#include "formulas/update_rules/scaled.h"
#include "step.h"

namespace hb::bridge::optim {

#define LAMB_OPTIONS(_) _(lr) _(betas) _(eps) _(weight_decay)
#define LAMB_EXTRA(_) _(maximize)
#define LAMB_STATE(_) _(step) _(exp_avg) _(exp_avg_sq)
HB_OPTIMIZER_BOILERPLATE(LAMB, LAMB_OPTIONS, LAMB_EXTRA, LAMB_STATE)

LAMB::LAMB(const std::vector<OptimizerParamGroup>& param_groups, LAMBOptions defaults)
    : Optimizer(param_groups, std::make_unique<LAMBOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_betas(defaults.betas());
  check_not_negative(defaults.eps(), "epsilon value");
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

Tensor LAMB::step(const std::vector<Tensor>& grads, LossClosure closure) {
  const auto make = [](const LAMBOptions& o) {
    const auto [beta1, beta2] = o.betas();
    return GroupRule<LambRule>{{o.lr(), beta1, beta2, o.eps(), o.weight_decay()}, 0, o.maximize()};
  };
  const auto refs = [](const LAMBOptions&, LAMBParamState& s, const Tensor&) {
    return StateRefs{{&s.exp_avg(), &s.exp_avg_sq()}, &s.step_counter()};
  };
  return fused_step<LAMBOptions, LAMBParamState>(*this, lamb_update, grads, closure, make, refs);
}

}  // namespace hb::bridge::optim
