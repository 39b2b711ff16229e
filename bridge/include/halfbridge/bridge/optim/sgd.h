#pragma once

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

struct HB_API SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr);  // NOLINT: implicit as in LibTorch
  HB_ARG(double, lr);
  HB_ARG(double, momentum) = 0;
  HB_ARG(double, dampening) = 0;
  HB_ARG(double, weight_decay) = 0;
  HB_ARG(bool, nesterov) = false;

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const SGDOptions& a, const SGDOptions& b);
  double get_lr() const override;
  void set_lr(const double lr) override;
};

struct HB_API SGDParamState : public OptimizerCloneableParamState<SGDParamState> {
  HB_ARG(Tensor, momentum_buffer);

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const SGDParamState& a, const SGDParamState& b);
};

/// Stochastic gradient descent: p -= lr * v with v = momentum * v + (1 - dampening) * g, v starting as the first g.
class HB_API SGD : public Optimizer {
 public:
  explicit SGD(const std::vector<OptimizerParamGroup>& param_groups, SGDOptions defaults);
  explicit SGD(std::vector<Tensor> params, SGDOptions defaults)
      : SGD(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
};

}  // namespace hb::bridge::optim
