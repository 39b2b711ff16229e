#include <halfbridge/bridge/optim/adagrad.h>

#include <halfbridge/ops/factories.h>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define ADAGRAD_OPTIONS(_) _(lr) _(lr_decay) _(weight_decay) _(initial_accumulator_value) _(eps)
#define ADAGRAD_STATE(_) _(sum) _(step)
HB_OPTIMIZER_BOILERPLATE(Adagrad, ADAGRAD_OPTIONS, ADAGRAD_STATE)

AdagradOptions::AdagradOptions(double lr) : lr_(lr) {}

namespace {
void start(AdagradParamState& state, const Tensor& param, double value) {
  state.sum(zero_state(param));
  if (value != 0) state.sum().fill_(value);
}
}  // namespace

Adagrad::Adagrad(const std::vector<OptimizerParamGroup>& param_groups, AdagradOptions defaults)
    : Optimizer(param_groups, std::make_unique<AdagradOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.lr_decay(), "lr_decay value");
  check_not_negative(defaults.weight_decay(), "weight_decay value");
  check_not_negative(defaults.initial_accumulator_value(), "initial_accumulator_value value");
  check_not_negative(defaults.eps(), "epsilon value");
  NoGradGuard no_grad;
  for (const auto& group : param_groups_) {
    for (const auto& p : group.params()) {
      bool fresh;
      start(state_of<AdagradParamState>(state_, p, fresh), p, defaults.initial_accumulator_value());
    }
  }
}

Tensor Adagrad::step(LossClosure closure) {
  NoGradGuard no_grad;
  const Tensor loss = evaluate(closure);
  for (auto& group : param_groups_) {
    const auto& options = static_cast<const AdagradOptions&>(group.options());
    const unsigned flags = flag_if(options.weight_decay() != 0, AdagradRule::kWeightDecay);
    UpdateBatches<AdagradRule> batches(adagrad_update);
    for (const auto& p : group.params()) {
      const Tensor& grad = p.grad();
      if (!grad.defined()) continue;
      bool fresh;
      auto& state = state_of<AdagradParamState>(state_, p, fresh);
      // Groups that were added later have no state yet.
      if (fresh) start(state, p, options.initial_accumulator_value());
      state.step(state.step() + 1);
      batches.add(p, grad, {&state.sum()}, flags, state.step(), [&] {
        const double lr = options.lr() / (1 + static_cast<double>(state.step() - 1) * options.lr_decay());
        return AdagradRule{lr, options.eps(), options.weight_decay()};
      });
    }
    batches.run();
  }
  return loss;
}

}  // namespace hb::bridge::optim
