#include <halfbridge/bridge/optim/epoch_schedulers.h>

#include <algorithm>
#include <cmath>

namespace hb::bridge::optim {

namespace {
constexpr double kPi = 3.14159265358979323846;
}  // namespace

EpochScheduler::EpochScheduler(Optimizer& optimizer) : LRScheduler(optimizer), groups_of_(optimizer) {
  for (auto& group : optimizer.param_groups()) {
    auto& options = group.options();
    if (!options.initial_lr()) options.initial_lr(options.get_lr());
    base_lrs_.push_back(*options.initial_lr());
  }
}

void EpochScheduler::check_groups(const char* name, size_t given) const {
  HB_CHECK(given == base_lrs_.size(), "[", name, "] expected one entry for each of ", base_lrs_.size(),
           " parameter groups, got ", given);
}

std::vector<double> EpochScheduler::compute() {
  auto lrs = get_current_lrs();
  check_groups("LRScheduler", lrs.size());
  for (size_t i = 0; i < lrs.size(); ++i) lrs[i] = get_lr(lrs[i], base_lrs_[i], i);
  return lrs;
}

void EpochScheduler::start() {
  const auto lrs = compute();
  for (size_t i = 0; i < lrs.size(); ++i) groups_of_.param_groups()[i].options().set_lr(lrs[i]);
}

std::vector<double> EpochScheduler::get_lrs() {
  last_epoch_ = static_cast<int64_t>(step_count_) + 1;
  return compute();
}

namespace {
size_t group_count(const Optimizer& optimizer) { return optimizer.param_groups().size(); }
}  // namespace

LambdaLR::LambdaLR(Optimizer& optimizer, LRLambda lr_lambda)
    : LambdaLR(optimizer, std::vector<LRLambda>(group_count(optimizer), std::move(lr_lambda))) {}
LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambda)
    : EpochScheduler(optimizer), lambdas_(std::move(lr_lambda)) {
  check_groups("LambdaLR", lambdas_.size());
  start();
}
double LambdaLR::get_lr(double, double base_lr, size_t group) const { return base_lr * lambdas_[group](last_epoch()); }

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, LRLambda lr_lambda)
    : MultiplicativeLR(optimizer, std::vector<LRLambda>(group_count(optimizer), std::move(lr_lambda))) {}
MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, std::vector<LRLambda> lr_lambda)
    : EpochScheduler(optimizer), lambdas_(std::move(lr_lambda)) {
  check_groups("MultiplicativeLR", lambdas_.size());
  start();
}
double MultiplicativeLR::get_lr(double lr, double, size_t group) const {
  return last_epoch() > 0 ? lr * lambdas_[group](last_epoch()) : lr;
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : EpochScheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  start();
}
double MultiStepLR::get_lr(double lr, double, size_t) const {
  const auto times = std::count(milestones_.begin(), milestones_.end(), last_epoch());
  return times == 0 ? lr : lr * std::pow(gamma_, static_cast<double>(times));
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, int64_t total_iters)
    : EpochScheduler(optimizer), factor_(factor), total_iters_(total_iters) {
  HB_CHECK(0 <= factor && factor <= 1, "Constant multiplicative factor expected to be between 0 and 1, got ", factor);
  start();
}
double ConstantLR::get_lr(double lr, double, size_t) const {
  if (last_epoch() == 0) return lr * factor_;
  return last_epoch() == total_iters_ ? lr * (1.0 / factor_) : lr;
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, int64_t total_iters)
    : EpochScheduler(optimizer), start_factor_(start_factor), end_factor_(end_factor), total_iters_(total_iters) {
  HB_CHECK(0 < start_factor && start_factor <= 1,
           "Starting multiplicative factor expected to be greater than 0 and less or equal to 1, got ", start_factor);
  HB_CHECK(0 <= end_factor && end_factor <= 1, "Ending multiplicative factor expected to be between 0 and 1, got ",
           end_factor);
  start();
}
double LinearLR::get_lr(double lr, double, size_t) const {
  if (last_epoch() == 0) return lr * start_factor_;
  if (last_epoch() > total_iters_) return lr;
  const double change = end_factor_ - start_factor_;
  return lr * (1.0 + change / (static_cast<double>(total_iters_) * start_factor_ +
                               static_cast<double>(last_epoch() - 1) * change));
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma) : EpochScheduler(optimizer), gamma_(gamma) { start(); }
double ExponentialLR::get_lr(double lr, double, size_t) const { return last_epoch() == 0 ? lr : lr * gamma_; }

PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total_iters, double power)
    : EpochScheduler(optimizer), total_iters_(total_iters), power_(power) {
  start();
}
double PolynomialLR::get_lr(double lr, double, size_t) const {
  if (last_epoch() == 0 || last_epoch() > total_iters_) return lr;
  const auto epoch = static_cast<double>(last_epoch()), total = static_cast<double>(total_iters_);
  return lr * std::pow((1.0 - epoch / total) / (1.0 - (epoch - 1) / total), power_);
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min)
    : EpochScheduler(optimizer), t_max_(T_max), eta_min_(eta_min) {
  HB_CHECK(T_max > 0, "[CosineAnnealingLR] expected a T_max of at least 1, got ", T_max);
  start();
}
double CosineAnnealingLR::get_lr(double lr, double base_lr, size_t) const {
  if (last_epoch() == 0) return lr;
  const auto epoch = static_cast<double>(last_epoch()), t = static_cast<double>(t_max_);
  // Where the recursion below would divide by zero, the curve is at its lowest point.
  if ((last_epoch() - 1 - t_max_) % (2 * t_max_) == 0) return lr + (base_lr - eta_min_) * (1 - std::cos(kPi / t)) / 2;
  return (1 + std::cos(kPi * epoch / t)) / (1 + std::cos(kPi * (epoch - 1) / t)) * (lr - eta_min_) + eta_min_;
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult,
                                                         double eta_min)
    : EpochScheduler(optimizer), t_0_(T_0), t_mult_(T_mult), eta_min_(eta_min) {
  HB_CHECK(T_0 > 0, "Expected positive integer T_0, but got ", T_0);
  HB_CHECK(T_mult >= 1, "Expected integer T_mult >= 1, but got ", T_mult);
  start();
}
double CosineAnnealingWarmRestarts::get_lr(double, double base_lr, size_t) const {
  int64_t since = last_epoch(), length = t_0_;
  if (t_mult_ == 1) since %= length;
  for (; since >= length; length *= t_mult_) since -= length;
  return eta_min_ +
         (base_lr - eta_min_) * (1 + std::cos(kPi * static_cast<double>(since) / static_cast<double>(length))) / 2;
}

ChainedScheduler::ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers)
    : schedulers_(std::move(schedulers)) {
  HB_CHECK(!schedulers_.empty(),
           "ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.");
  for (const auto& scheduler : schedulers_)
    HB_CHECK(scheduler, "[ChainedScheduler] expected schedulers, got a null one");
}
void ChainedScheduler::step() {
  for (const auto& scheduler : schedulers_) scheduler->step();
}

}  // namespace hb::bridge::optim
