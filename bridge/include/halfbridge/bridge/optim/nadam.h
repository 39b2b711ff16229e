#pragma once

#include <tuple>

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API NAdamOptions : public OptimizerCloneableOptions<NAdamOptions> {
  using betas_t = std::tuple<double, double>;
  NAdamOptions(double lr = 2e-3, betas_t betas = {0.9, 0.999}, double eps = 1e-8, double weight_decay = 0,
               double momentum_decay = 4e-3, bool decoupled_weight_decay = false)  // NOLINT: implicit from lr
      : lr_(lr),
        betas_(betas),
        eps_(eps),
        weight_decay_(weight_decay),
        momentum_decay_(momentum_decay),
        decoupled_weight_decay_(decoupled_weight_decay) {}
  HB_ARG(double, lr);
  HB_ARG(betas_t, betas);
  HB_ARG(double, eps);
  HB_ARG(double, weight_decay);
  HB_ARG(double, momentum_decay);
  HB_ARG(bool, decoupled_weight_decay);
  HB_ARG(bool, maximize) = false;

  HB_OPTIONS_METHODS(NAdamOptions);
};
extern template class OptimizerCloneableOptions<NAdamOptions>;

struct HB_API NAdamParamState : public OptimizerCloneableParamState<NAdamParamState> {
  HB_STEP_ARG() = 0;
  HB_ARG(DeviceNumber<double>, mu_product) = 1;
  HB_ARG(Tensor, exp_avg);
  HB_ARG(Tensor, exp_avg_sq);

  HB_STATE_METHODS(NAdamParamState);
};
extern template class OptimizerCloneableParamState<NAdamParamState>;

/// Adam with Nesterov's momentum.
class HB_API NAdam : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(NAdam, = {})
};

}  // namespace hb::bridge::optim
