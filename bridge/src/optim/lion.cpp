#include <halfbridge/bridge/optim/lion.h>

#include <cmath>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define LION_OPTIONS(_) _(lr) _(betas) _(weight_decay)
#define LION_STATE(_) _(exp_avg)
HB_OPTIMIZER_BOILERPLATE(Lion, LION_OPTIONS, LION_STATE)

LionOptions::LionOptions(double lr) : lr_(lr) {}

Lion::Lion(const std::vector<OptimizerParamGroup>& param_groups, LionOptions defaults)
    : Optimizer(param_groups, std::make_unique<LionOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_betas(defaults.betas());
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

Tensor Lion::step(LossClosure closure) {
  NoGradGuard no_grad;
  const Tensor loss = evaluate(closure);
  for (auto& group : param_groups_) {
    const auto& options = static_cast<const LionOptions&>(group.options());
    const auto [beta1, beta2] = options.betas();
    const LionRule rule{options.lr(), beta1, beta2, options.weight_decay()};
    const unsigned flags = flag_if(options.weight_decay() != 0, LionRule::kDecoupled);
    UpdateBatches<LionRule> batches(lion_update);
    for (const auto& p : group.params()) {
      const Tensor& grad = p.grad();
      if (!grad.defined()) continue;
      bool fresh;
      auto& state = state_of<LionParamState>(state_, p, fresh);
      if (fresh) state.exp_avg(zero_state(p));
      batches.add(p, grad, {&state.exp_avg()}, flags, 0, [&] { return rule; });
    }
    batches.run();
  }
  return loss;
}

}  // namespace hb::bridge::optim
