#pragma once
// A network, its loss and its optimizer as one training step under a level.

#include <memory>
#include <string>
#include <utility>

#include <halfbridge/amp/train_one_step.h>

namespace hb::amp {

/// A handle on a training step (TrainOneStep, or a class derived from it); copies share it.
class HB_API TrainNetwork {
 public:
  using Step = TrainOneStep::Step;
  template <class S, class = std::enable_if_t<std::is_base_of_v<TrainOneStep, S>>>
  TrainNetwork(std::shared_ptr<S> step) : step_(std::move(step)) {}  // NOLINT: implicit
  /// `net` is at its level already. The optimizer must outlive this object.
  TrainNetwork(train::Network net, bridge::optim::Optimizer& optimizer, train::Loss loss, Level level, ScalarType dtype,
               std::shared_ptr<LossScaleManager> manager)
      : step_(std::make_shared<TrainOneStep>(std::move(net), optimizer, std::move(loss), level, dtype,
                                             std::move(manager))) {}

  /// The loss, unscaled, of before the step. The network must be in the mode wanted (train()).
  Tensor operator()(const Tensor& input, const Tensor& target) { return step({input}, target).loss; }
  Tensor operator()(const variable_list& inputs, const Tensor& target) { return step(inputs, target).loss; }
  Step step(const variable_list& inputs, const Tensor& target) { return step_->construct(inputs, target); }
  /// Forward pass and loss (undefined without a target) without gradients.
  Step evaluate(const variable_list& inputs, const Tensor& target = {}) const {
    return step_->evaluate(inputs, target);
  }

  void accumulate(int64_t steps) { step_->accumulate(steps); }
  void clip_gradients(double max_norm) { step_->clip_gradients(max_norm); }
  void set_grad_reducer(TrainOneStep::GradReducer reducer) { step_->set_grad_reducer(std::move(reducer)); }
  double loss_scale() const { return step_->loss_scale(); }
  bool has_loss() const { return step_->has_loss(); }
  const train::Network& network() const { return step_->network(); }
  bridge::optim::Optimizer& optimizer() const { return step_->optimizer(); }
  void save(bridge::serialize::OutputArchive& archive) const { step_->save(archive); }
  void load(bridge::serialize::InputArchive& archive) { step_->load(archive); }

 private:
  std::shared_ptr<TrainOneStep> step_;
};

/// Brings the network to `level` ("O0" to "O3", "auto") and joins it with loss and optimizer. Any optimizer will do:
/// it updates float32 parameters with float32 gradients.
HB_API TrainNetwork build_train_network(const train::Network& net, bridge::optim::Optimizer& optimizer,
                                        train::Loss loss, const std::string& level = "O0", LossScale loss_scale = {},
                                        const LevelOptions& options = {});

}  // namespace hb::amp
