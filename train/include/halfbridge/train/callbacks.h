#pragma once
// The callbacks that come with the library.

#include <chrono>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include <halfbridge/bridge/arg.h>
#include <halfbridge/train/callback.h>

namespace hb::train {

/// Prints epoch, step and loss at every `per_print_times`-th step (0: at the end of each epoch), to `out` or the
/// standard output.
class HB_API LossMonitor : public Callback {
 public:
  explicit LossMonitor(int64_t per_print_times = 1, std::ostream* out = nullptr);
  void on_train_step_end(RunContext& run) override;
  void on_train_epoch_end(RunContext& run) override;

 private:
  int64_t every_;
  std::ostream* out_;
};

/// Measures epochs, prints them, and keeps the last for whoever asks.
class HB_API TimeMonitor : public Callback {
 public:
  explicit TimeMonitor(std::ostream* out = nullptr);
  void on_train_epoch_begin(RunContext& run) override;
  void on_train_epoch_end(RunContext& run) override;
  double epoch_seconds() const { return seconds_; }

 private:
  std::ostream* out_;
  std::chrono::steady_clock::time_point start_;
  int64_t steps_before_ = 0;
  double seconds_ = 0;
};

/// A line that fills up, redrawn ten times a second at most and at the end of each epoch. Where the standard error is
/// no terminal, one line per epoch.
class HB_API ProgressBar : public Callback {
 public:
  explicit ProgressBar(int width = 30, std::ostream* out = nullptr);
  void on_train_epoch_begin(RunContext& run) override;
  void on_train_step_end(RunContext& run) override;
  void on_train_epoch_end(RunContext& run) override;

 private:
  void draw(const RunContext& run, bool last);
  int width_;
  std::ostream* out_;
  bool redraws_;
  std::chrono::steady_clock::time_point start_, drawn_;
};

/// When ModelCheckpoint saves, and how many files stay.
struct HB_API CheckpointConfig {
  HB_ARG(int64_t, save_checkpoint_steps) = 0;   // 0: at the end of epochs
  HB_ARG(int64_t, save_checkpoint_epochs) = 1;  // where no steps are given
  HB_ARG(int64_t, keep_checkpoint_max) = 5;     // 0: all
};

/// Saves Model::save_checkpoint files `prefix-EPOCH_STEP.ckpt` in a folder, which it makes, and removes its oldest
/// ones. It is called after the other callbacks: a checkpoint holds what a scheduler or EarlyStopping has just changed.
class HB_API ModelCheckpoint : public Callback {
 public:
  ModelCheckpoint(std::string prefix, std::string directory, CheckpointConfig config = {});
  void on_train_begin(RunContext& run) override;
  void on_train_step_end(RunContext& run) override;
  void on_train_epoch_end(RunContext& run) override;
  bool comes_last() const override { return true; }

  /// Complete files of this prefix in the folder, oldest first.
  static std::vector<std::string> find(const std::string& prefix, const std::string& directory);
  /// The newest checkpoint, or "": `if (!path.empty()) model.load_checkpoint(path);`
  static std::string latest(const std::string& prefix, const std::string& directory);

 private:
  void save(RunContext& run);
  using Callback::save;
  std::string prefix_, directory_;
  CheckpointConfig config_;
};

/// Stops when a result has not become better by `min_delta` for `patience` epochs. `monitor` is a key of
/// RunContext::results; mode "min", "max", or "auto" (max for names that hold acc, precision, recall or f1).
class HB_API EarlyStopping : public Callback {
 public:
  explicit EarlyStopping(std::string monitor = "eval_loss", int64_t patience = 0, double min_delta = 0,
                         const std::string& mode = "auto");
  void on_train_epoch_end(RunContext& run) override;
  std::string state_name() const override { return "early_stopping_" + monitor_; }
  void save(bridge::serialize::OutputArchive& archive) const override;
  void load(bridge::serialize::InputArchive& archive) override;
  int64_t stopped_epoch() const { return stopped_epoch_; }

 private:
  std::string monitor_;
  int64_t patience_, waited_ = 0, stopped_epoch_ = 0;
  double min_delta_, best_;
  bool larger_is_better_;
};

/// Calls functions: {LambdaCallback().step_end([&](RunContext&) { scheduler.step(); })}.
class HB_API LambdaCallback : public Callback {
 public:
  using Function = std::function<void(RunContext&)>;
  LambdaCallback& step_end(Function f) { return step_end_ = std::move(f), *this; }
  LambdaCallback& epoch_end(Function f) { return epoch_end_ = std::move(f), *this; }
  void on_train_step_end(RunContext& run) override {
    if (step_end_) step_end_(run);
  }
  void on_train_epoch_end(RunContext& run) override {
    if (epoch_end_) epoch_end_(run);
  }

 private:
  Function step_end_, epoch_end_;
};

}  // namespace hb::train
