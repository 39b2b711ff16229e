#pragma once

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

struct HB_API AdadeltaOptions : public OptimizerCloneableOptions<AdadeltaOptions> {
  AdadeltaOptions(double lr = 1.0);  // NOLINT: implicit as LibTorch's options
  HB_ARG(double, lr) = 1.0;
  HB_ARG(double, rho) = 0.9;
  HB_ARG(double, eps) = 1e-6;
  HB_ARG(double, weight_decay) = 0;

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const AdadeltaOptions& a, const AdadeltaOptions& b);
  double get_lr() const override;
  void set_lr(const double lr) override;
};

struct HB_API AdadeltaParamState : public OptimizerCloneableParamState<AdadeltaParamState> {
  HB_ARG(int64_t, step) = 0;
  HB_ARG(Tensor, square_avg);
  HB_ARG(Tensor, acc_delta);

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const AdadeltaParamState& a, const AdadeltaParamState& b);
};

/// Adadelta: steps as large as recent steps, over the size of recent gradients.
class HB_API Adadelta : public Optimizer {
 public:
  explicit Adadelta(const std::vector<OptimizerParamGroup>& param_groups, AdadeltaOptions defaults = {});
  explicit Adadelta(std::vector<Tensor> params, AdadeltaOptions defaults = {})
      : Adadelta(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
};

}  // namespace hb::bridge::optim
