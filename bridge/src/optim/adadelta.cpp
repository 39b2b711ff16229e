#include <halfbridge/bridge/optim/adadelta.h>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define ADADELTA_OPTIONS(_) _(lr) _(rho) _(eps) _(weight_decay)
#define ADADELTA_EXTRA(_) _(maximize)
#define ADADELTA_STATE(_) _(step) _(square_avg) _(acc_delta)
HB_OPTIMIZER_BOILERPLATE(Adadelta, ADADELTA_OPTIONS, ADADELTA_EXTRA, ADADELTA_STATE)

Adadelta::Adadelta(const std::vector<OptimizerParamGroup>& param_groups, AdadeltaOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdadeltaOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  HB_CHECK(0 <= defaults.rho() && defaults.rho() <= 1, "Invalid rho value: ", defaults.rho());
  check_not_negative(defaults.eps(), "epsilon value");
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

Tensor Adadelta::step(const std::vector<Tensor>& grads, LossClosure closure) {
  const auto make = [](const AdadeltaOptions& o) {
    const unsigned flags = flag_if(o.weight_decay() != 0, AdadeltaRule::kWeightDecay);
    return GroupRule<AdadeltaRule>{{o.lr(), o.rho(), o.eps(), o.weight_decay()}, flags, o.maximize()};
  };
  const auto refs = [](const AdadeltaOptions&, AdadeltaParamState& s, const Tensor&) {
    return StateRefs{{&s.square_avg(), &s.acc_delta()}, &s.step_counter()};
  };
  return fused_step<AdadeltaOptions, AdadeltaParamState>(*this, adadelta_update, grads, closure, make, refs);
}

}  // namespace hb::bridge::optim
