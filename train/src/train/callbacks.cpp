#include <halfbridge/train/callbacks.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>

#include <unistd.h>

#include <halfbridge/bridge/serialize/archive.h>
#include <halfbridge/train/model.h>

namespace hb::train {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string results_text(const RunContext& run) {
  std::ostringstream text;
  for (const auto& [name, value] : run.results) text << ", " << name << " " << value;
  return text.str();
}

}  // namespace

LossMonitor::LossMonitor(int64_t per_print_times, std::ostream* out)
    : every_(per_print_times), out_(out ? out : &std::cout) {
  HB_CHECK(per_print_times >= 0, "[LossMonitor] expected per_print_times of 0 or more, got ", per_print_times);
}
void LossMonitor::on_train_step_end(RunContext& run) {
  if (every_ == 0 || run.global_step % every_ != 0) return;
  const double loss = run.loss.item<double>();
  HB_CHECK(std::isfinite(loss), "[LossMonitor] the loss is ", loss, " in epoch ", run.epoch, ", step ", run.step);
  *out_ << "epoch: " << run.epoch << " step: " << run.step << ", loss is " << loss << std::endl;
}
void LossMonitor::on_train_epoch_end(RunContext& run) {
  if (every_ == 0) *out_ << "epoch: " << run.epoch << results_text(run) << std::endl;
}

TimeMonitor::TimeMonitor(std::ostream* out) : out_(out ? out : &std::cout) {}
void TimeMonitor::on_train_epoch_begin(RunContext& run) {
  start_ = std::chrono::steady_clock::now();
  steps_before_ = run.global_step;
}
void TimeMonitor::on_train_epoch_end(RunContext& run) {
  seconds_ = seconds_since(start_);
  const auto steps = static_cast<double>(run.global_step - steps_before_);
  *out_ << "epoch: " << run.epoch << " time: " << seconds_ * 1e3 << " ms, per step: " << seconds_ * 1e3 / steps << " ms"
        << std::endl;
}

ProgressBar::ProgressBar(int width, std::ostream* out)
    : width_(width), out_(out ? out : &std::cerr), redraws_(out || isatty(STDERR_FILENO)) {
  HB_CHECK(width >= 1, "[ProgressBar] expected a width of at least 1, got ", width);
}
void ProgressBar::on_train_epoch_begin(RunContext&) { start_ = std::chrono::steady_clock::now(), drawn_ = {}; }
void ProgressBar::on_train_step_end(RunContext& run) {
  if (!redraws_ || seconds_since(drawn_) < 0.1) return;
  drawn_ = std::chrono::steady_clock::now();
  draw(run, false);
}
void ProgressBar::on_train_epoch_end(RunContext& run) { draw(run, true); }

void ProgressBar::draw(const RunContext& run, bool last) {
  if (redraws_) *out_ << '\r';
  *out_ << "epoch " << run.epoch << "/" << run.epochs << " [";
  const double steps = run.steps_per_epoch ? static_cast<double>(*run.steps_per_epoch) : 0;
  const double share = last ? 1 : steps > 0 ? std::min(1.0, static_cast<double>(run.step) / steps) : 0;
  const int filled = static_cast<int>(share * width_);
  *out_ << std::string(static_cast<size_t>(filled), '=') << std::string(static_cast<size_t>(width_ - filled), ' ')
        << "] " << run.step;
  if (run.steps_per_epoch) *out_ << "/" << *run.steps_per_epoch;
  *out_ << " " << std::fixed << std::setprecision(1) << seconds_since(start_) << " s" << std::defaultfloat
        << std::setprecision(6);
  if (last)
    *out_ << results_text(run) << std::endl;
  else
    *out_ << ", loss " << run.loss.item<double>() << "  " << std::flush;
}

EarlyStopping::EarlyStopping(std::string monitor, int64_t patience, double min_delta, const std::string& mode)
    : monitor_(std::move(monitor)), patience_(patience), min_delta_(std::abs(min_delta)) {
  HB_CHECK(patience >= 0, "[EarlyStopping] expected a patience of 0 or more, got ", patience);
  HB_CHECK(mode == "auto" || mode == "min" || mode == "max", "[EarlyStopping] expected mode auto, min or max, got '",
           mode, "'");
  larger_is_better_ = mode == "max";
  if (mode == "auto")
    for (const char* word : {"acc", "precision", "recall", "f1"})
      larger_is_better_ = larger_is_better_ || monitor_.find(word) != std::string::npos;
  best_ = larger_is_better_ ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

void EarlyStopping::on_train_epoch_end(RunContext& run) {
  const auto found = run.results.find(monitor_);
  HB_CHECK(found != run.results.end(), "[EarlyStopping] expected a result '", monitor_, "', got", results_text(run));
  const double value = found->second;
  const bool better = larger_is_better_ ? value > best_ + min_delta_ : value < best_ - min_delta_;
  if (better) {
    best_ = value, waited_ = 0;
    return;
  }
  if (++waited_ <= patience_) return;
  stopped_epoch_ = run.epoch;
  run.request_stop();
}
void EarlyStopping::save(bridge::serialize::OutputArchive& archive) const {
  archive.write("best", IValue(best_));
  archive.write("waited", IValue(waited_));
}
void EarlyStopping::load(bridge::serialize::InputArchive& archive) {
  IValue best, waited;
  archive.read("best", best);
  archive.read("waited", waited);
  best_ = best.toDouble(), waited_ = waited.toInt();
}

}  // namespace hb::train
