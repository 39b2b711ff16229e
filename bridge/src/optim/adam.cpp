#include <halfbridge/bridge/optim/adam.h>

#include "adam_step.h"
#include "checks.h"
#include "fields.h"

namespace hb::bridge::optim {

#define ADAM_OPTIONS(_) _(lr) _(betas) _(eps) _(weight_decay) _(amsgrad)
#define ADAM_STATE(_) _(step) _(exp_avg) _(exp_avg_sq) _(max_exp_avg_sq)
HB_OPTIMIZER_BOILERPLATE(Adam, ADAM_OPTIONS, ADAM_STATE)

AdamOptions::AdamOptions(double lr) : lr_(lr) {}

Adam::Adam(const std::vector<OptimizerParamGroup>& param_groups, AdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.eps(), "epsilon value");
  check_betas(defaults.betas());
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

Tensor Adam::step(LossClosure closure) {
  NoGradGuard no_grad;
  const Tensor loss = evaluate(closure);
  adam_step<AdamOptions, AdamParamState>(param_groups_, state_, AdamRule::kDecay);
  return loss;
}

}  // namespace hb::bridge::optim
