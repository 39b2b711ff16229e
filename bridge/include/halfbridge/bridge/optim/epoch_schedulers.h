#pragma once
// Schedulers that LibTorch has only in Python, with Python's arguments and defaults.

#include <functional>
#include <optional>
#include <vector>

#include <halfbridge/bridge/optim/schedulers.h>

namespace hb::bridge::optim {

/// Base of the schedulers that count as Python's do: epoch 0 begins when the scheduler is made, each step() begins the
/// next. For one's own, override get_lr() and call start() in the constructor. With a last_epoch the schedule goes on
/// after that epoch; the groups then need an initial_lr.
class HB_API EpochScheduler : public LRScheduler {
 public:
  explicit EpochScheduler(Optimizer& optimizer, int64_t last_epoch = -1);
  void step() override;
  /// Goes to an epoch, by the closed form where the schedule has one. Fractions are for CosineAnnealingWarmRestarts.
  virtual void step(double epoch);
  int64_t last_epoch() const { return last_epoch_; }
  const std::vector<double>& base_lrs() const { return base_lrs_; }
  /// The learning rates that the last step set.
  std::vector<double> get_last_lr() const { return last_lrs_; }

 protected:
  /// The learning rate of a group in epoch last_epoch(); `lr` is its present one, `base_lr` that from before all
  /// schedulers.
  virtual double get_lr(double lr, double base_lr, size_t group) const = 0;
  /// The same from base_lr alone, for schedules that can jump.
  virtual std::optional<double> closed_form_lr(double base_lr, size_t group) const;
  /// Called when last_epoch() has changed, before the learning rates: for momenta.
  virtual void on_epoch() {}
  void state(SchedulerState& state) override;
  /// Sets the learning rates of epoch 0. Last call of a constructor.
  void start() { initial_step(); }
  /// Whether it is start() that asks.
  bool is_initial() const { return is_initial_; }
  size_t group_count() const;

  int64_t last_epoch_;
  int64_t count_ = 0;  // of steps, the initial one included
  std::vector<double> base_lrs_, last_lrs_;

 private:
  friend class SequentialLR;
  friend class ChainedScheduler;
  virtual void initial_step();
  virtual void undo() { --last_epoch_; }
  std::vector<double> get_lrs() final;
  void update(std::optional<int64_t> epoch);

  bool is_initial_ = false;
};

using LRLambda = std::function<double(int64_t epoch)>;

/// base_lr * lr_lambda(epoch); one function for all groups, or one per group.
class HB_API LambdaLR : public EpochScheduler {
 public:
  LambdaLR(Optimizer& optimizer, LRLambda lr_lambda, int64_t last_epoch = -1);
  LambdaLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambda, int64_t last_epoch = -1);

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  std::vector<LRLambda> lambdas_;
};

/// Multiplies by lr_lambda(epoch) in every epoch but the first.
class HB_API MultiplicativeLR : public EpochScheduler {
 public:
  MultiplicativeLR(Optimizer& optimizer, LRLambda lr_lambda, int64_t last_epoch = -1);
  MultiplicativeLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambda, int64_t last_epoch = -1);

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  std::vector<LRLambda> lambdas_;
};

/// Multiplies by gamma at each milestone.
class HB_API MultiStepLR : public EpochScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1, int64_t last_epoch = -1);

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  std::optional<double> closed_form_lr(double base_lr, size_t group) const override;
  void state(SchedulerState& state) override;
  std::vector<int64_t> milestones_;
  double gamma_;
};

/// base_lr * factor for the first total_iters epochs, then base_lr.
class HB_API ConstantLR : public EpochScheduler {
 public:
  explicit ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, int64_t total_iters = 5, int64_t last_epoch = -1);

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  std::optional<double> closed_form_lr(double base_lr, size_t group) const override;
  void state(SchedulerState& state) override;
  double factor_;
  int64_t total_iters_;
};

/// From base_lr * start_factor to base_lr * end_factor in total_iters epochs.
class HB_API LinearLR : public EpochScheduler {
 public:
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1.0,
                    int64_t total_iters = 5, int64_t last_epoch = -1);

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  std::optional<double> closed_form_lr(double base_lr, size_t group) const override;
  void state(SchedulerState& state) override;
  double start_factor_, end_factor_;
  int64_t total_iters_;
};

/// Multiplies by gamma in every epoch but the first.
class HB_API ExponentialLR : public EpochScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma, int64_t last_epoch = -1);

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  std::optional<double> closed_form_lr(double base_lr, size_t group) const override;
  void state(SchedulerState& state) override;
  double gamma_;
};

/// base_lr * (1 - epoch / total_iters)^power, then 0.
class HB_API PolynomialLR : public EpochScheduler {
 public:
  explicit PolynomialLR(Optimizer& optimizer, int64_t total_iters = 5, double power = 1.0, int64_t last_epoch = -1);

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  std::optional<double> closed_form_lr(double base_lr, size_t group) const override;
  void state(SchedulerState& state) override;
  int64_t total_iters_;
  double power_;
};

/// Half a cosine from base_lr to eta_min in T_max epochs, and back.
class HB_API CosineAnnealingLR : public EpochScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0.0, int64_t last_epoch = -1);

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  std::optional<double> closed_form_lr(double base_lr, size_t group) const override;
  void state(SchedulerState& state) override;
  int64_t t_max_;
  double eta_min_;
};

/// Half cosines from base_lr to eta_min, the first of T_0 epochs, each T_mult times as long as the one before. step()
/// begins the next epoch; after every batch, step(epoch + batch / batches) goes to that point.
class HB_API CosineAnnealingWarmRestarts : public EpochScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult = 1, double eta_min = 0.0,
                              int64_t last_epoch = -1);
  void step() override;
  void step(double epoch) override;

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  void state(SchedulerState& state) override;
  int64_t t_0_, t_mult_;
  double eta_min_;
  double t_cur_, t_i_;  // epochs since the last restart, and between that and the next
};

}  // namespace hb::bridge::optim

/// Python's module of this name: the schedulers as Python counts them.
namespace hb::bridge::optim::lr_scheduler {

using LRScheduler = optim::EpochScheduler;
using optim::ConstantLR;
using optim::CosineAnnealingLR;
using optim::CosineAnnealingWarmRestarts;
using optim::ExponentialLR;
using optim::LambdaLR;
using optim::LinearLR;
using optim::MultiplicativeLR;
using optim::MultiStepLR;
using optim::PolynomialLR;

/// Multiplies by gamma every step_size epochs.
class HB_API StepLR : public EpochScheduler {
 public:
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1, int64_t last_epoch = -1);

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  std::optional<double> closed_form_lr(double base_lr, size_t group) const override;
  void state(SchedulerState& state) override;
  int64_t step_size_;
  double gamma_;
};

}  // namespace hb::bridge::optim::lr_scheduler
