#pragma once

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

struct HB_API AdagradOptions : public OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2);  // NOLINT: implicit as in LibTorch
  HB_ARG(double, lr) = 1e-2;
  HB_ARG(double, lr_decay) = 0;
  HB_ARG(double, weight_decay) = 0;
  HB_ARG(double, initial_accumulator_value) = 0;
  HB_ARG(double, eps) = 1e-10;

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const AdagradOptions& a, const AdagradOptions& b);
  double get_lr() const override;
  void set_lr(const double lr) override;
};

struct HB_API AdagradParamState : public OptimizerCloneableParamState<AdagradParamState> {
  HB_ARG(Tensor, sum);
  HB_ARG(int64_t, step) = 0;

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const AdagradParamState& a, const AdagradParamState& b);
};

/// Adagrad: the gradient over the root of the sum of its squares, lr falling as lr / (1 + (step - 1) * lr_decay).
class HB_API Adagrad : public Optimizer {
 public:
  explicit Adagrad(const std::vector<OptimizerParamGroup>& param_groups, AdagradOptions defaults = {});
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {})
      : Adagrad(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
};

}  // namespace hb::bridge::optim
