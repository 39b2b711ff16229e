#include <halfbridge/amp/train_network.h>

#include <halfbridge/bridge/nn/utils.h>
#include <halfbridge/bridge/serialize/archive.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/amp.h>

#include "gradients.h"
#include "half_scope.h"
#include "optim/step_observer.h"
#include "optim/step_unless.h"

namespace hb::amp {

using bridge::optim::Optimizer;

std::shared_ptr<LossScaleManager> LossScale::resolve(Level level, ScalarType dtype) const {
  if (manager_) return *manager_;
  const bool scaled = level == Level::O1 || level == Level::O2 || level == Level::automatic;
  if (!scaled || dtype != kHalf) return nullptr;
  return std::make_shared<DynamicLossScaleManager>(65536.0, 2.0, 2000);
}

struct TrainNetwork::State {
  train::Network net;
  Optimizer& optimizer;
  train::Loss loss;
  Level level;
  ScalarType dtype;
  std::shared_ptr<LossScaleManager> manager;
  std::shared_ptr<LossScaleUpdateCell> cell;  // null: the manager is told on the host, or nothing looks for overflows
  Tensor scale;                               // float32, one element; undefined without a manager
  double max_norm = 0;
  int64_t accumulate = 1, pending = 0;

  Device device() const {
    const auto& groups = optimizer.param_groups();
    return groups.empty() || groups[0].params().empty() ? Device(kCPU) : groups[0].params()[0].device();
  }
  Step forward(const variable_list& inputs, const Tensor& target) const {
    std::optional<HalfScope> scope;
    if (level == Level::automatic) scope.emplace(device(), dtype);
    Step result;
    result.outputs = net(inputs);
    if (!target.defined()) return result;
    HB_CHECK(loss, "[train_network] expected a loss, got none");
    variable_list outputs = result.outputs;
    if (level != Level::automatic && level != Level::O0)
      for (Tensor& t : outputs)
        if (is_half_type(t.scalar_type())) t = t.to(kFloat);
    result.loss = loss(outputs, target);
    return result;
  }
  bool watches() const { return manager && (cell || manager->get_drop_overflow_update()); }
};

TrainNetwork::TrainNetwork(train::Network net, Optimizer& optimizer, train::Loss loss, Level level, ScalarType dtype,
                           std::shared_ptr<LossScaleManager> manager)
    : state_(new State{std::move(net), optimizer, std::move(loss), level, dtype, std::move(manager), {}, {}}) {
  if (!state_->manager) return;
  state_->cell = state_->manager->get_update_cell();
  state_->scale = full({}, state_->manager->get_loss_scale(), TensorOptions().dtype(kFloat).device(state_->device()));
}

TrainNetwork::Step TrainNetwork::evaluate(const variable_list& inputs, const Tensor& target) const {
  NoGradGuard no_grad;
  return state_->forward(inputs, target);
}

TrainNetwork::Step TrainNetwork::step(const variable_list& inputs, const Tensor& target) {
  State& s = *state_;
  HB_CHECK(target.defined(), "[train_network] expected a target, got an undefined tensor");
  if (s.pending == 0) s.optimizer.zero_grad();
  Step result = s.forward(inputs, target);
  Tensor scaled = s.accumulate > 1 ? result.loss / static_cast<double>(s.accumulate) : result.loss;
  if (s.scale.defined()) scaled = scaled.to(kFloat) * s.scale;
  bridge::optim::tell_loss_scaled(s.scale);
  scaled.backward();
  result.loss = result.loss.detach();
  if (++s.pending < s.accumulate) return result;
  s.pending = 0;
  result.updated = true;

  NoGradGuard no_grad;
  const auto grads = full_precision_grads(s.optimizer);
  if (s.scale.defined()) {
    result.overflow = zeros_like(s.scale);
    _amp_foreach_non_finite_check_and_unscale_(grads, result.overflow, s.scale.to(kDouble).reciprocal().to(kFloat));
  }
  if (s.max_norm > 0) {
    std::vector<Tensor> parameters;
    for (auto& group : s.optimizer.param_groups())
      parameters.insert(parameters.end(), group.params().begin(), group.params().end());
    bridge::nn::utils::clip_grad_norm_(parameters, s.max_norm);
  }
  if (s.watches())
    bridge::optim::step_unless(s.optimizer, {}, result.overflow, [&] { return s.optimizer.step(); });
  else
    s.optimizer.step();
  if (s.cell) {
    (*s.cell)(s.scale, result.overflow != 0);
  } else if (s.watches()) {
    s.manager->update_loss_scale(result.overflow.item<float>() != 0);
    s.scale.fill_(s.manager->get_loss_scale());
  }
  if (!s.watches()) result.overflow = Tensor();
  return result;
}

void TrainNetwork::accumulate(int64_t steps) {
  HB_CHECK(steps >= 1, "[train_network] expected to accumulate 1 step or more, got ", steps);
  state_->accumulate = steps;
}
void TrainNetwork::clip_gradients(double max_norm) {
  HB_CHECK(max_norm >= 0, "[train_network] expected a norm of 0 (not clipped) or more, got ", max_norm);
  state_->max_norm = max_norm;
}
double TrainNetwork::loss_scale() const { return state_->scale.defined() ? state_->scale.item<double>() : 1.0; }
const train::Network& TrainNetwork::network() const { return state_->net; }
Optimizer& TrainNetwork::optimizer() const { return state_->optimizer; }

void TrainNetwork::save(bridge::serialize::OutputArchive& archive) const {
  const State& s = *state_;
  archive.write("pending", IValue(s.pending));
  if (s.scale.defined()) archive.write("loss_scale", s.scale);
  if (s.cell) archive.write("cell", IValue(s.cell->state_dict()));
  if (s.manager) archive.write("manager", IValue(s.manager->state_dict()));
  if (s.pending == 0) return;
  size_t i = 0;
  for (const auto& group : s.optimizer.param_groups())
    for (const Tensor& p : group.params()) {
      if (p.grad().defined()) archive.write("grad" + std::to_string(i), p.grad());
      ++i;
    }
}

void TrainNetwork::load(bridge::serialize::InputArchive& archive) {
  State& s = *state_;
  IValue value;
  archive.read("pending", value);
  s.pending = value.toInt();
  Tensor scale;
  HB_CHECK(archive.try_read("loss_scale", scale) == s.scale.defined(), "[train_network] expected a checkpoint ",
           s.scale.defined() ? "with" : "without", " a loss scale");
  if (scale.defined()) s.scale.copy_(scale);
  auto state = [&](const char* key) {
    archive.read(key, value);
    return value.to<Dict<std::string, IValue>>();
  };
  if (s.cell) s.cell->load_state_dict(state("cell"));
  if (s.manager) s.manager->load_state_dict(state("manager"));
  if (s.pending == 0) return;
  size_t i = 0;
  for (auto& group : s.optimizer.param_groups())
    for (Tensor& p : group.params()) {
      Tensor grad;
      archive.try_read("grad" + std::to_string(i++), grad);
      p.mutable_grad() = grad;
    }
}

TrainNetwork build_train_network(const train::Network& net, Optimizer& optimizer, train::Loss loss,
                                 const std::string& level, LossScale loss_scale, const LevelOptions& options) {
  const Level parsed = parse_level(level);
  const FullPrecision before = apply_level_keeping(net.module(), parsed, options);
  if (parsed == Level::O2) keep_master_weights(optimizer, before);
  return TrainNetwork(net, optimizer, std::move(loss), parsed, options.dtype(),
                      loss_scale.resolve(parsed, options.dtype()));
}

}  // namespace hb::amp
