#pragma once

#include <tuple>

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API RAdamOptions : public OptimizerCloneableOptions<RAdamOptions> {
  using betas_t = std::tuple<double, double>;
  RAdamOptions(double lr = 1e-3, betas_t betas = {0.9, 0.999}, double eps = 1e-8, double weight_decay = 0,
               bool decoupled_weight_decay = false)  // NOLINT: implicit from lr
      : lr_(lr),
        betas_(betas),
        eps_(eps),
        weight_decay_(weight_decay),
        decoupled_weight_decay_(decoupled_weight_decay) {}
  HB_ARG(double, lr);
  HB_ARG(betas_t, betas);
  HB_ARG(double, eps);
  HB_ARG(double, weight_decay);
  HB_ARG(bool, decoupled_weight_decay);
  HB_ARG(bool, maximize) = false;

  HB_OPTIONS_METHODS(RAdamOptions);
};
extern template class OptimizerCloneableOptions<RAdamOptions>;

struct HB_API RAdamParamState : public OptimizerCloneableParamState<RAdamParamState> {
  HB_STEP_ARG() = 0;
  HB_ARG(Tensor, exp_avg);
  HB_ARG(Tensor, exp_avg_sq);

  HB_STATE_METHODS(RAdamParamState);
};
extern template class OptimizerCloneableParamState<RAdamParamState>;

/// Adam that holds the second moment back while too few steps were made to know it.
class HB_API RAdam : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(RAdam, = {})
};

}  // namespace hb::bridge::optim
