#include <halfbridge/bridge/optim/adamax.h>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define ADAMAX_OPTIONS(_) _(lr) _(betas) _(eps) _(weight_decay)
#define ADAMAX_EXTRA(_) _(maximize)
#define ADAMAX_STATE(_) _(step) _(exp_avg) _(exp_inf)
HB_OPTIMIZER_BOILERPLATE(Adamax, ADAMAX_OPTIONS, ADAMAX_EXTRA, ADAMAX_STATE)

Adamax::Adamax(const std::vector<OptimizerParamGroup>& param_groups, AdamaxOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamaxOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.eps(), "epsilon value");
  check_betas(defaults.betas());
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

Tensor Adamax::step(const std::vector<Tensor>& grads, LossClosure closure) {
  const auto make = [](const AdamaxOptions& o) {
    const auto [beta1, beta2] = o.betas();
    const unsigned flags = flag_if(o.weight_decay() != 0, AdamaxRule::kWeightDecay);
    return GroupRule<AdamaxRule>{{o.lr(), beta1, beta2, o.eps(), o.weight_decay()}, flags, o.maximize()};
  };
  const auto refs = [](const AdamaxOptions&, AdamaxParamState& s, const Tensor&) {
    return StateRefs{{&s.exp_avg(), &s.exp_inf()}, &s.step_counter()};
  };
  return fused_step<AdamaxOptions, AdamaxParamState>(*this, adamax_update, grads, closure, make, refs);
}

}  // namespace hb::bridge::optim
