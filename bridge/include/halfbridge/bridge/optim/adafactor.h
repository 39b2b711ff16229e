#pragma once

#include <optional>
#include <tuple>

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API AdafactorOptions : public OptimizerCloneableOptions<AdafactorOptions> {
  using eps_t = std::tuple<std::optional<double>, double>;
  AdafactorOptions(double lr = 1e-2, double beta2_decay = -0.8, eps_t eps = {std::nullopt, 1e-3}, double d = 1.0,
                   double weight_decay = 0)  // NOLINT: implicit from lr
      : lr_(lr), beta2_decay_(beta2_decay), eps_(eps), d_(d), weight_decay_(weight_decay) {}
  HB_ARG(double, lr);
  HB_ARG(double, beta2_decay);
  HB_ARG(eps_t, eps);
  HB_ARG(double, d);
  HB_ARG(double, weight_decay);
  HB_ARG(bool, maximize) = false;

  HB_OPTIONS_METHODS(AdafactorOptions);
};
extern template class OptimizerCloneableOptions<AdafactorOptions>;

struct HB_API AdafactorParamState : public OptimizerCloneableParamState<AdafactorParamState> {
  HB_STEP_ARG() = 0;
  HB_ARG(Tensor, row_var);
  HB_ARG(Tensor, col_var);
  HB_ARG(Tensor, variance);

  HB_STATE_METHODS(AdafactorParamState);
};
extern template class OptimizerCloneableParamState<AdafactorParamState>;

/// Adafactor as PyTorch has it: the second moment of a matrix is kept as the means over its rows and columns; steps are
/// relative to the size of the parameter, at most min(lr, 1 / sqrt(step)) of it, and clipped to a root mean square of
/// d. Without an eps[0] it is the epsilon of the dtype that is computed with. State is f32, or f64 for f64 parameters.
class HB_API Adafactor : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(Adafactor, = {})
};

}  // namespace hb::bridge::optim
