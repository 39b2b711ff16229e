#pragma once

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
  RMSpropOptions(double lr = 1e-2);  // NOLINT: implicit as in LibTorch
  HB_ARG(double, lr) = 1e-2;
  HB_ARG(double, alpha) = 0.99;
  HB_ARG(double, eps) = 1e-8;
  HB_ARG(double, weight_decay) = 0;
  HB_ARG(double, momentum) = 0;
  HB_ARG(bool, centered) = false;
  HB_ARG(bool, maximize) = false;

  HB_OPTIONS_METHODS(RMSpropOptions);
};
extern template class OptimizerCloneableOptions<RMSpropOptions>;

struct HB_API RMSpropParamState : public OptimizerCloneableParamState<RMSpropParamState> {
  HB_STEP_ARG() = 0;
  HB_ARG(Tensor, square_avg);
  HB_ARG(Tensor, momentum_buffer);
  HB_ARG(Tensor, grad_avg);

  HB_STATE_METHODS(RMSpropParamState);
};
extern template class OptimizerCloneableParamState<RMSpropParamState>;

/// RMSprop: the gradient over the root of its running mean square, about its mean if centered.
class HB_API RMSprop : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(RMSprop, = {})
};

}  // namespace hb::bridge::optim
