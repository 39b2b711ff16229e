#pragma once

#include <tuple>

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

struct HB_API AdamOptions : public OptimizerCloneableOptions<AdamOptions> {
  AdamOptions(double lr = 1e-3);  // NOLINT: implicit as in LibTorch
  using betas_t = std::tuple<double, double>;
  HB_ARG(double, lr) = 1e-3;
  HB_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  HB_ARG(double, eps) = 1e-8;
  HB_ARG(double, weight_decay) = 0;
  HB_ARG(bool, amsgrad) = false;

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const AdamOptions& a, const AdamOptions& b);
  double get_lr() const override;
  void set_lr(const double lr) override;
};

struct HB_API AdamParamState : public OptimizerCloneableParamState<AdamParamState> {
  HB_ARG(int64_t, step) = 0;
  HB_ARG(Tensor, exp_avg);
  HB_ARG(Tensor, exp_avg_sq);
  HB_ARG(Tensor, max_exp_avg_sq);

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const AdamParamState& a, const AdamParamState& b);
};

/// Adam: p -= lr * m / (sqrt(v) + eps), the moments m and v corrected for their start at zero; weight decay is added
/// to the gradient.
class HB_API Adam : public Optimizer {
 public:
  explicit Adam(const std::vector<OptimizerParamGroup>& param_groups, AdamOptions defaults = {});
  explicit Adam(std::vector<Tensor> params, AdamOptions defaults = {})
      : Adam(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
};

}  // namespace hb::bridge::optim
