#pragma once
// One step of training, to be called or to be derived from.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/amp/levels.h>
#include <halfbridge/bridge/amp/loss_scaler.h>
#include <halfbridge/bridge/optim/optimizer.h>
#include <halfbridge/graph.h>
#include <halfbridge/train/loss.h>
#include <halfbridge/train/network.h>

namespace hb::amp {

/// The loss scale of a training step: a manager, none (nullptr), or what the level takes by default: a dynamic scale
/// from 65536 on for fp16 in O1, O2 and auto, none otherwise.
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

/// One call is one step, in this order: forward pass under the level, loss in float32, scaled backward pass, gradients
/// in float32 and unscaled, the gradient reducer, the look for overflows, clipping, update unless there was one, the
/// new scale.
///
/// A subclass overrides forward() for another way from inputs to loss, or construct() for another step:
///
///   struct WithPenalty : hb::amp::TrainOneStep {
///     using TrainOneStep::TrainOneStep;
///     Step forward(const hb::variable_list& inputs, const hb::Tensor& target) override {
///       Step step = TrainOneStep::forward(inputs, target);
///       step.loss = step.loss + 1e-4 * penalty_of(network().module());
///       return step;
///     }
///   };
class HB_API TrainOneStep {
 public:
  /// Brings the network to `level` ("O0" to "O3", "auto"). The optimizer must outlive this object.
  TrainOneStep(train::Network net, bridge::optim::Optimizer& optimizer, train::Loss loss,
               const std::string& level = "O0", LossScale loss_scale = {}, const LevelOptions& options = {});
  /// `net` is at its level already; without a manager there is no loss scale.
  TrainOneStep(train::Network net, bridge::optim::Optimizer& optimizer, train::Loss loss, Level level, ScalarType dtype,
               std::shared_ptr<LossScaleManager> manager);
  TrainOneStep(const TrainOneStep&) = delete;
  TrainOneStep& operator=(const TrainOneStep&) = delete;
  virtual ~TrainOneStep();

  struct Step {
    Tensor loss;      // of before the step, unscaled; what construct() returns has no history
    Tensor overflow;  // float32, one element, not 0 if the update was skipped; undefined where nothing looks for it
    variable_list outputs;
    bool updated = false;  // false while gradients accumulate
  };
  /// The whole step. The network must be in the mode wanted (train()).
  virtual Step construct(const variable_list& inputs, const Tensor& target);
  /// Forward pass and loss, with history while gradients are enabled; without a target no loss.
  virtual Step forward(const variable_list& inputs, const Tensor& target);

  /// The loss of construct().
  Tensor operator()(const Tensor& input, const Tensor& target) { return construct({input}, target).loss; }
  Tensor operator()(const variable_list& inputs, const Tensor& target) { return construct(inputs, target).loss; }
  /// forward() without gradients.
  Step evaluate(const variable_list& inputs, const Tensor& target = {});

  /// Given the gradients of all parameters in the optimizer's order, unscaled and in float32 (undefined where there is
  /// none), returns those to go on with: their mean over several processes, say. What it returns is looked at for
  /// overflows. With accumulation it is called once per update.
  using GradReducer = std::function<std::vector<Tensor>(std::vector<Tensor>)>;
  void set_grad_reducer(GradReducer reducer);
  /// One update per `steps` calls, with the mean of their gradients.
  void accumulate(int64_t steps);
  /// Largest norm of all gradients; 0: not clipped.
  void clip_gradients(double max_norm);
  /// The present scale: 1 without a manager. Waits for the device.
  double loss_scale() const;
  /// From here on construct() is captured as a graph and replayed (graph.h); `HALFBRIDGE_GRAPH=1` in the environment
  /// asks for that, too, with `fall_back`. What the parts of the step read on the host is then a constant of the graph.
  void capture(bool on = true, graph::CompileOptions options = {});
  graph::CompileCounts graph_counts() const;
  bool has_loss() const;
  const train::Network& network() const;
  bridge::optim::Optimizer& optimizer() const;

  /// The scale and what its rule remembers, gradients that are being accumulated.
  void save(bridge::serialize::OutputArchive& archive) const;
  void load(bridge::serialize::InputArchive& archive);

 protected:
  // The parts of construct().
  /// The backward pass of a loss, times the scale, over the number of steps that are accumulated.
  void backward(const Tensor& loss);
  /// Whether an update is due after this backward pass.
  bool is_due();
  /// All from unscaling to the new scale; returns the flag of Step::overflow.
  Tensor update();

 private:
  Step whole(const variable_list& inputs, const Tensor& target);
  Step captured(const variable_list& inputs, const Tensor& target);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hb::amp
