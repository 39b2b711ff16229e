#pragma once

#include <tuple>

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

struct HB_API NAdamOptions : public OptimizerCloneableOptions<NAdamOptions> {
  NAdamOptions(double lr = 2e-3);  // NOLINT: implicit as LibTorch's options
  using betas_t = std::tuple<double, double>;
  HB_ARG(double, lr) = 2e-3;
  HB_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  HB_ARG(double, eps) = 1e-8;
  HB_ARG(double, weight_decay) = 0;
  HB_ARG(double, momentum_decay) = 4e-3;
  HB_ARG(bool, decoupled_weight_decay) = false;

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const NAdamOptions& a, const NAdamOptions& b);
  double get_lr() const override;
  void set_lr(const double lr) override;
};

struct HB_API NAdamParamState : public OptimizerCloneableParamState<NAdamParamState> {
  HB_ARG(int64_t, step) = 0;
  HB_ARG(double, mu_product) = 1;
  HB_ARG(Tensor, exp_avg);
  HB_ARG(Tensor, exp_avg_sq);

 public:
  void serialize(serialize::InputArchive& archive) override;
  void serialize(serialize::OutputArchive& archive) const override;
  HB_API friend bool operator==(const NAdamParamState& a, const NAdamParamState& b);
};

/// Adam with Nesterov's momentum.
class HB_API NAdam : public Optimizer {
 public:
  explicit NAdam(const std::vector<OptimizerParamGroup>& param_groups, NAdamOptions defaults = {});
  explicit NAdam(std::vector<Tensor> params, NAdamOptions defaults = {})
      : NAdam(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
};

}  // namespace hb::bridge::optim
