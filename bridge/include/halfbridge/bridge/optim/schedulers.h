#pragma once
// LibTorch's learning-rate schedulers. They hold a reference: the optimizer must outlive them.

#include <vector>

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

/// Sets the learning rate of each group at each step() to what get_lrs() returns.
class HB_API LRScheduler {
 public:
  LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}  // NOLINT: implicit as in LibTorch
  virtual ~LRScheduler();
  void step();

 protected:
  /// One learning rate per parameter group; step_count_ is the number of steps made before.
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;

  unsigned step_count_ = 0;

 private:
  Optimizer& optimizer_;
};

/// Multiplies the learning rates by gamma every step_size steps.
class HB_API StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, const unsigned step_size, const double gamma = 0.1);

 private:
  std::vector<double> get_lrs() override;

  const unsigned step_size_;
  const double gamma_;
};

/// Multiplies the learning rates by factor when the metric has not improved for more than patience steps.
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
  int patience_;
  double threshold_;
  ThresholdMode threshold_mode_;
  int cooldown_, cooldown_counter_ = 0;
  std::vector<float> min_lrs_;
  double eps_;
  float best_;
  bool verbose_;
  int last_epoch_ = 0, num_bad_epochs_ = 0;
};

}  // namespace hb::bridge::optim
