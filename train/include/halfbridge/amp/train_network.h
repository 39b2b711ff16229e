#pragma once
// A network, its loss and its optimizer as one training step under a level.

#include <memory>
#include <optional>
#include <string>

#include <halfbridge/amp/levels.h>
#include <halfbridge/bridge/amp/loss_scaler.h>
#include <halfbridge/train/loss.h>
#include <halfbridge/train/network.h>

namespace hb::amp {

/// The loss scale of build_train_network: a manager, none (nullptr), or what the level takes by default: a dynamic
/// scale from 65536 on for fp16 in O1, O2 and auto, none otherwise.
class LossScale {
 public:
  LossScale() = default;
  LossScale(std::nullptr_t) : manager_(std::shared_ptr<LossScaleManager>()) {}  // NOLINT: implicit
  template <class M, class = std::enable_if_t<std::is_base_of_v<LossScaleManager, M>>>
  LossScale(std::shared_ptr<M> manager) : manager_(std::move(manager)) {}  // NOLINT
  template <class M, class = std::enable_if_t<std::is_base_of_v<LossScaleManager, M>>>
  LossScale(M manager) : manager_(std::make_shared<M>(std::move(manager))) {}  // NOLINT
  HB_API std::shared_ptr<LossScaleManager> resolve(Level level, ScalarType dtype) const;

 private:
  std::optional<std::shared_ptr<LossScaleManager>> manager_;
};

/// One call is one step: forward pass under the level, loss in float32, scaled backward pass, gradients in float32 and
/// unscaled, update unless one of them overflowed. Copies share everything.
class HB_API TrainNetwork {
 public:
  /// `net` is at its level already. The optimizer must outlive this object.
  TrainNetwork(train::Network net, bridge::optim::Optimizer& optimizer, train::Loss loss, Level level, ScalarType dtype,
               std::shared_ptr<LossScaleManager> manager);

  /// The loss, unscaled, of before the step. The network must be in the mode wanted (train()).
  Tensor operator()(const Tensor& input, const Tensor& target) { return step({input}, target).loss; }
  Tensor operator()(const variable_list& inputs, const Tensor& target) { return step(inputs, target).loss; }

  struct Step {
    Tensor loss;      // without history
    Tensor overflow;  // float32, one element, not 0 if the update was skipped; undefined where nothing looks for it
    variable_list outputs;
    bool updated = false;  // false while gradients accumulate
  };
  Step step(const variable_list& inputs, const Tensor& target);
  /// Forward pass and loss (undefined without a target) without gradients.
  Step evaluate(const variable_list& inputs, const Tensor& target = {}) const;

  /// One update per `steps` calls, with the mean of their gradients.
  void accumulate(int64_t steps);
  /// Largest norm of all gradients; 0: not clipped.
  void clip_gradients(double max_norm);
  /// The present scale: 1 without a manager. Waits for the device.
  double loss_scale() const;
  const train::Network& network() const;
  bridge::optim::Optimizer& optimizer() const;

  /// The scale and what its rule remembers, gradients that are being accumulated.
  void save(bridge::serialize::OutputArchive& archive) const;
  void load(bridge::serialize::InputArchive& archive);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Brings the network to `level` ("O0" to "O3", "auto") and joins it with loss and optimizer. O2 gives the optimizer
/// float32 master weights, from before the network was rounded.
HB_API TrainNetwork build_train_network(const train::Network& net, bridge::optim::Optimizer& optimizer,
                                        train::Loss loss, const std::string& level = "O0", LossScale loss_scale = {},
                                        const LevelOptions& options = {});

}  // namespace hb::amp
