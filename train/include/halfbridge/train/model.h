#pragma once
// Training without writing the loop.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/amp/train_network.h>
#include <halfbridge/train/batches.h>
#include <halfbridge/train/callback.h>
#include <halfbridge/train/metrics.h>

namespace hb::train {

/// A network with what it takes to train it:
///
///   hb::train::Model model(net, nn::CrossEntropyLoss(), optimizer, {"accuracy"}, "O2",
///   hb::amp::DynamicLossScaleManager()); model.fit(10, train_loader, test_loader, {hb::train::LossMonitor(100),
///   hb::train::EarlyStopping("eval_loss", 3)});
///
/// The optimizer must outlive the model.
class HB_API Model {
 public:
  /// amp_level: see amp/levels.h. The loss scale is a manager, or what the level takes by default.
  Model(const Network& network, Loss loss, bridge::optim::Optimizer& optimizer, Metrics metrics = {},
        const std::string& amp_level = "O0", amp::LossScale loss_scale = {}, const amp::LevelOptions& options = {});
  /// With a training step of one's own: std::make_shared<MyStep>(net, optimizer, ...), derived from amp::TrainOneStep.
  explicit Model(amp::TrainNetwork step, Metrics metrics = {});

  /// Trains until `epochs` epochs are done, counted from the beginning: after load_checkpoint() the rest of them. The
  /// network is left in training mode.
  void train(int64_t epochs, const Batches& batches, const Callbacks& callbacks = {});
  /// The same with a validation after each epoch.
  void fit(int64_t epochs, const Batches& train_batches, const Batches& validation_batches,
           const Callbacks& callbacks = {});
  /// Mean loss over the examples ("loss") and the metrics that are numbers, in evaluation mode; the mode is put back.
  std::map<std::string, double> eval(const Batches& batches);
  /// Output for one batch, in evaluation mode and without gradients.
  Tensor predict(const Tensor& input) { return predict(variable_list{input}).at(0); }
  variable_list predict(const variable_list& inputs);

  /// One update per `steps` batches, with the mean of their gradients.
  Model& accumulate(int64_t steps) { return step_.accumulate(steps), *this; }
  /// Largest norm of all gradients, once they are unscaled; 0: not clipped.
  Model& clip_gradients(double max_norm) { return step_.clip_gradients(max_norm), *this; }

  /// What is done with the gradients of each update, once they are unscaled: their mean over several processes
  /// (distributed::DistributedGradReducer), say.
  Model& set_grad_reducer(amp::TrainOneStep::GradReducer reducer) {
    return step_.set_grad_reducer(std::move(reducer)), *this;
  }

  /// Adds something to checkpoints, under a name of its own: a scheduler, say.
  using Save = std::function<void(bridge::serialize::OutputArchive&)>;
  using Load = std::function<void(bridge::serialize::InputArchive&)>;
  void add_state(const std::string& name, Save save, Load load);

  /// Network, optimizer, loss scale, random numbers, position in the data, callbacks and what add_state() added, in one
  /// file that appears only when it is complete. A training that loads it goes on bit for bit as it would have, in the
  /// middle of an epoch too (there the batches up to this place are read and passed over), if it was built alike. With
  /// several processes all call both functions; rank 0 writes the file, with a part for each rank.
  void save_checkpoint(const std::string& path) const;
  void load_checkpoint(const std::string& path);

  Network& network() { return network_; }
  bridge::optim::Optimizer& optimizer() { return step_.optimizer(); }
  const Metrics& metrics() const { return metrics_; }
  double loss_scale() const { return step_.loss_scale(); }
  int64_t epoch() const { return epoch_; }
  int64_t global_step() const { return global_step_; }

 private:
  void run(int64_t epochs, const Batches& batches, const Batches* validation, const Callbacks& callbacks);
  void run_epoch(RunContext& run, const Batches& batches, const Callbacks& callbacks);
  Batches::Next position(const Batches& batches);
  void save_shared(bridge::serialize::OutputArchive& archive) const;
  void save_own(bridge::serialize::OutputArchive& archive) const;
  void load_shared(bridge::serialize::InputArchive& archive);
  void load_own(bridge::serialize::InputArchive& archive);

  Network network_;
  amp::TrainNetwork step_;
  bool has_loss_;
  Metrics metrics_;
  // Where training is: `epoch_` epochs are complete, `steps_in_epoch_` batches of the next one are done.
  int64_t epoch_ = 0, steps_in_epoch_ = 0, global_step_ = 0;
  Tensor epoch_random_;   // random state from before the current epoch drew its order
  Tensor resume_random_;  // random state to go on with, once the batches done are passed over
  Tensor loss_sum_;       // of the current epoch, weighted by batch size; float64
  int64_t examples_ = 0;
  struct Extra {
    std::string name;
    Save save;
    Load load;
  };
  std::vector<Extra> extras_;
  const Callbacks* callbacks_ = nullptr;  // of the train() that runs
  // Callbacks read their state from here when train() begins.
  std::shared_ptr<bridge::serialize::InputArchive> loaded_callbacks_;
};

}  // namespace hb::train
