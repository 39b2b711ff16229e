#pragma once

#include <cmath>

#include "checks.h"
#include "step.h"

namespace hb::bridge::optim {

/// The step that Adam and AdamW share; `decay` is AdamRule::kDecay or kDecoupled.
template <class Options, class State>
void adam_step(std::vector<OptimizerParamGroup>& groups, Optimizer::StateMap& states, unsigned decay) {
  for (auto& group : groups) {
    const auto& options = static_cast<const Options&>(group.options());
    const auto [beta1, beta2] = options.betas();
    const unsigned flags = flag_if(options.weight_decay() != 0, decay) | flag_if(options.amsgrad(), AdamRule::kAmsgrad);
    UpdateBatches<AdamRule> batches(adam_update);
    for (const auto& p : group.params()) {
      const Tensor& grad = p.grad();
      if (!grad.defined()) continue;
      bool fresh;
      auto& state = state_of<State>(states, p, fresh);
      if (fresh) {
        state.exp_avg(zero_state(p));
        state.exp_avg_sq(zero_state(p));
      }
      if (options.amsgrad() && !state.max_exp_avg_sq().defined()) state.max_exp_avg_sq(zero_state(p));
      state.step(state.step() + 1);
      const auto rule = [&, beta1 = beta1, beta2 = beta2] {
        const auto step = static_cast<double>(state.step());
        return AdamRule{options.lr(),
                        beta1,
                        beta2,
                        options.eps(),
                        options.weight_decay(),
                        1 - std::pow(beta1, step),
                        1 - std::pow(beta2, step)};
      };
      batches.add(p, grad,
                  {&state.exp_avg(), &state.exp_avg_sq(), options.amsgrad() ? &state.max_exp_avg_sq() : nullptr}, flags,
                  state.step(), rule);
    }
    batches.run();
  }
}

}  // namespace hb::bridge::optim
