#include <halfbridge/bridge/optim/sgd.h>

#include "checks.h"
#include "fields.h"
#include "step.h"

namespace hb::bridge::optim {

#define SGD_OPTIONS(_) _(lr) _(momentum) _(dampening) _(weight_decay) _(nesterov)
#define SGD_STATE(_) _(momentum_buffer)
HB_OPTIMIZER_BOILERPLATE(SGD, SGD_OPTIONS, SGD_STATE)

SGDOptions::SGDOptions(double lr) : lr_(lr) {}

SGD::SGD(const std::vector<OptimizerParamGroup>& param_groups, SGDOptions defaults)
    : Optimizer(param_groups, std::make_unique<SGDOptions>(defaults)) {
  check_not_negative(defaults.lr(), "learning rate");
  check_not_negative(defaults.momentum(), "momentum value");
  check_not_negative(defaults.weight_decay(), "weight_decay value");
  HB_CHECK(!defaults.nesterov() || (defaults.momentum() > 0 && defaults.dampening() == 0),
           "Nesterov momentum requires a momentum and zero dampening");
}

Tensor SGD::step(LossClosure closure) {
  NoGradGuard no_grad;
  const Tensor loss = evaluate(closure);
  for (auto& group : param_groups_) {
    const auto& options = static_cast<const SGDOptions&>(group.options());
    const SgdRule rule{options.lr(), options.momentum(), options.dampening(), options.weight_decay()};
    const bool momentum = options.momentum() != 0;
    const unsigned flags = flag_if(options.weight_decay() != 0, SgdRule::kWeightDecay) |
                           flag_if(momentum, SgdRule::kMomentum) |
                           flag_if(momentum && options.nesterov(), SgdRule::kNesterov);
    UpdateBatches<SgdRule> batches(sgd_update);
    for (const auto& p : group.params()) {
      const Tensor& grad = p.grad();
      if (!grad.defined()) continue;
      Tensor* buffer = nullptr;
      bool fresh = false;
      if (momentum) {
        auto& state = state_of<SGDParamState>(state_, p, fresh);
        // State that was loaded or copied may lack the buffer.
        fresh = !state.momentum_buffer().defined();
        if (fresh) state.momentum_buffer(zero_state(p));
        buffer = &state.momentum_buffer();
      }
      batches.add(p, grad, {buffer}, flags | flag_if(fresh, SgdRule::kFirst), 0, [&] { return rule; });
    }
    batches.run();
  }
  return loss;
}

}  // namespace hb::bridge::optim
