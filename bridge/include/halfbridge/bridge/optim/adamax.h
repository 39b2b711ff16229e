#pragma once

#include <tuple>

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

struct HB_API AdamaxOptions : public OptimizerCloneableOptions<AdamaxOptions> {
  AdamaxOptions(double lr = 2e-3);  // NOLINT: implicit as LibTorch's options
  using betas_t = std::tuple<double, double>;
  HB_ARG(double, lr) = 2e-3;
  HB_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  HB_ARG(double, eps) = 1e-8;
  HB_ARG(double, weight_decay) = 0;

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const AdamaxOptions& a, const AdamaxOptions& b);
  double get_lr() const override;
  void set_lr(const double lr) override;
};

struct HB_API AdamaxParamState : public OptimizerCloneableParamState<AdamaxParamState> {
  HB_ARG(int64_t, step) = 0;
  HB_ARG(Tensor, exp_avg);
  HB_ARG(Tensor, exp_inf);

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const AdamaxParamState& a, const AdamaxParamState& b);
};

/// Adamax: Adam with the largest recent gradient in place of the root of the second moment.
class HB_API Adamax : public Optimizer {
 public:
  explicit Adamax(const std::vector<OptimizerParamGroup>& param_groups, AdamaxOptions defaults = {});
  explicit Adamax(std::vector<Tensor> params, AdamaxOptions defaults = {})
      : Adamax(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
};

}  // namespace hb::bridge::optim
