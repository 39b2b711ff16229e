#include <halfbridge/bridge/optim/nadam.h>

#include <cmath>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define NADAM_OPTIONS(_) _(lr) _(betas) _(eps) _(weight_decay) _(momentum_decay) _(decoupled_weight_decay)
#define NADAM_STATE(_) _(step) _(mu_product) _(exp_avg) _(exp_avg_sq)
HB_OPTIMIZER_BOILERPLATE(NAdam, NADAM_OPTIONS, NADAM_STATE)

NAdamOptions::NAdamOptions(double lr) : lr_(lr) {}

NAdam::NAdam(const std::vector<OptimizerParamGroup>& param_groups, NAdamOptions defaults)
    : Optimizer(param_groups, std::make_unique<NAdamOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.eps(), "epsilon value");
  check_betas(defaults.betas());
  check_not_negative(defaults.momentum_decay(), "momentum_decay value");
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

Tensor NAdam::step(LossClosure closure) {
  NoGradGuard no_grad;
  const Tensor loss = evaluate(closure);
  for (auto& group : param_groups_) {
    const auto& options = static_cast<const NAdamOptions&>(group.options());
    const auto [beta1, beta2] = options.betas();
    const unsigned decay = options.decoupled_weight_decay() ? NadamRule::kDecoupled : NadamRule::kDecay;
    const unsigned flags = flag_if(options.weight_decay() != 0, decay);
    UpdateBatches<NadamRule> batches(nadam_update);
    for (const auto& p : group.params()) {
      const Tensor& grad = p.grad();
      if (!grad.defined()) continue;
      bool fresh;
      auto& state = state_of<NAdamParamState>(state_, p, fresh);
      if (fresh) {
        state.exp_avg(zero_state(p));
        state.exp_avg_sq(zero_state(p));
      }
      state.step(state.step() + 1);
      const auto step = static_cast<double>(state.step());
      const auto mu_at = [&, b1 = beta1](double t) {
        return b1 * (1 - 0.5 * std::pow(0.96, t * options.momentum_decay()));
      };
      const double mu = mu_at(step), mu_next = mu_at(step + 1);
      state.mu_product(state.mu_product() * mu);
      batches.add(p, grad, {&state.exp_avg(), &state.exp_avg_sq()}, flags, state.step(), [&, b1 = beta1, b2 = beta2] {
        return NadamRule{options.lr(),
                         b1,
                         b2,
                         options.eps(),
                         options.weight_decay(),
                         1 - std::pow(b2, step),
                         options.lr() * (1 - mu) / (1 - state.mu_product()),
                         options.lr() * mu_next / (1 - state.mu_product() * mu_next)};
      });
    }
    batches.run();
  }
  return loss;
}

}  // namespace hb::bridge::optim
