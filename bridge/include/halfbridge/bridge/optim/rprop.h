#pragma once

#include <tuple>

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API RpropOptions : public OptimizerCloneableOptions<RpropOptions> {
  using pair_t = std::tuple<double, double>;
  RpropOptions(double lr = 1e-2, pair_t etas = {0.5, 1.2}, pair_t step_sizes = {1e-6, 50})  // NOLINT: implicit from lr
      : lr_(lr), etas_(etas), step_sizes_(step_sizes) {}
  HB_ARG(double, lr);
  HB_ARG(pair_t, etas);
  HB_ARG(pair_t, step_sizes);
  HB_ARG(bool, maximize) = false;

  HB_OPTIONS_METHODS(RpropOptions);
};
extern template class OptimizerCloneableOptions<RpropOptions>;

struct HB_API RpropParamState : public OptimizerCloneableParamState<RpropParamState> {
  HB_STEP_ARG() = 0;
  HB_ARG(Tensor, prev);
  HB_ARG(Tensor, step_size);

  HB_STATE_METHODS(RpropParamState);
};
extern template class OptimizerCloneableParamState<RpropParamState>;

/// Resilient backpropagation: each element has its own step size, which etas shrink where the sign of the gradient
/// changed and grow where it did not, within step_sizes.
class HB_API Rprop : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(Rprop, = {})
};

}  // namespace hb::bridge::optim
