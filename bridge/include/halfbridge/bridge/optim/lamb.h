#pragma once

#include <tuple>

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API LAMBOptions : public OptimizerCloneableOptions<LAMBOptions> {
  using betas_t = std::tuple<double, double>;
  LAMBOptions(double lr = 1e-3, betas_t betas = {0.9, 0.999}, double eps = 1e-6,
              double weight_decay = 0)  // NOLINT: implicit from lr
      : lr_(lr), betas_(betas), eps_(eps), weight_decay_(weight_decay) {}
  HB_ARG(double, lr);
  HB_ARG(betas_t, betas);
  HB_ARG(double, eps);
  HB_ARG(double, weight_decay);
  HB_ARG(bool, maximize) = false;

  HB_OPTIONS_METHODS(LAMBOptions);
};
extern template class OptimizerCloneableOptions<LAMBOptions>;

struct HB_API LAMBParamState : public OptimizerCloneableParamState<LAMBParamState> {
  HB_STEP_ARG() = 0;
  HB_ARG(Tensor, exp_avg);
  HB_ARG(Tensor, exp_avg_sq);

  HB_STATE_METHODS(LAMBParamState);
};
extern template class OptimizerCloneableParamState<LAMBParamState>;

/// LAMB (You et al., "Large Batch Optimization for Deep Learning", algorithm 2; PyTorch has none): with Adam's
/// corrected moments m and v, u = m / (sqrt(v) + eps) + weight_decay * p and p -= lr * |p| / |u| * u, the norms being
/// those of the parameter's whole tensors (their quotient is 1 where one is zero).
class HB_API LAMB : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(LAMB, = {})
};

}  // namespace hb::bridge::optim
