#include <halfbridge/bridge/optim/adadelta.h>

#include <cmath>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define ADADELTA_OPTIONS(_) _(lr) _(rho) _(eps) _(weight_decay)
#define ADADELTA_STATE(_) _(step) _(square_avg) _(acc_delta)
HB_OPTIMIZER_BOILERPLATE(Adadelta, ADADELTA_OPTIONS, ADADELTA_STATE)

AdadeltaOptions::AdadeltaOptions(double lr) : lr_(lr) {}

Adadelta::Adadelta(const std::vector<OptimizerParamGroup>& param_groups, AdadeltaOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdadeltaOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  HB_CHECK(0 <= defaults.rho() && defaults.rho() <= 1, "Invalid rho value: ", defaults.rho());
  check_not_negative(defaults.eps(), "epsilon value");
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

Tensor Adadelta::step(LossClosure closure) {
  NoGradGuard no_grad;
  const Tensor loss = evaluate(closure);
  for (auto& group : param_groups_) {
    const auto& options = static_cast<const AdadeltaOptions&>(group.options());
    const AdadeltaRule rule{options.lr(), options.rho(), options.eps(), options.weight_decay()};
    const unsigned flags = flag_if(options.weight_decay() != 0, AdadeltaRule::kWeightDecay);
    UpdateBatches<AdadeltaRule> batches(adadelta_update);
    for (const auto& p : group.params()) {
      const Tensor& grad = p.grad();
      if (!grad.defined()) continue;
      bool fresh;
      auto& state = state_of<AdadeltaParamState>(state_, p, fresh);
      if (fresh) {
        state.square_avg(zero_state(p));
        state.acc_delta(zero_state(p));
      }
      state.step(state.step() + 1);
      batches.add(p, grad, {&state.square_avg(), &state.acc_delta()}, flags, 0, [&] { return rule; });
    }
    batches.run();
  }
  return loss;
}

}  // namespace hb::bridge::optim
