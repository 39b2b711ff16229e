#include <halfbridge/bridge/optim/radam.h>

#include <cmath>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define RADAM_OPTIONS(_) _(lr) _(betas) _(eps) _(weight_decay) _(decoupled_weight_decay)
#define RADAM_STATE(_) _(step) _(exp_avg) _(exp_avg_sq)
HB_OPTIMIZER_BOILERPLATE(RAdam, RADAM_OPTIONS, RADAM_STATE)

RAdamOptions::RAdamOptions(double lr) : lr_(lr) {}

RAdam::RAdam(const std::vector<OptimizerParamGroup>& param_groups, RAdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<RAdamOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.eps(), "epsilon value");
  check_betas(defaults.betas());
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

Tensor RAdam::step(LossClosure closure) {
  NoGradGuard no_grad;
  const Tensor loss = evaluate(closure);
  for (auto& group : param_groups_) {
    const auto& options = static_cast<const RAdamOptions&>(group.options());
    const auto [beta1, beta2] = options.betas();
    const unsigned decay = options.decoupled_weight_decay() ? RadamRule::kDecoupled : RadamRule::kDecay;
    const unsigned flags = flag_if(options.weight_decay() != 0, decay);
    UpdateBatches<RadamRule> batches(radam_update);
    for (const auto& p : group.params()) {
      const Tensor& grad = p.grad();
      if (!grad.defined()) continue;
      bool fresh;
      auto& state = state_of<RAdamParamState>(state_, p, fresh);
      if (fresh) {
        state.exp_avg(zero_state(p));
        state.exp_avg_sq(zero_state(p));
      }
      state.step(state.step() + 1);
      // Length of the approximated simple moving average, at this step and in the limit.
      const auto step = static_cast<double>(state.step());
      const double power = std::pow(beta2, step), correction2 = 1 - power;
      const double limit = 2 / (1 - beta2) - 1, length = limit - 2 * step * power / correction2;
      const bool rectified = length > 5;
      batches.add(p, grad, {&state.exp_avg(), &state.exp_avg_sq()}, flags | flag_if(rectified, RadamRule::kRectified),
                  state.step(), [&, b1 = beta1, b2 = beta2] {
                    const double ratio = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length);
                    return RadamRule{options.lr(),
                                     b1,
                                     b2,
                                     options.eps(),
                                     options.weight_decay(),
                                     1 - std::pow(b1, step),
                                     rectified ? std::sqrt(ratio * correction2) : 0};
                  });
    }
    batches.run();
  }
  return loss;
}

}  // namespace hb::bridge::optim
