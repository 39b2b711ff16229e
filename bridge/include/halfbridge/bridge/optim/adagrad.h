#pragma once

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API AdagradOptions : public OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2);  // NOLINT: implicit as in LibTorch
  HB_ARG(double, lr) = 1e-2;
  HB_ARG(double, lr_decay) = 0;
  HB_ARG(double, weight_decay) = 0;
  HB_ARG(double, initial_accumulator_value) = 0;
  HB_ARG(double, eps) = 1e-10;
  HB_ARG(bool, maximize) = false;

  HB_OPTIONS_METHODS(AdagradOptions);
};
extern template class OptimizerCloneableOptions<AdagradOptions>;

struct HB_API AdagradParamState : public OptimizerCloneableParamState<AdagradParamState> {
  HB_ARG(Tensor, sum);
  HB_STEP_ARG() = 0;

  HB_STATE_METHODS(AdagradParamState);
};
extern template class OptimizerCloneableParamState<AdagradParamState>;

/// Adagrad: the gradient over the root of the sum of its squares, lr falling as lr / (1 + (step - 1) * lr_decay).
class HB_API Adagrad : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(Adagrad, = {})
};

}  // namespace hb::bridge::optim
