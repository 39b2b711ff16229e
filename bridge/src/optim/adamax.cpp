#include <halfbridge/bridge/optim/adamax.h>

#include <cmath>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define ADAMAX_OPTIONS(_) _(lr) _(betas) _(eps) _(weight_decay)
#define ADAMAX_STATE(_) _(step) _(exp_avg) _(exp_inf)
HB_OPTIMIZER_BOILERPLATE(Adamax, ADAMAX_OPTIONS, ADAMAX_STATE)

AdamaxOptions::AdamaxOptions(double lr) : lr_(lr) {}

Adamax::Adamax(const std::vector<OptimizerParamGroup>& param_groups, AdamaxOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdamaxOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.eps(), "epsilon value");
  check_betas(defaults.betas());
  check_not_negative(defaults.weight_decay(), "weight_decay value");
}

Tensor Adamax::step(LossClosure closure) {
  NoGradGuard no_grad;
  const Tensor loss = evaluate(closure);
  for (auto& group : param_groups_) {
    const auto& options = static_cast<const AdamaxOptions&>(group.options());
    const auto [beta1, beta2] = options.betas();
    const unsigned flags = flag_if(options.weight_decay() != 0, AdamaxRule::kWeightDecay);
    UpdateBatches<AdamaxRule> batches(adamax_update);
    for (const auto& p : group.params()) {
      const Tensor& grad = p.grad();
      if (!grad.defined()) continue;
      bool fresh;
      auto& state = state_of<AdamaxParamState>(state_, p, fresh);
      if (fresh) {
        state.exp_avg(zero_state(p));
        state.exp_inf(zero_state(p));
      }
      state.step(state.step() + 1);
      batches.add(p, grad, {&state.exp_avg(), &state.exp_inf()}, flags, state.step(), [&, b1 = beta1, b2 = beta2] {
        const double lr = options.lr() / (1 - std::pow(b1, static_cast<double>(state.step())));
        return AdamaxRule{lr, b1, b2, options.eps(), options.weight_decay()};
      });
    }
    batches.run();
  }
  return loss;
}

}  // namespace hb::bridge::optim
