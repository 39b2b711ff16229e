#include <halfbridge/bridge/optim/schedulers.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <limits>

#include <halfbridge/bridge/serialize/archive.h>

#include "core/recorder.h"

namespace hb::bridge::optim {

namespace {
void check_count(const char* name, size_t given, const Optimizer& optimizer) {
  HB_CHECK(given == optimizer.param_groups().size(), "[", name,
           "] Number of learning rates not equal to the number of param groups\nNumber of learning rates given: ",
           given, "\nNumber of param groups: ", optimizer.param_groups().size());
}
}  // namespace

LRScheduler::~LRScheduler() = default;

void LRScheduler::step() {
  hb::capture::tell_refusal("LRScheduler::step", "counts on the host; call it outside of the step");
  const auto lrs = get_lrs();
  check_count("LRScheduler", lrs.size(), optimizer_);
  for (size_t i = 0; i < lrs.size(); ++i) optimizer_.param_groups()[i].options().set_lr(lrs[i]);
  ++step_count_;
}

void LRScheduler::state(SchedulerState& state) {
  int64_t count = step_count_;
  state("_step_count", count);
  step_count_ = static_cast<unsigned>(count);
}

IValue LRScheduler::state_dict() const {
  SchedulerState writer;
  const_cast<LRScheduler*>(this)->state(writer);  // which only reads when it collects
  return writer.dict();
}
void LRScheduler::load_state_dict(const IValue& dict) {
  SchedulerState reader(dict);
  state(reader);
}
void LRScheduler::save(serialize::OutputArchive& archive) const { archive.write("state_dict", state_dict()); }
void LRScheduler::load(serialize::InputArchive& archive) {
  IValue dict;
  archive.read("state_dict", dict);
  load_state_dict(dict);
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const LRScheduler& scheduler) {
  scheduler.save(archive);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive, LRScheduler& scheduler) {
  scheduler.load(archive);
  return archive;
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> lrs;
  for (const auto& group : optimizer_.param_groups()) lrs.push_back(group.options().get_lr());
  return lrs;
}

StepLR::StepLR(Optimizer& optimizer, const unsigned step_size, const double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  HB_CHECK(step_size > 0, "[StepLR] expected a step_size of at least 1, got 0");
}

std::vector<double> StepLR::get_lrs() {
  auto lrs = get_current_lrs();
  if (step_count_ != 0 && step_count_ % step_size_ == 0)
    for (double& lr : lrs) lr *= gamma_;
  return lrs;
}

bool PlateauCounter::reduces(bool improved) {
  bad_steps = improved ? 0 : bad_steps + 1;
  if (cooling > 0) --cooling, bad_steps = 0;
  if (bad_steps <= patience) return false;
  cooling = cooldown, bad_steps = 0;
  return true;
}

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode, float factor,
                                                       int patience, double threshold, ThresholdMode threshold_mode,
                                                       int cooldown, const std::vector<float>& min_lr, double eps,
                                                       bool verbose)
    : optimizer_(optimizer),
      mode_(mode),
      factor_(factor),
      threshold_(threshold),
      threshold_mode_(threshold_mode),
      counter_{patience, cooldown},
      min_lrs_(min_lr),
      eps_(eps),
      verbose_(verbose) {
  HB_CHECK(factor < 1.0, "Factor should be < 1.0.");
  if (min_lrs_.empty()) min_lrs_.resize(optimizer.param_groups().size());
  check_count("ReduceLROnPlateauScheduler", min_lrs_.size(), optimizer);
  best_ = mode == min ? std::numeric_limits<float>::max() : std::numeric_limits<float>::min();
}
ReduceLROnPlateauScheduler::~ReduceLROnPlateauScheduler() = default;

void ReduceLROnPlateauScheduler::step(float metric) {
  ++last_epoch_;
  const bool better = is_better(metric);
  if (better) best_ = metric;
  if (counter_.reduces(better)) reduce_lr(last_epoch_);
}

// LibTorch's own rules, which differ from Python's for `max`: negative metrics never improve, and with `abs` the
// threshold is a factor.
bool ReduceLROnPlateauScheduler::is_better(float metric) const {
  const double best = best_;
  if (threshold_mode_ == rel)
    return mode_ == min ? metric < best * (1.0 - threshold_) : metric > best * (threshold_ + 1.0);
  return mode_ == min ? metric < best - threshold_ : metric > best * threshold_;
}

void ReduceLROnPlateauScheduler::reduce_lr(int epoch) {
  for (size_t i = 0; i < optimizer_.param_groups().size(); ++i) {
    auto& options = optimizer_.param_groups()[i].options();
    const double old_lr = options.get_lr();
    const double new_lr = std::max(old_lr * factor_, static_cast<double>(min_lrs_[i]));
    if (old_lr - new_lr <= eps_) continue;
    options.set_lr(new_lr);
    if (verbose_) {
      std::cout << std::setprecision(4) << "Epoch " << epoch << ": reducing learning rate of group " << i << " to "
                << new_lr << std::endl;
    }
  }
}

}  // namespace hb::bridge::optim
