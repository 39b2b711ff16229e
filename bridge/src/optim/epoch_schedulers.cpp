#include <halfbridge/bridge/optim/epoch_schedulers.h>

#include <algorithm>
#include <cmath>

#include "core/recorder.h"

namespace hb::bridge::optim {

namespace {
constexpr double kPi = 3.14159265358979323846;
}  // namespace

EpochScheduler::EpochScheduler(Optimizer& optimizer, int64_t last_epoch)
    : LRScheduler(optimizer), last_epoch_(last_epoch) {
  for (size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    auto& options = optimizer.param_groups()[i].options();
    HB_CHECK(last_epoch == -1 || options.initial_lr(), "param 'initial_lr' is not specified in param_groups[", i,
             "] when resuming scheduler with last_epoch >= 0.\nThis typically happens when:\n"
             "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n"
             "2. You're using last_epoch >= 0 for a fresh training run (not recommended)");
    if (!options.initial_lr()) options.initial_lr(options.get_lr());
    base_lrs_.push_back(*options.initial_lr());
  }
}

size_t EpochScheduler::group_count() const { return optimizer().param_groups().size(); }

std::optional<double> EpochScheduler::closed_form_lr(double, size_t) const { return std::nullopt; }

std::vector<double> EpochScheduler::get_lrs() {
  auto lrs = get_current_lrs();
  HB_CHECK(lrs.size() == base_lrs_.size(), "[LRScheduler] expected ", base_lrs_.size(),
           " parameter groups as when it was made, got ", lrs.size());
  for (size_t i = 0; i < lrs.size(); ++i) lrs[i] = get_lr(lrs[i], base_lrs_[i], i);
  return lrs;
}

void EpochScheduler::update(std::optional<int64_t> epoch) {
  last_epoch_ = epoch ? *epoch : last_epoch_ + 1;
  on_epoch();
  auto lrs = get_current_lrs();
  if (epoch && !lrs.empty() && closed_form_lr(base_lrs_[0], 0)) {
    for (size_t i = 0; i < lrs.size(); ++i) lrs[i] = *closed_form_lr(base_lrs_[i], i);
  } else {
    lrs = get_lrs();
  }
  for (size_t i = 0; i < lrs.size(); ++i) optimizer().param_groups()[i].options().set_lr(lrs[i]);
  last_lrs_ = std::move(lrs);
}

void EpochScheduler::step() {
  hb::capture::tell_refusal("LRScheduler::step", "counts on the host; call it outside of the step");
  ++count_;
  update(std::nullopt);
}

void EpochScheduler::step(double epoch) {
  hb::capture::tell_refusal("LRScheduler::step", "counts on the host; call it outside of the step");
  HB_CHECK(epoch >= 0, "Expected non-negative epoch, but got ", epoch);
  HB_CHECK(epoch == std::floor(epoch), "[LRScheduler::step] expected a whole epoch, got ", epoch,
           ": only CosineAnnealingWarmRestarts takes fractions");
  ++count_;
  update(static_cast<int64_t>(epoch));
}

void EpochScheduler::initial_step() {
  count_ = 0;
  is_initial_ = true;
  step();
  is_initial_ = false;
}

void EpochScheduler::state(SchedulerState& state) {
  state("last_epoch", last_epoch_);
  state("_step_count", count_);
  state("base_lrs", base_lrs_);
  state("_last_lr", last_lrs_);
}

namespace {
void check_lambdas(size_t given, size_t groups) {
  HB_CHECK(given == groups, "Expected ", groups, " lr_lambdas, but got ", given);
}
}  // namespace

LambdaLR::LambdaLR(Optimizer& optimizer, LRLambda lr_lambda, int64_t last_epoch)
    : LambdaLR(optimizer, std::vector<LRLambda>(optimizer.param_groups().size(), lr_lambda), last_epoch) {}
LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambda, int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), lambdas_(std::move(lr_lambda)) {
  check_lambdas(lambdas_.size(), group_count());
  start();
}
double LambdaLR::get_lr(double, double base_lr, size_t group) const { return base_lr * lambdas_[group](last_epoch()); }

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, LRLambda lr_lambda, int64_t last_epoch)
    : MultiplicativeLR(optimizer, std::vector<LRLambda>(optimizer.param_groups().size(), lr_lambda), last_epoch) {}
MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambda, int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), lambdas_(std::move(lr_lambda)) {
  check_lambdas(lambdas_.size(), group_count());
  start();
}
double MultiplicativeLR::get_lr(double lr, double, size_t group) const {
  return is_initial() ? lr : lr * lambdas_[group](last_epoch());
}

namespace lr_scheduler {
StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma, int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), step_size_(step_size), gamma_(gamma) {
  HB_CHECK(step_size > 0, "[StepLR] expected a step_size of at least 1, got ", step_size);
  start();
}
double StepLR::get_lr(double lr, double, size_t) const {
  return last_epoch() == 0 || last_epoch() % step_size_ != 0 ? lr : lr * gamma_;
}
std::optional<double> StepLR::closed_form_lr(double base_lr, size_t) const {
  const auto whole_steps = last_epoch() / step_size_;
  return base_lr * std::pow(gamma_, static_cast<double>(whole_steps));
}
void StepLR::state(SchedulerState& state) {
  EpochScheduler::state(state);
  state("step_size", step_size_);
  state("gamma", gamma_);
}
}  // namespace lr_scheduler

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma, int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), milestones_(std::move(milestones)), gamma_(gamma) {
  start();
}
double MultiStepLR::get_lr(double lr, double, size_t) const {
  const auto times = std::count(milestones_.begin(), milestones_.end(), last_epoch());
  return times == 0 ? lr : lr * std::pow(gamma_, static_cast<double>(times));
}
std::optional<double> MultiStepLR::closed_form_lr(double base_lr, size_t) const {
  const auto passed =
      std::count_if(milestones_.begin(), milestones_.end(), [&](int64_t at) { return at <= last_epoch(); });
  return base_lr * std::pow(gamma_, static_cast<double>(passed));
}
void MultiStepLR::state(SchedulerState& state) {
  EpochScheduler::state(state);
  state("milestones", milestones_);
  state("gamma", gamma_);
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, int64_t total_iters, int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), factor_(factor), total_iters_(total_iters) {
  HB_CHECK(0 <= factor && factor <= 1, "Constant multiplicative factor expected to be between 0 and 1.");
  start();
}
double ConstantLR::get_lr(double lr, double, size_t) const {
  if (last_epoch() == 0) return lr * factor_;
  return last_epoch() == total_iters_ ? lr * (1.0 / factor_) : lr;
}
std::optional<double> ConstantLR::closed_form_lr(double base_lr, size_t) const {
  return base_lr * (last_epoch() >= total_iters_ ? 1.0 : factor_);
}
void ConstantLR::state(SchedulerState& state) {
  EpochScheduler::state(state);
  state("factor", factor_);
  state("total_iters", total_iters_);
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, int64_t total_iters,
                   int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch),
      start_factor_(start_factor),
      end_factor_(end_factor),
      total_iters_(total_iters) {
  HB_CHECK(0 < start_factor && start_factor <= 1,
           "Starting multiplicative factor expected to be greater than 0 and less or equal to 1.");
  HB_CHECK(0 <= end_factor && end_factor <= 1, "Ending multiplicative factor expected to be between 0 and 1.");
  start();
}
double LinearLR::get_lr(double lr, double, size_t) const {
  if (last_epoch() == 0) return lr * start_factor_;
  if (is_initial() || last_epoch() > total_iters_) return lr;
  const double change = end_factor_ - start_factor_;
  return lr * (1.0 + change / (static_cast<double>(total_iters_) * start_factor_ +
                               static_cast<double>(last_epoch() - 1) * change));
}
std::optional<double> LinearLR::closed_form_lr(double base_lr, size_t) const {
  const auto done = static_cast<double>(std::min(total_iters_, last_epoch()));
  return base_lr * (start_factor_ + (end_factor_ - start_factor_) * done / static_cast<double>(total_iters_));
}
void LinearLR::state(SchedulerState& state) {
  EpochScheduler::state(state);
  state("start_factor", start_factor_);
  state("end_factor", end_factor_);
  state("total_iters", total_iters_);
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma, int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), gamma_(gamma) {
  start();
}
double ExponentialLR::get_lr(double lr, double, size_t) const { return is_initial() ? lr : lr * gamma_; }
std::optional<double> ExponentialLR::closed_form_lr(double base_lr, size_t) const {
  return base_lr * std::pow(gamma_, static_cast<double>(last_epoch()));
}
void ExponentialLR::state(SchedulerState& state) {
  EpochScheduler::state(state);
  state("gamma", gamma_);
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total_iters, double power, int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), total_iters_(total_iters), power_(power) {
  start();
}
double PolynomialLR::get_lr(double lr, double, size_t) const {
  if (is_initial() || last_epoch() > total_iters_) return lr;
  const auto epoch = static_cast<double>(last_epoch()), total = static_cast<double>(total_iters_);
  return lr * std::pow((1.0 - epoch / total) / (1.0 - (epoch - 1) / total), power_);
}
std::optional<double> PolynomialLR::closed_form_lr(double base_lr, size_t) const {
  const auto done = static_cast<double>(std::min(total_iters_, last_epoch()));
  return base_lr * std::pow(1.0 - done / static_cast<double>(total_iters_), power_);
}
void PolynomialLR::state(SchedulerState& state) {
  EpochScheduler::state(state);
  state("total_iters", total_iters_);
  state("power", power_);
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min, int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), t_max_(T_max), eta_min_(eta_min) {
  HB_CHECK(T_max > 0, "[CosineAnnealingLR] expected a T_max of at least 1, got ", T_max);
  start();
}
double CosineAnnealingLR::get_lr(double lr, double base_lr, size_t group) const {
  if (is_initial()) return lr;
  if (count_ == 1 && last_epoch() > 0) return *closed_form_lr(base_lr, group);
  const auto epoch = static_cast<double>(last_epoch()), t = static_cast<double>(t_max_);
  // Where the recursion below would divide by zero, the curve is at its lowest point.
  if ((last_epoch() - 1 - t_max_) % (2 * t_max_) == 0) return lr + (base_lr - eta_min_) * (1 - std::cos(kPi / t)) / 2;
  return (1 + std::cos(kPi * epoch / t)) / (1 + std::cos(kPi * (epoch - 1) / t)) * (lr - eta_min_) + eta_min_;
}
std::optional<double> CosineAnnealingLR::closed_form_lr(double base_lr, size_t) const {
  const double part = static_cast<double>(last_epoch()) / static_cast<double>(t_max_);
  return eta_min_ + (base_lr - eta_min_) * (1 + std::cos(kPi * part)) / 2;
}
void CosineAnnealingLR::state(SchedulerState& state) {
  EpochScheduler::state(state);
  state("T_max", t_max_);
  state("eta_min", eta_min_);
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult,
                                                         double eta_min, int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch),
      t_0_(T_0),
      t_mult_(T_mult),
      eta_min_(eta_min),
      t_cur_(static_cast<double>(last_epoch)),
      t_i_(static_cast<double>(T_0)) {
  HB_CHECK(T_0 > 0, "Expected positive integer T_0, but got ", T_0);
  HB_CHECK(T_mult >= 1, "Expected integer T_mult >= 1, but got ", T_mult);
  start();
}
void CosineAnnealingWarmRestarts::step() {
  if (last_epoch_ < 0) return step(0.0);
  if (++t_cur_ >= t_i_) {
    t_cur_ = std::fmod(t_cur_, t_i_);
    t_i_ *= static_cast<double>(t_mult_);
  }
  EpochScheduler::step();
}
void CosineAnnealingWarmRestarts::step(double epoch) {
  HB_CHECK(epoch >= 0, "Expected non-negative epoch, but got ", epoch);
  const auto first = static_cast<double>(t_0_), factor = static_cast<double>(t_mult_);
  if (t_mult_ == 1) {
    t_cur_ = std::fmod(epoch, first), t_i_ = first;
  } else {
    const double restarts = std::floor(std::log(epoch / first * (factor - 1) + 1) / std::log(factor));
    t_cur_ = epoch - first * (std::pow(factor, restarts) - 1) / (factor - 1);
    t_i_ = first * std::pow(factor, restarts);
  }
  EpochScheduler::step(std::floor(epoch));
}
double CosineAnnealingWarmRestarts::get_lr(double, double base_lr, size_t) const {
  return eta_min_ + (base_lr - eta_min_) * (1 + std::cos(kPi * t_cur_ / t_i_)) / 2;
}
void CosineAnnealingWarmRestarts::state(SchedulerState& state) {
  EpochScheduler::state(state);
  state("T_0", t_0_);
  state("T_mult", t_mult_);
  state("T_cur", t_cur_);
  state("T_i", t_i_);
  state("eta_min", eta_min_);
}

}  // namespace hb::bridge::optim
