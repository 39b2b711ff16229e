#include <halfbridge/bridge/optim/rmsprop.h>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define RMSPROP_OPTIONS(_) _(lr) _(alpha) _(eps) _(weight_decay) _(momentum) _(centered)
#define RMSPROP_STATE(_) _(step) _(square_avg) _(momentum_buffer) _(grad_avg)
HB_OPTIMIZER_BOILERPLATE(RMSprop, RMSPROP_OPTIONS, RMSPROP_STATE)

RMSpropOptions::RMSpropOptions(double lr) : lr_(lr) {}

RMSprop::RMSprop(const std::vector<OptimizerParamGroup>& param_groups, RMSpropOptions defaults)
    : Optimizer(param_groups, std::make_unique<RMSpropOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.eps(), "epsilon value");
  check_not_negative(defaults.momentum(), "momentum value");
  check_not_negative(defaults.weight_decay(), "weight_decay value");
  check_not_negative(defaults.alpha(), "alpha value");
}

Tensor RMSprop::step(LossClosure closure) {
  NoGradGuard no_grad;
  const Tensor loss = evaluate(closure);
  for (auto& group : param_groups_) {
    const auto& options = static_cast<const RMSpropOptions&>(group.options());
    const RmspropRule rule{options.lr(), options.alpha(), options.eps(), options.weight_decay(), options.momentum()};
    const bool momentum = options.momentum() > 0;
    const unsigned flags = flag_if(options.weight_decay() != 0, RmspropRule::kWeightDecay) |
                           flag_if(options.centered(), RmspropRule::kCentered) |
                           flag_if(momentum, RmspropRule::kMomentum);
    UpdateBatches<RmspropRule> batches(rmsprop_update);
    for (const auto& p : group.params()) {
      const Tensor& grad = p.grad();
      if (!grad.defined()) continue;
      bool fresh;
      auto& state = state_of<RMSpropParamState>(state_, p, fresh);
      if (fresh) state.square_avg(zero_state(p));
      if (momentum && !state.momentum_buffer().defined()) state.momentum_buffer(zero_state(p));
      if (options.centered() && !state.grad_avg().defined()) state.grad_avg(zero_state(p));
      state.step(state.step() + 1);
      batches.add(p, grad,
                  {&state.square_avg(), momentum ? &state.momentum_buffer() : nullptr,
                   options.centered() ? &state.grad_avg() : nullptr},
                  flags, 0, [&] { return rule; });
    }
    batches.run();
  }
  return loss;
}

}  // namespace hb::bridge::optim
