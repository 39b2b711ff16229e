#pragma once

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

struct HB_API RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
  RMSpropOptions(double lr = 1e-2);  // NOLINT: implicit as in LibTorch
  HB_ARG(double, lr) = 1e-2;
  HB_ARG(double, alpha) = 0.99;
  HB_ARG(double, eps) = 1e-8;
  HB_ARG(double, weight_decay) = 0;
  HB_ARG(double, momentum) = 0;
  HB_ARG(bool, centered) = false;

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const RMSpropOptions& a, const RMSpropOptions& b);
  double get_lr() const override;
  void set_lr(const double lr) override;
};

struct HB_API RMSpropParamState : public OptimizerCloneableParamState<RMSpropParamState> {
  HB_ARG(int64_t, step) = 0;
  HB_ARG(Tensor, square_avg);
  HB_ARG(Tensor, momentum_buffer);
  HB_ARG(Tensor, grad_avg);

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const RMSpropParamState& a, const RMSpropParamState& b);
};

/// RMSprop: the gradient over the root of its running mean square, about its mean if centered.
class HB_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(const std::vector<OptimizerParamGroup>& param_groups, RMSpropOptions defaults = {});
  explicit RMSprop(std::vector<Tensor> params, RMSpropOptions defaults = {})
      : RMSprop(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
};

}  // namespace hb::bridge::optim
