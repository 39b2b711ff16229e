#pragma once

#include <tuple>

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

struct HB_API AdamWOptions : public OptimizerCloneableOptions<AdamWOptions> {
  AdamWOptions(double lr = 1e-3);  // NOLINT: implicit as in LibTorch
  using betas_t = std::tuple<double, double>;
  HB_ARG(double, lr) = 1e-3;
  HB_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  HB_ARG(double, eps) = 1e-8;
  HB_ARG(double, weight_decay) = 1e-2;
  HB_ARG(bool, amsgrad) = false;

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const AdamWOptions& a, const AdamWOptions& b);
  double get_lr() const override;
  void set_lr(const double lr) override;
};

struct HB_API AdamWParamState : public OptimizerCloneableParamState<AdamWParamState> {
  HB_ARG(int64_t, step) = 0;
  HB_ARG(Tensor, exp_avg);
  HB_ARG(Tensor, exp_avg_sq);
  HB_ARG(Tensor, max_exp_avg_sq);

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const AdamWParamState& a, const AdamWParamState& b);
};

/// Adam with weight decay apart from the gradient: p *= 1 - lr * weight_decay comes first.
class HB_API AdamW : public Optimizer {
 public:
  explicit AdamW(const std::vector<OptimizerParamGroup>& param_groups, AdamWOptions defaults = {});
  explicit AdamW(std::vector<Tensor> params, AdamWOptions defaults = {})
      : AdamW(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
};

}  // namespace hb::bridge::optim
