#pragma once

#include <halfbridge/bridge/optim/declare.h>

namespace hb::bridge::optim {

struct HB_API ASGDOptions : public OptimizerCloneableOptions<ASGDOptions> {
  ASGDOptions(double lr = 1e-2, double lambd = 1e-4, double alpha = 0.75, double t0 = 1e6,
              double weight_decay = 0)  // NOLINT: implicit from lr
      : lr_(lr), lambd_(lambd), alpha_(alpha), t0_(t0), weight_decay_(weight_decay) {}
  HB_ARG(double, lr);
  HB_ARG(double, lambd);
  HB_ARG(double, alpha);
  HB_ARG(double, t0);
  HB_ARG(double, weight_decay);
  HB_ARG(bool, maximize) = false;

  HB_OPTIONS_METHODS(ASGDOptions);
};
extern template class OptimizerCloneableOptions<ASGDOptions>;

struct HB_API ASGDParamState : public OptimizerCloneableParamState<ASGDParamState> {
  HB_STEP_ARG() = 0;
  HB_ARG(DeviceNumber<double>, eta) = 0;
  HB_ARG(Tensor, ax);

  HB_STATE_METHODS(ASGDParamState);
};
extern template class OptimizerCloneableParamState<ASGDParamState>;

/// Averaged SGD: p = p * (1 - lambd * eta) - eta * g, eta = lr / (1 + lambd * lr * step)^alpha falling from lr, and in
/// the state the average ax of p over the steps after t0.
class HB_API ASGD : public Optimizer {
  HB_FUSED_OPTIMIZER_METHODS(ASGD, = {})
};

}  // namespace hb::bridge::optim
