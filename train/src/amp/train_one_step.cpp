#include <halfbridge/amp/train_network.h>
#include <halfbridge/amp/train_one_step.h>

#include <cstdlib>
#include <string_view>

#include <halfbridge/bridge/serialize/archive.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/amp.h>

#include "core/recorder.h"
#include "distributed/shared_parameters.h"
#include "gradients.h"
#include "half_scope.h"
#include "nn/utils/clip_grad.h"
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

namespace {
std::vector<Tensor> parameters_of(const Optimizer& optimizer) {
  std::vector<Tensor> all;
  for (const auto& group : optimizer.param_groups())
    all.insert(all.end(), group.params().begin(), group.params().end());
  return all;
}
}  // namespace

struct TrainOneStep::State {
  train::Network net;
  Optimizer& optimizer;
  train::Loss loss;
  Level level;
  ScalarType dtype;
  std::shared_ptr<LossScaleManager> manager;
  std::shared_ptr<LossScaleUpdateCell> cell;  // null: the manager is told on the host, or nothing looks for overflows
  Tensor scale;                               // float32, one element; undefined without a manager
  GradReducer reducer;
  double max_norm = 0;
  int64_t accumulate = 1, pending = 0;
  std::optional<graph::Captured> graph = from_environment();

  // HALFBRIDGE_GRAPH=1: what cannot be captured runs eagerly.
  static std::optional<graph::Captured> from_environment() {
    const char* const value = std::getenv("HALFBRIDGE_GRAPH");
    if (!value || std::string_view(value) != "1") return std::nullopt;
    graph::CompileOptions options;
    options.fall_back = true;
    return graph::Captured(options);
  }

  Device device() const {
    const auto& groups = optimizer.param_groups();
    return groups.empty() || groups[0].params().empty() ? Device(kCPU) : groups[0].params()[0].device();
  }
  bool watches() const { return manager && (cell || manager->get_drop_overflow_update()); }
  // Puts what the reducer gave in the place of the gradients.
  std::vector<Tensor> reduced() const {
    const auto parameters = parameters_of(optimizer);
    std::vector<Tensor> grads;
    for (const Tensor& p : parameters) grads.push_back(p.grad());
    if (HB_UNLIKELY(capture::any_recording()))
      capture::tell_refusal("set_grad_reducer", "runs a function of the program");
    grads = reducer(std::move(grads));
    HB_CHECK(grads.size() == parameters.size(), "[grad_reducer] expected ", parameters.size(),
             " gradients, one per parameter, got ", grads.size());
    std::vector<Tensor> defined;
    for (size_t i = 0; i < grads.size(); ++i) {
      parameters[i].mutable_grad() = grads[i];
      if (grads[i].defined()) defined.push_back(grads[i]);
    }
    return defined;
  }
};

TrainOneStep::TrainOneStep(train::Network net, Optimizer& optimizer, train::Loss loss, Level level, ScalarType dtype,
                           std::shared_ptr<LossScaleManager> manager)
    : state_(new State{std::move(net), optimizer, std::move(loss), level, dtype, std::move(manager), {}, {}, {}}) {
  if (!state_->manager) return;
  state_->cell = state_->manager->get_update_cell();
  state_->scale = full({}, state_->manager->get_loss_scale(), TensorOptions().dtype(kFloat).device(state_->device()));
}
TrainOneStep::TrainOneStep(train::Network net, Optimizer& optimizer, train::Loss loss, const std::string& level,
                           LossScale loss_scale, const LevelOptions& options)
    : TrainOneStep(std::move(net), optimizer, std::move(loss), parse_level(level), options.dtype(),
                   loss_scale.resolve(parse_level(level), options.dtype())) {
  apply_level(state_->net.module(), state_->level, options);
}
TrainOneStep::~TrainOneStep() = default;

TrainOneStep::Step TrainOneStep::forward(const variable_list& inputs, const Tensor& target) {
  const State& s = *state_;
  const Level level = level_for(s.level, s.device().type());
  std::optional<HalfScope> scope;
  if (level == Level::automatic) scope.emplace(s.device(), s.dtype);
  Step result;
  result.outputs = s.net(inputs);
  if (!target.defined()) return result;
  HB_CHECK(s.loss, "[train_network] expected a loss, got none");
  variable_list outputs = result.outputs;
  if (level != Level::automatic && level != Level::O0)
    for (Tensor& t : outputs)
      if (is_half_type(t.scalar_type())) t = t.to(kFloat);
  result.loss = s.loss(outputs, target);
  return result;
}

TrainOneStep::Step TrainOneStep::evaluate(const variable_list& inputs, const Tensor& target) {
  NoGradGuard no_grad;
  return forward(inputs, target);
}

TrainOneStep::Step TrainOneStep::whole(const variable_list& inputs, const Tensor& target) {
  if (state_->pending == 0) state_->optimizer.zero_grad();
  Step result = forward(inputs, target);
  HB_CHECK(result.loss.defined(), "[train_network] expected a target, got an undefined tensor");
  backward(result.loss);
  result.loss = result.loss.detach();
  result.updated = is_due();
  if (result.updated) result.overflow = update();
  return result;
}

TrainOneStep::Step TrainOneStep::construct(const variable_list& inputs, const Tensor& target) {
  return state_->graph ? captured(inputs, target) : whole(inputs, target);
}

// What the host decides is among the arguments. Outputs come behind loss and overflow.
TrainOneStep::Step TrainOneStep::captured(const variable_list& inputs, const Tensor& target) {
  const bool first = state_->pending == 0, due = state_->pending + 1 >= state_->accumulate;
  bool replayed = true;
  variable_list arguments = inputs;
  arguments.push_back(target);
  const std::vector<double> numbers{double(first), double(due), double(state_->accumulate), state_->max_norm};
  variable_list results = state_->graph->call(arguments, numbers, [&] {
    replayed = false;
    Step step = whole(inputs, target);
    variable_list list{step.loss, step.overflow};
    for (const Tensor& t : step.outputs) list.push_back(t.detach());
    return list;
  });
  if (replayed) is_due();
  Step step{results[0], results[1], {}, due};
  step.outputs.assign(results.begin() + 2, results.end());
  return step;
}

void TrainOneStep::capture(bool on, graph::CompileOptions options) {
  state_->graph.reset();
  if (on) state_->graph.emplace(options);
}
graph::CompileCounts TrainOneStep::graph_counts() const {
  return state_->graph ? state_->graph->counts() : graph::CompileCounts();
}

void TrainOneStep::backward(const Tensor& loss) {
  const State& s = *state_;
  Tensor scaled = s.accumulate > 1 ? loss / static_cast<double>(s.accumulate) : loss;
  if (s.scale.defined()) scaled = scaled.to(kFloat) * s.scale;
  bridge::optim::tell_loss_scaled(s.scale);
  scaled.backward();
}

bool TrainOneStep::is_due() {
  if (++state_->pending < state_->accumulate) return false;
  state_->pending = 0;
  return true;
}

Tensor TrainOneStep::update() {
  State& s = *state_;
  NoGradGuard no_grad;
  auto grads = full_precision_grads(s.optimizer);
  Tensor overflow;
  if (s.scale.defined()) {
    overflow = zeros_like(s.scale);
    _amp_foreach_non_finite_check_and_unscale_(grads, overflow, s.scale.to(kDouble).reciprocal().to(kFloat));
  }
  if (s.reducer) {
    grads = s.reduced();
    if (overflow.defined()) overflow.copy_(all_finite(grads).logical_not());
  }
  if (overflow.defined()) distributed::share_overflow(s.optimizer, overflow);
  if (s.max_norm > 0) bridge::nn::utils::clip_by_norm(parameters_of(s.optimizer), s.max_norm, 2.0, false);
  if (s.watches())
    bridge::optim::step_unless(s.optimizer, {}, overflow, [&] { return s.optimizer.step(); });
  else
    s.optimizer.step();
  if (s.cell) {
    (*s.cell)(s.scale, overflow != 0);
  } else if (s.watches()) {
    s.manager->update_loss_scale(overflow.item<float>() != 0);
    s.scale.fill_(s.manager->get_loss_scale());
  }
  return s.watches() ? overflow : Tensor();
}

void TrainOneStep::set_grad_reducer(GradReducer reducer) {
  state_->reducer = std::move(reducer);
  if (state_->graph) state_->graph->reset();
}
void TrainOneStep::accumulate(int64_t steps) {
  HB_CHECK(steps >= 1, "[train_network] expected to accumulate 1 step or more, got ", steps);
  state_->accumulate = steps;
}
void TrainOneStep::clip_gradients(double max_norm) {
  HB_CHECK(max_norm >= 0, "[train_network] expected a norm of 0 (not clipped) or more, got ", max_norm);
  state_->max_norm = max_norm;
}
double TrainOneStep::loss_scale() const { return state_->scale.defined() ? state_->scale.item<double>() : 1.0; }
bool TrainOneStep::has_loss() const { return static_cast<bool>(state_->loss); }
const train::Network& TrainOneStep::network() const { return state_->net; }
Optimizer& TrainOneStep::optimizer() const { return state_->optimizer; }

void TrainOneStep::save(bridge::serialize::OutputArchive& archive) const {
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

void TrainOneStep::load(bridge::serialize::InputArchive& archive) {
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
  return std::make_shared<TrainOneStep>(net, optimizer, std::move(loss), level, std::move(loss_scale), options);
}

}  // namespace hb::amp
