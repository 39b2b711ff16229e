#include <halfbridge/bridge/optim/asgd.h>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define ASGD_OPTIONS(_) _(lr) _(lambd) _(alpha) _(t0) _(weight_decay)
#define ASGD_EXTRA(_) _(maximize)
#define ASGD_STATE(_) _(step) _(eta) _(ax)
HB_OPTIMIZER_BOILERPLATE(ASGD, ASGD_OPTIONS, ASGD_EXTRA, ASGD_STATE)

ASGD::ASGD(const std::vector<OptimizerParamGroup>& param_groups, ASGDOptions defaults)
    : Optimizer(param_groups, std::make_unique<ASGDOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

Tensor ASGD::step(const std::vector<Tensor>& grads, LossClosure closure) {
  const auto make = [](const ASGDOptions& o) {
    const unsigned flags = flag_if(o.weight_decay() != 0, AsgdRule::kWeightDecay);
    return GroupRule<AsgdRule>{{o.lr(), o.lambd(), o.alpha(), o.t0(), o.weight_decay()}, flags, o.maximize()};
  };
  const auto refs = [](const ASGDOptions&, ASGDParamState& s, const Tensor&) {
    return StateRefs{{&s.ax()}, &s.step_counter(), &s.eta()};
  };
  return fused_step<ASGDOptions, ASGDParamState>(*this, asgd_update, grads, closure, make, refs);
}

}  // namespace hb::bridge::optim
