#pragma once

#include <tuple>

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API LionOptions : public OptimizerCloneableOptions<LionOptions> {
  using betas_t = std::tuple<double, double>;
  LionOptions(double lr = 1e-4, betas_t betas = {0.9, 0.99}, double weight_decay = 0)  // NOLINT: implicit from lr
      : lr_(lr), betas_(betas), weight_decay_(weight_decay) {}
  HB_ARG(double, lr);
  HB_ARG(betas_t, betas);
  HB_ARG(double, weight_decay);
  HB_ARG(bool, maximize) = false;

  HB_OPTIONS_METHODS(LionOptions);
};
extern template class OptimizerCloneableOptions<LionOptions>;

struct HB_API LionParamState : public OptimizerCloneableParamState<LionParamState> {
  HB_ARG(Tensor, exp_avg);

  HB_STATE_METHODS(LionParamState);
};
extern template class OptimizerCloneableParamState<LionParamState>;

/// Lion: steps of lr along the sign of an average of gradient and momentum; weight decay shrinks the parameter first.
class HB_API Lion : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(Lion, = {})
};

}  // namespace hb::bridge::optim
