#pragma once
// Schedulers that move the learning rate to a given one and, if asked, the momentum against it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/bridge/optim/epoch_schedulers.h>

namespace hb::bridge::optim {

namespace detail {
/// "momentum" or the first of "betas" of each group. Throws for an optimizer that has neither.
class HB_API Momenta {
 public:
  explicit Momenta(Optimizer& optimizer);
  void set(size_t group, double momentum) const;

 private:
  Optimizer& optimizer_;
  bool beta1_;
};
}  // namespace detail

/// Between base_lr and max_lr in straight lines, up in step_size_up epochs and down in step_size_down (the same if not
/// given). `mode`: "triangular", "triangular2" (each cycle half as high), "exp_range" (height gamma^epoch); a scale_fn
/// of the cycle or the epoch (scale_mode "cycle", "iterations") overrides it. The momentum falls while the rate rises.
class HB_API CyclicLR : public EpochScheduler {
 public:
  CyclicLR(Optimizer& optimizer, const GroupValues& base_lr, const GroupValues& max_lr, int64_t step_size_up = 2000,
           std::optional<int64_t> step_size_down = std::nullopt, std::string mode = "triangular", double gamma = 1.0,
           std::function<double(double)> scale_fn = nullptr, std::string scale_mode = "cycle",
           bool cycle_momentum = true, const GroupValues& base_momentum = 0.8, const GroupValues& max_momentum = 0.9,
           int64_t last_epoch = -1);

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  void on_epoch() override;
  void state(SchedulerState& state) override;

 private:
  /// How far between base and top, from 0 to 1 times the scale.
  double height() const;
  double scale(double cycle) const;

  std::vector<double> max_lrs_, base_momenta_, max_momenta_;
  double total_size_, step_ratio_, gamma_;
  std::string mode_, scale_mode_;
  std::function<double(double)> scale_fn_;
  std::optional<detail::Momenta> momenta_;
};

/// One cycle: from max_lr / div_factor up to max_lr in the first pct_start of all steps, then down to
/// max_lr / (div_factor * final_div_factor); by way of the first rate if three_phase. `anneal_strategy`: "cos",
/// "linear". The number of steps is total_steps, or epochs * steps_per_epoch; more throw.
class HB_API OneCycleLR : public EpochScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, const GroupValues& max_lr, std::optional<int64_t> total_steps = std::nullopt,
             std::optional<int64_t> epochs = std::nullopt, std::optional<int64_t> steps_per_epoch = std::nullopt,
             double pct_start = 0.3, std::string anneal_strategy = "cos", bool cycle_momentum = true,
             const GroupValues& base_momentum = 0.85, const GroupValues& max_momentum = 0.95, double div_factor = 25.0,
             double final_div_factor = 1e4, bool three_phase = false, int64_t last_epoch = -1);

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  void on_epoch() override;
  void state(SchedulerState& state) override;

 private:
  enum Level { kInitial, kMax, kMin };
  struct Phase {
    double end;
    Level lr_from, lr_to;
    bool momentum_high_from, momentum_high_to;
  };
  /// The phase of the present epoch, and how far it has come.
  std::pair<Phase, double> now() const;
  void phases_state(SchedulerState& state);
  double anneal(double from, double to, double part) const;
  double level(Level level, size_t group) const;

  int64_t total_steps_ = 0;
  std::vector<Phase> phases_;
  std::string anneal_strategy_;
  std::vector<double> initial_lrs_, max_lrs_, min_lrs_, base_momenta_, max_momenta_;
  std::optional<detail::Momenta> momenta_;
};

/// From the present learning rates to swa_lr in anneal_epochs epochs, for stochastic weight averaging.
/// `anneal_strategy`: "cos", "linear".
class HB_API SWALR : public EpochScheduler {
 public:
  SWALR(Optimizer& optimizer, const GroupValues& swa_lr, int64_t anneal_epochs = 10,
        std::string anneal_strategy = "cos", int64_t last_epoch = -1);

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  void state(SchedulerState& state) override;

 private:
  double anneal(double t) const;
  std::vector<double> swa_lrs_;
  int64_t anneal_epochs_;
  std::string anneal_strategy_;
};

/// Multiplies the learning rates by factor when the metric has not improved for more than patience steps. `mode`:
/// "min", "max"; `threshold_mode`: "rel", "abs".
class HB_API ReduceLROnPlateau : public LRScheduler {
 public:
  explicit ReduceLROnPlateau(Optimizer& optimizer, std::string mode = "min", double factor = 0.1, int64_t patience = 10,
                             double threshold = 1e-4, std::string threshold_mode = "rel", int64_t cooldown = 0,
                             const GroupValues& min_lr = 0.0, double eps = 1e-8);
  void step(double metric);
  void step(const Tensor& metric) { step(metric.item<double>()); }
  std::vector<double> get_last_lr() const { return last_lrs_; }
  int64_t last_epoch() const { return last_epoch_; }

 protected:
  void state(SchedulerState& state) override;

 private:
  /// A step needs a metric.
  void step() override;
  std::vector<double> get_lrs() override { return get_current_lrs(); }
  bool is_better(double metric) const;
  void reduce();

  std::string mode_, threshold_mode_;
  double factor_, threshold_, eps_, best_;
  PlateauCounter counter_;
  int64_t last_epoch_ = 0;
  std::optional<double> default_min_lr_;  // of groups that join later
  std::vector<double> min_lrs_, last_lrs_;
};

namespace lr_scheduler {
using optim::CyclicLR;
using optim::OneCycleLR;
using optim::ReduceLROnPlateau;
}  // namespace lr_scheduler
namespace swa_utils {
using optim::SWALR;
}  // namespace swa_utils

}  // namespace hb::bridge::optim
