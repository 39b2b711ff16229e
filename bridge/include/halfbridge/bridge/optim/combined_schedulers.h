#pragma once
// Schedulers made of schedulers.

#include <memory>
#include <vector>

#include <halfbridge/bridge/optim/epoch_schedulers.h>

namespace hb::bridge::optim {

/// Steps several schedulers of one optimizer together.
class HB_API ChainedScheduler : public EpochScheduler {
 public:
  explicit ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers, Optimizer* optimizer = nullptr);
  void step() override;

 protected:
  /// Python's has none either: it cannot jump to an epoch.
  double get_lr(double lr, double base_lr, size_t group) const override;
  void state(SchedulerState& state) override;

 private:
  void initial_step() override { step(); }
  void undo() override;
  std::vector<std::shared_ptr<LRScheduler>> schedulers_;
};

/// The first scheduler until epoch milestones[0], then the second until milestones[1], and so on; each begins with its
/// epoch 0. Takes schedulers that count as Python's do.
class HB_API SequentialLR : public EpochScheduler {
 public:
  SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
               std::vector<int64_t> milestones, int64_t last_epoch = -1);
  void step() override;

 protected:
  double get_lr(double lr, double base_lr, size_t group) const override;
  void state(SchedulerState& state) override;

 private:
  void undo() override;
  std::vector<std::shared_ptr<EpochScheduler>> schedulers_;
  std::vector<int64_t> milestones_;
};

namespace lr_scheduler {
using optim::ChainedScheduler;
using optim::SequentialLR;
}  // namespace lr_scheduler

}  // namespace hb::bridge::optim
