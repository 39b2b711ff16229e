#include <halfbridge/bridge/optim/cyclic_schedulers.h>

#include <algorithm>
#include <cmath>

namespace hb::bridge::optim {

namespace {
constexpr double kPi = 3.14159265358979323846;

size_t groups_of(const Optimizer& optimizer) { return optimizer.param_groups().size(); }

Optimizer& with_lrs(Optimizer& optimizer, const std::vector<double>& lrs, int64_t last_epoch) {
  if (last_epoch == -1)
    for (size_t i = 0; i < lrs.size(); ++i) optimizer.param_groups()[i].options().set_lr(lrs[i]);
  return optimizer;
}
Optimizer& with_initial_lrs(Optimizer& optimizer, const std::vector<double>& lrs, int64_t last_epoch) {
  if (last_epoch == -1)
    for (size_t i = 0; i < lrs.size(); ++i) optimizer.param_groups()[i].options().initial_lr(lrs[i]);
  return optimizer;
}
std::vector<double> divided(std::vector<double> values, double by) {
  for (double& value : values) value /= by;
  return values;
}
// `must`: Python words it differently in its two classes.
void check_strategy(const std::string& strategy, const char* must = "must be") {
  HB_CHECK(strategy == "cos" || strategy == "linear", "anneal_strategy ", must,
           " one of 'cos' or 'linear', instead got ", strategy);
}
int64_t positive_steps(std::optional<int64_t> total, std::optional<int64_t> epochs, std::optional<int64_t> per_epoch) {
  HB_CHECK(total || (epochs && per_epoch), "You must define either total_steps OR (epochs AND steps_per_epoch)");
  const auto check = [](const char* name, int64_t value) {
    HB_CHECK(value > 0, "Expected positive integer ", name, ", but got ", value);
    return value;
  };
  if (total) return check("total_steps", *total);
  return check("epochs", *epochs) * check("steps_per_epoch", *per_epoch);
}
}  // namespace

detail::Momenta::Momenta(Optimizer& optimizer) : optimizer_(optimizer) {
  beta1_ = optimizer.defaults().has("betas");
  HB_CHECK(beta1_ || optimizer.defaults().has("momentum"),
           "optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
}
void detail::Momenta::set(size_t group, double momentum) const {
  auto& options = optimizer_.param_groups()[group].options();
  if (beta1_)
    options.set("betas", std::make_tuple(momentum, options.get("betas").toTupleRef().elements().at(1).toDouble()));
  else
    options.set("momentum", momentum);
}

CyclicLR::CyclicLR(Optimizer& optimizer, const GroupValues& base_lr, const GroupValues& max_lr, int64_t step_size_up,
                   std::optional<int64_t> step_size_down, std::string mode, double gamma,
                   std::function<double(double)> scale_fn, std::string scale_mode, bool cycle_momentum,
                   const GroupValues& base_momentum, const GroupValues& max_momentum, int64_t last_epoch)
    : EpochScheduler(with_lrs(optimizer, base_lr.for_groups("base_lr", groups_of(optimizer)), last_epoch), last_epoch),
      max_lrs_(max_lr.for_groups("max_lr", groups_of(optimizer))),
      gamma_(gamma),
      mode_(std::move(mode)),
      scale_mode_(std::move(scale_mode)),
      scale_fn_(std::move(scale_fn)) {
  HB_CHECK(scale_fn_ || mode_ == "triangular" || mode_ == "triangular2" || mode_ == "exp_range",
           "mode is invalid and scale_fn is None");
  const auto up = static_cast<double>(step_size_up), down = static_cast<double>(step_size_down.value_or(step_size_up));
  HB_CHECK(up > 0 && down > 0, "[CyclicLR] expected step sizes of at least 1, got ", up, " and ", down);
  total_size_ = up + down;
  step_ratio_ = up / total_size_;
  if (!scale_fn_) scale_mode_ = mode_ == "exp_range" ? "iterations" : "cycle";
  if (cycle_momentum) {
    momenta_.emplace(optimizer);
    base_momenta_ = base_momentum.for_groups("base_momentum", groups_of(optimizer));
    max_momenta_ = max_momentum.for_groups("max_momentum", groups_of(optimizer));
  }
  start();
  base_lrs_ = base_lr.for_groups("base_lr", groups_of(optimizer));
}

double CyclicLR::scale(double cycle) const {
  const double x = scale_mode_ == "cycle" ? cycle : static_cast<double>(last_epoch());
  if (scale_fn_) return scale_fn_(x);
  if (mode_ == "triangular2") return 1 / std::pow(2.0, x - 1);
  return mode_ == "exp_range" ? std::pow(gamma_, x) : 1.0;
}
double CyclicLR::height() const {
  const double at = static_cast<double>(last_epoch()) / total_size_, cycle = std::floor(1 + at), x = 1 + at - cycle;
  return (x <= step_ratio_ ? x / step_ratio_ : (x - 1) / (step_ratio_ - 1)) * scale(cycle);
}
double CyclicLR::get_lr(double, double base_lr, size_t group) const {
  return base_lr + (max_lrs_[group] - base_lr) * height();
}
void CyclicLR::on_epoch() {
  if (!momenta_) return;
  for (size_t i = 0; i < max_momenta_.size(); ++i)
    momenta_->set(i, max_momenta_[i] - (max_momenta_[i] - base_momenta_[i]) * height());
}
void CyclicLR::state(SchedulerState& state) {
  EpochScheduler::state(state);
  state("max_lrs", max_lrs_);
  state("total_size", total_size_);
  state("step_ratio", step_ratio_);
  state("mode", mode_);
  state("gamma", gamma_);
  state("scale_mode", scale_mode_);
  state("base_momentums", base_momenta_);
  state("max_momentums", max_momenta_);
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, const GroupValues& max_lr, std::optional<int64_t> total_steps,
                       std::optional<int64_t> epochs, std::optional<int64_t> steps_per_epoch, double pct_start,
                       std::string anneal_strategy, bool cycle_momentum, const GroupValues& base_momentum,
                       const GroupValues& max_momentum, double div_factor, double final_div_factor, bool three_phase,
                       int64_t last_epoch)
    : EpochScheduler(with_initial_lrs(optimizer, divided(max_lr.for_groups("max_lr", groups_of(optimizer)), div_factor),
                                      last_epoch),
                     last_epoch),
      anneal_strategy_(std::move(anneal_strategy)),
      max_lrs_(max_lr.for_groups("max_lr", groups_of(optimizer))) {
  total_steps_ = positive_steps(total_steps, epochs, steps_per_epoch);
  HB_CHECK(0 <= pct_start && pct_start <= 1, "Expected float between 0 and 1 pct_start, but got ", pct_start);
  check_strategy(anneal_strategy_);
  initial_lrs_ = divided(max_lrs_, div_factor);
  min_lrs_ = divided(initial_lrs_, final_div_factor);
  const auto total = static_cast<double>(total_steps_);
  phases_ = {{pct_start * total - 1, kInitial, kMax, true, false}};
  if (three_phase) {
    phases_.push_back({2 * pct_start * total - 2, kMax, kInitial, false, true});
    phases_.push_back({total - 1, kInitial, kMin, true, true});
  } else {
    phases_.push_back({total - 1, kMax, kMin, false, true});
  }
  if (cycle_momentum) {
    momenta_.emplace(optimizer);
    base_momenta_ = base_momentum.for_groups("base_momentum", groups_of(optimizer));
    max_momenta_ = max_momentum.for_groups("max_momentum", groups_of(optimizer));
  }
  start();
}

std::pair<OneCycleLR::Phase, double> OneCycleLR::now() const {
  HB_CHECK(last_epoch() <= total_steps_, "Tried to step ", last_epoch(),
           " times. The specified number of total steps is ", total_steps_);
  const auto step = static_cast<double>(last_epoch());
  double begin = 0;
  size_t i = 0;
  for (; i + 1 < phases_.size() && step > phases_[i].end; ++i) begin = phases_[i].end;
  return {phases_[i], (step - begin) / (phases_[i].end - begin)};
}
double OneCycleLR::anneal(double from, double to, double part) const {
  if (anneal_strategy_ == "linear") return (to - from) * part + from;
  return to + (from - to) / 2 * (std::cos(kPi * part) + 1);
}
double OneCycleLR::level(Level level, size_t group) const {
  return (level == kMax ? max_lrs_ : level == kMin ? min_lrs_ : initial_lrs_)[group];
}
double OneCycleLR::get_lr(double, double, size_t group) const {
  const auto [phase, part] = now();
  return anneal(level(phase.lr_from, group), level(phase.lr_to, group), part);
}
void OneCycleLR::on_epoch() {
  if (!momenta_) return;
  const auto [phase, part] = now();
  for (size_t i = 0; i < max_momenta_.size(); ++i) {
    const double from = (phase.momentum_high_from ? max_momenta_ : base_momenta_)[i];
    momenta_->set(i, anneal(from, (phase.momentum_high_to ? max_momenta_ : base_momenta_)[i], part));
  }
}
void OneCycleLR::state(SchedulerState& state) {
  EpochScheduler::state(state);
  state("total_steps", total_steps_);
  state("_anneal_func_type", anneal_strategy_);
  phases_state(state);
}

namespace {
// A phase as Python's state has it.
struct PhaseEntry {
  double end = 0;
  std::string lr_from, lr_to, momentum_from, momentum_to;
  void state(SchedulerState& state) {
    state("end_step", end);
    state("start_lr", lr_from), state("end_lr", lr_to);
    state("start_momentum", momentum_from), state("end_momentum", momentum_to);
  }
};
const char* const kLevels[] = {"initial_lr", "max_lr", "min_lr"};
const char* const kMomenta[] = {"base_momentum", "max_momentum"};

template <size_t N>
size_t index_in(const char* const (&names)[N], const std::string& name) {
  const auto at = std::find(std::begin(names), std::end(names), name);
  HB_CHECK(at != std::end(names), "[OneCycleLR::load_state_dict] expected ", names[0], " or ", names[1], ", got '",
           name, "'");
  return static_cast<size_t>(at - std::begin(names));
}
}  // namespace

void OneCycleLR::phases_state(SchedulerState& state) {
  std::vector<IValue> list;
  for (const Phase& p : phases_) {
    PhaseEntry entry{p.end, kLevels[p.lr_from], kLevels[p.lr_to], kMomenta[p.momentum_high_from],
                     kMomenta[p.momentum_high_to]};
    SchedulerState writer;
    entry.state(writer);
    list.push_back(writer.dict());
  }
  IValue phases(list);
  state("_schedule_phases", phases);
  if (!state.reading()) return;
  std::vector<Phase> read;
  for (const IValue& dict : phases.toListRef()) {
    PhaseEntry entry;
    SchedulerState reader(dict);
    entry.state(reader);
    read.push_back({entry.end, static_cast<Level>(index_in(kLevels, entry.lr_from)),
                    static_cast<Level>(index_in(kLevels, entry.lr_to)), index_in(kMomenta, entry.momentum_from) == 1,
                    index_in(kMomenta, entry.momentum_to) == 1});
  }
  HB_CHECK(!read.empty(), "[OneCycleLR::load_state_dict] expected phases, got none");
  phases_ = std::move(read);
}

SWALR::SWALR(Optimizer& optimizer, const GroupValues& swa_lr, int64_t anneal_epochs, std::string anneal_strategy,
             int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch),
      swa_lrs_(swa_lr.for_groups("swa_lr", groups_of(optimizer))),
      anneal_epochs_(anneal_epochs),
      anneal_strategy_(std::move(anneal_strategy)) {
  check_strategy(anneal_strategy_, "must by");
  HB_CHECK(anneal_epochs >= 0, "anneal_epochs must be equal or greater than 0, got ", anneal_epochs);
  start();
}
double SWALR::anneal(double t) const { return anneal_strategy_ == "linear" ? t : (1 - std::cos(kPi * t)) / 2; }
double SWALR::get_lr(double lr, double, size_t group) const {
  const int64_t step = anneal_epochs_ == 0 ? std::max<int64_t>(1, count_ - 1) : count_ - 1;
  const auto alpha_at = [&](int64_t s) {
    const double t = static_cast<double>(s) / static_cast<double>(std::max<int64_t>(1, anneal_epochs_));
    return anneal(std::clamp(t, 0.0, 1.0));
  };
  const double swa_lr = swa_lrs_[group], before = alpha_at(step - 1), alpha = alpha_at(step);
  const double from = before == 1 ? swa_lr : (lr - before * swa_lr) / (1 - before);
  return swa_lr * alpha + from * (1 - alpha);
}
void SWALR::state(SchedulerState& state) {
  EpochScheduler::state(state);
  state("swa_lrs", swa_lrs_);
  state("anneal_epochs", anneal_epochs_);
  state("_anneal_strategy", anneal_strategy_);
}

}  // namespace hb::bridge::optim
