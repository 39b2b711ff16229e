#pragma once

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr);  // NOLINT: implicit as in LibTorch
  HB_ARG(double, lr);
  HB_ARG(double, momentum) = 0;
  HB_ARG(double, dampening) = 0;
  HB_ARG(double, weight_decay) = 0;
  HB_ARG(bool, nesterov) = false;
  HB_ARG(bool, maximize) = false;

  HB_OPTIONS_METHODS(SGDOptions);
};
extern template class OptimizerCloneableOptions<SGDOptions>;

struct HB_API SGDParamState : public OptimizerCloneableParamState<SGDParamState> {
  HB_ARG(Tensor, momentum_buffer);
  /// 0 while the buffer waits for its first gradient. Neither it nor such a buffer is saved.
  HB_STEP_ARG() = 1;

  HB_STATE_METHODS(SGDParamState);
};
extern template class OptimizerCloneableParamState<SGDParamState>;

/// Stochastic gradient descent: p -= lr * v with v = momentum * v + (1 - dampening) * g, v starting as the first g.
class HB_API SGD : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(SGD, )
};

}  // namespace hb::bridge::optim
