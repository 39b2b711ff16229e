#pragma once

#include <tuple>

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API AdamOptions : public OptimizerCloneableOptions<AdamOptions> {
  using betas_t = std::tuple<double, double>;
  AdamOptions(double lr = 1e-3);  // NOLINT: implicit as in LibTorch
  HB_ARG(double, lr) = 1e-3;
  HB_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  HB_ARG(double, eps) = 1e-8;
  HB_ARG(double, weight_decay) = 0;
  HB_ARG(bool, amsgrad) = false;
  HB_ARG(bool, maximize) = false;
  HB_ARG(bool, decoupled_weight_decay) = false;

  HB_OPTIONS_METHODS(AdamOptions);
};
extern template class OptimizerCloneableOptions<AdamOptions>;

struct HB_API AdamWOptions : public OptimizerCloneableOptions<AdamWOptions> {
  using betas_t = std::tuple<double, double>;
  AdamWOptions(double lr = 1e-3);  // NOLINT: implicit as in LibTorch
  HB_ARG(double, lr) = 1e-3;
  HB_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  HB_ARG(double, eps) = 1e-8;
  HB_ARG(double, weight_decay) = 1e-2;
  HB_ARG(bool, amsgrad) = false;
  HB_ARG(bool, maximize) = false;

  HB_OPTIONS_METHODS(AdamWOptions);
};
extern template class OptimizerCloneableOptions<AdamWOptions>;

struct HB_API AdamParamState : public OptimizerCloneableParamState<AdamParamState> {
  HB_STEP_ARG() = 0;
  HB_ARG(Tensor, exp_avg);
  HB_ARG(Tensor, exp_avg_sq);
  HB_ARG(Tensor, max_exp_avg_sq);

  HB_STATE_METHODS(AdamParamState);
};
extern template class OptimizerCloneableParamState<AdamParamState>;

struct HB_API AdamWParamState : public OptimizerCloneableParamState<AdamWParamState> {
  HB_STEP_ARG() = 0;
  HB_ARG(Tensor, exp_avg);
  HB_ARG(Tensor, exp_avg_sq);
  HB_ARG(Tensor, max_exp_avg_sq);

  HB_STATE_METHODS(AdamWParamState);
};
extern template class OptimizerCloneableParamState<AdamWParamState>;

/// Adam: p -= lr * m / (sqrt(v) + eps), the moments m and v corrected for their start at zero; weight decay is added to
/// the gradient, or as in AdamW if decoupled_weight_decay.
class HB_API Adam : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(Adam, = {})
};

/// Adam with weight decay apart from the gradient: p *= 1 - lr * weight_decay comes first.
class HB_API AdamW : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(AdamW, = {})
};

}  // namespace hb::bridge::optim
