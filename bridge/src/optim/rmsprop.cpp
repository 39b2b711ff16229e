#include <halfbridge/bridge/optim/rmsprop.h>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define RMSPROP_OPTIONS(_) _(lr) _(alpha) _(eps) _(weight_decay) _(momentum) _(centered)
#define RMSPROP_EXTRA(_) _(maximize)
#define RMSPROP_STATE(_) _(step) _(square_avg) _(momentum_buffer) _(grad_avg)
HB_OPTIMIZER_BOILERPLATE(RMSprop, RMSPROP_OPTIONS, RMSPROP_EXTRA, RMSPROP_STATE)

RMSpropOptions::RMSpropOptions(double lr) : lr_(lr) {}

RMSprop::RMSprop(const std::vector<OptimizerParamGroup>& param_groups, RMSpropOptions defaults)
    : Optimizer(param_groups, std::make_unique<RMSpropOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.eps(), "epsilon value");
  check_not_negative(defaults.momentum(), "momentum value");
  check_not_negative(defaults.weight_decay(), "weight_decay value");
  check_not_negative(defaults.alpha(), "alpha value");
}

Tensor RMSprop::step(const std::vector<Tensor>& grads, LossClosure closure) {
  const auto make = [](const RMSpropOptions& o) {
    const unsigned flags = flag_if(o.weight_decay() != 0, RmspropRule::kWeightDecay) |
                           flag_if(o.centered(), RmspropRule::kCentered) |
                           flag_if(o.momentum() > 0, RmspropRule::kMomentum);
    return GroupRule<RmspropRule>{{o.lr(), o.alpha(), o.eps(), o.weight_decay(), o.momentum()}, flags, o.maximize()};
  };
  const auto refs = [](const RMSpropOptions& o, RMSpropParamState& s, const Tensor&) {
    return StateRefs{
        {&s.square_avg(), o.momentum() > 0 ? &s.momentum_buffer() : nullptr, o.centered() ? &s.grad_avg() : nullptr},
        &s.step_counter()};
  };
  return fused_step<RMSpropOptions, RMSpropParamState>(*this, rmsprop_update, grads, closure, make, refs);
}

}  // namespace hb::bridge::optim
