#pragma once

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API AdadeltaOptions : public OptimizerCloneableOptions<AdadeltaOptions> {
  AdadeltaOptions(double lr = 1.0, double rho = 0.9, double eps = 1e-6,
                  double weight_decay = 0)  // NOLINT: implicit from lr
      : lr_(lr), rho_(rho), eps_(eps), weight_decay_(weight_decay) {}
  HB_ARG(double, lr);
  HB_ARG(double, rho);
  HB_ARG(double, eps);
  HB_ARG(double, weight_decay);
  HB_ARG(bool, maximize) = false;

  HB_OPTIONS_METHODS(AdadeltaOptions);
};
extern template class OptimizerCloneableOptions<AdadeltaOptions>;

struct HB_API AdadeltaParamState : public OptimizerCloneableParamState<AdadeltaParamState> {
  HB_STEP_ARG() = 0;
  HB_ARG(Tensor, square_avg);
  HB_ARG(Tensor, acc_delta);

  HB_STATE_METHODS(AdadeltaParamState);
};
extern template class OptimizerCloneableParamState<AdadeltaParamState>;

/// Adadelta: steps as large as recent steps, over the size of recent gradients.
class HB_API Adadelta : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(Adadelta, = {})
};

}  // namespace hb::bridge::optim
