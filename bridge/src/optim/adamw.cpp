#include <halfbridge/bridge/optim/adamw.h>

#include "adam_step.h"
#include "checks.h"
#include "fields.h"

namespace hb::bridge::optim {

#define ADAMW_OPTIONS(_) _(lr) _(betas) _(eps) _(weight_decay) _(amsgrad)
#define ADAMW_STATE(_) _(step) _(exp_avg) _(exp_avg_sq) _(max_exp_avg_sq)
HB_OPTIMIZER_BOILERPLATE(AdamW, ADAMW_OPTIONS, ADAMW_STATE)

AdamWOptions::AdamWOptions(double lr) : lr_(lr) {}

AdamW::AdamW(const std::vector<OptimizerParamGroup>& param_groups, AdamWOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamWOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.eps(), "epsilon value");
  check_betas(defaults.betas());
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

Tensor AdamW::step(LossClosure closure) {
  NoGradGuard no_grad;
  const Tensor loss = evaluate(closure);
  adam_step<AdamWOptions, AdamWParamState>(param_groups_, state_, AdamRule::kDecoupled);
  return loss;
}

}  // namespace hb::bridge::optim
