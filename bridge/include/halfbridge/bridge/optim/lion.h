#pragma once

#include <tuple>

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

struct HB_API LionOptions : public OptimizerCloneableOptions<LionOptions> {
  LionOptions(double lr = 1e-4);  // NOLINT: implicit as LibTorch's options
  using betas_t = std::tuple<double, double>;
  HB_ARG(double, lr) = 1e-4;
  HB_ARG(betas_t, betas) = std::make_tuple(0.9, 0.99);
  HB_ARG(double, weight_decay) = 0;

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const LionOptions& a, const LionOptions& b);
  double get_lr() const override;
  void set_lr(const double lr) override;
};

struct HB_API LionParamState : public OptimizerCloneableParamState<LionParamState> {
  HB_ARG(Tensor, exp_avg);

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const LionParamState& a, const LionParamState& b);
};

/// Lion: steps of lr along the sign of an average of gradient and momentum; weight decay shrinks the parameter first.
class HB_API Lion : public Optimizer {
 public:
  explicit Lion(const std::vector<OptimizerParamGroup>& param_groups, LionOptions defaults = {});
  explicit Lion(std::vector<Tensor> params, LionOptions defaults = {})
      : Lion(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
};

}  // namespace hb::bridge::optim
