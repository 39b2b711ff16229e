#pragma once
// What a training loop tells those who look on.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include <halfbridge/tensor.h>

namespace hb::bridge::serialize {
class OutputArchive;
class InputArchive;
}  // namespace hb::bridge::serialize

namespace hb::train {

class Model;

/// Where training is. Epochs and steps count from 1; 0 before the first.
struct RunContext {
  explicit RunContext(Model& m) : model(m) {}
  Model& model;
  int64_t epochs = 0;       // to be reached
  int64_t epoch = 0;        // the current one
  int64_t step = 0;         // in this epoch
  int64_t global_step = 0;  // in all epochs
  int64_t batch_size = 0;   // of the last step
  std::optional<int64_t> steps_per_epoch;
  Tensor loss;      // of the last step; reading it waits for the device
  Tensor overflow;  // not 0 if the last update was skipped; undefined where nothing looks for that
  /// Numbers of the last epoch: "loss" (mean over the examples), and after a validation "eval_loss", "eval_accuracy",
  /// ...
  std::map<std::string, double> results;

  void request_stop() { stop_requested = true; }
  bool stop_requested = false;
};

/// Base of callbacks: override what is of interest.
class HB_API Callback {
 public:
  virtual ~Callback();
  virtual void on_train_begin(RunContext& run) { (void)run; }
  virtual void on_train_epoch_begin(RunContext& run) { (void)run; }
  virtual void on_train_step_end(RunContext& run) { (void)run; }
  /// After the validation of fit().
  virtual void on_train_epoch_end(RunContext& run) { (void)run; }
  virtual void on_train_end(RunContext& run) { (void)run; }
  /// Whether it is called after all others, wherever it is listed: what saves the state that they change.
  virtual bool comes_last() const { return false; }

  /// What a checkpoint must hold for this callback to go on: one with a `state_name` is saved and loaded.
  virtual std::string state_name() const { return ""; }
  virtual void save(bridge::serialize::OutputArchive& archive) const { (void)archive; }
  virtual void load(bridge::serialize::InputArchive& archive) { (void)archive; }
};

/// Callbacks are listed as objects or shared pointers: {LossMonitor(), checkpoint}.
class Callbacks : public std::vector<std::shared_ptr<Callback>> {
 public:
  struct Entry {
    template <class C, class = std::enable_if_t<std::is_base_of_v<Callback, C>>>
    Entry(C c) : callback(std::make_shared<C>(std::move(c))) {}  // NOLINT: implicit
    template <class C, class = std::enable_if_t<std::is_base_of_v<Callback, C>>>
    Entry(std::shared_ptr<C> c) : callback(std::move(c)) {}  // NOLINT
    std::shared_ptr<Callback> callback;
  };
  Callbacks() = default;
  Callbacks(std::initializer_list<Entry> entries) {
    for (const Entry& e : entries) push_back(e.callback);
  }
};

}  // namespace hb::train
