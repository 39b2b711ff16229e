#pragma once
// LibTorch's learning-rate schedulers. They hold a reference: the optimizer must outlive them.

#include <vector>

#include <halfbridge/bridge/optim/optimizer.h>
#include <halfbridge/bridge/optim/scheduler_state.h>

namespace hb::bridge::optim {

/// Sets the learning rate of each group at each step() to what get_lrs() returns.
class HB_API LRScheduler {
 public:
  LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}  // NOLINT: implicit as in LibTorch
  virtual ~LRScheduler();
  virtual void step();

  /// What it takes to go on, as a dict; Python's names. Functions are not in it.
  IValue state_dict() const;
  void load_state_dict(const IValue& dict);
  /// For torch::save and torch::load.
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);
  Optimizer& optimizer() const { return optimizer_; }

 protected:
  /// One learning rate per parameter group; step_count_ is the number of steps made before.
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;
  /// Names the fields of the state.
  virtual void state(SchedulerState& state);

  unsigned step_count_ = 0;

 private:
  Optimizer& optimizer_;
};

HB_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const LRScheduler& scheduler);
HB_API serialize::InputArchive& operator>>(serialize::InputArchive& archive, LRScheduler& scheduler);

/// Multiplies the learning rates by gamma every step_size steps. LibTorch's, which counts from the first step(): its
/// changes come one step later than those of Python's, lr_scheduler::StepLR.
class HB_API StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, const unsigned step_size, const double gamma = 0.1);

 private:
  std::vector<double> get_lrs() override;

  const unsigned step_size_;
  const double gamma_;
};

/// Counts the steps without an improvement of a metric.
struct HB_API PlateauCounter {
  int64_t patience, cooldown;  // bad steps that are borne, steps after a reduction that do not count
  int64_t bad_steps = 0, cooling = 0;
  /// Whether the learning rate is to be reduced now.
  bool reduces(bool improved);
};

/// LibTorch's counterpart of ReduceLROnPlateau: multiplies the learning rates by factor when the metric has not
/// improved for more than patience steps.
class HB_API ReduceLROnPlateauScheduler {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };
  ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min, float factor = 0.1, int patience = 10,
                             double threshold = 1e-4, ThresholdMode threshold_mode = rel, int cooldown = 0,
                             const std::vector<float>& min_lr = std::vector<float>(), double eps = 1e-8,
                             bool verbose = false);
  virtual ~ReduceLROnPlateauScheduler();
  void step(float metric);

 private:
  bool is_better(float metric) const;
  void reduce_lr(int epoch);

  Optimizer& optimizer_;
  SchedulerMode mode_;
  float factor_;
  double threshold_;
  ThresholdMode threshold_mode_;
  PlateauCounter counter_;
  std::vector<float> min_lrs_;
  double eps_;
  float best_;
  bool verbose_;
  int last_epoch_ = 0;
};

}  // namespace hb::bridge::optim
