// Python's ReduceLROnPlateau.

#include <algorithm>
#include <limits>

#include <halfbridge/bridge/optim/cyclic_schedulers.h>

namespace hb::bridge::optim {

namespace {
std::vector<double> checked_min_lrs(const GroupValues& values, size_t groups) {
  HB_CHECK(values.single() || values.size() == groups, "expected ", groups, " min_lrs, got ", values.size());
  return values.for_groups("min_lr", groups);
}
}  // namespace

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, std::string mode, double factor, int64_t patience,
                                     double threshold, std::string threshold_mode, int64_t cooldown,
                                     const GroupValues& min_lr, double eps)
    : LRScheduler(optimizer),
      mode_(std::move(mode)),
      threshold_mode_(std::move(threshold_mode)),
      factor_(factor),
      threshold_(threshold),
      eps_(eps),
      counter_{patience, cooldown},
      default_min_lr_(min_lr.single()),
      min_lrs_(checked_min_lrs(min_lr, optimizer.param_groups().size())),
      last_lrs_(get_current_lrs()) {
  HB_CHECK(factor < 1.0, "Factor should be < 1.0.");
  HB_CHECK(mode_ == "min" || mode_ == "max", "mode ", mode_, " is unknown!");
  HB_CHECK(threshold_mode_ == "rel" || threshold_mode_ == "abs", "threshold mode ", threshold_mode_, " is unknown!");
  best_ = mode_ == "min" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

void ReduceLROnPlateau::step() {
  HB_NOT_SUPPORTED("[ReduceLROnPlateau] step() is not supported without a metric: call step(metric)");
}

bool ReduceLROnPlateau::is_better(double metric) const {
  if (threshold_mode_ == "rel")
    return mode_ == "min" ? metric < best_ * (1.0 - threshold_) : metric > best_ * (threshold_ + 1.0);
  return mode_ == "min" ? metric < best_ - threshold_ : metric > best_ + threshold_;
}

void ReduceLROnPlateau::step(double metric) {
  ++last_epoch_;
  const bool better = is_better(metric);
  if (better) best_ = metric;
  if (counter_.reduces(better)) reduce();
  last_lrs_ = get_current_lrs();
}

void ReduceLROnPlateau::reduce() {
  auto& groups = optimizer().param_groups();
  HB_CHECK(groups.size() == min_lrs_.size() || default_min_lr_, "The number of param groups in the `optimizer` (",
           groups.size(), ") differs from when `ReduceLROnPlateau` was initialized (", min_lrs_.size(),
           "), usually due to a new param group being added to the optimizer. Please modify the `min_lrs` field to "
           "match the length of the `optimizer` param groups.");
  if (groups.size() != min_lrs_.size()) min_lrs_.assign(groups.size(), *default_min_lr_);
  for (size_t i = 0; i < groups.size(); ++i) {
    const double lr = groups[i].options().get_lr(), lower = std::max(lr * factor_, min_lrs_[i]);
    if (lr - lower > eps_) groups[i].options().set_lr(lower);
  }
}

void ReduceLROnPlateau::state(SchedulerState& state) {
  state("factor", factor_);
  state("min_lrs", min_lrs_);
  state("patience", counter_.patience);
  state("cooldown", counter_.cooldown);
  state("eps", eps_);
  state("last_epoch", last_epoch_);
  state("_last_lr", last_lrs_);
  state("mode", mode_);
  state("threshold", threshold_);
  state("threshold_mode", threshold_mode_);
  state("best", best_);
  state("cooldown_counter", counter_.cooling);
  state("num_bad_epochs", counter_.bad_steps);
}

}  // namespace hb::bridge::optim
