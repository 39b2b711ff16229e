#pragma once

#include <tuple>

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API AdamaxOptions : public OptimizerCloneableOptions<AdamaxOptions> {
  using betas_t = std::tuple<double, double>;
  AdamaxOptions(double lr = 2e-3, betas_t betas = {0.9, 0.999}, double eps = 1e-8,
                double weight_decay = 0)  // NOLINT: implicit from lr
      : lr_(lr), betas_(betas), eps_(eps), weight_decay_(weight_decay) {}
  HB_ARG(double, lr);
  HB_ARG(betas_t, betas);
  HB_ARG(double, eps);
  HB_ARG(double, weight_decay);
  HB_ARG(bool, maximize) = false;

  HB_OPTIONS_METHODS(AdamaxOptions);
};
extern template class OptimizerCloneableOptions<AdamaxOptions>;

struct HB_API AdamaxParamState : public OptimizerCloneableParamState<AdamaxParamState> {
  HB_STEP_ARG() = 0;
  HB_ARG(Tensor, exp_avg);
  HB_ARG(Tensor, exp_inf);

  HB_STATE_METHODS(AdamaxParamState);
};
extern template class OptimizerCloneableParamState<AdamaxParamState>;

/// Adamax: Adam with the largest recent gradient in place of the root of the second moment.
class HB_API Adamax : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(Adamax, = {})
};

}  // namespace hb::bridge::optim
