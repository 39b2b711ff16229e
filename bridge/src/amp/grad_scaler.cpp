#include <halfbridge/bridge/amp/grad_scaler.h>

#include <sstream>

#include <halfbridge/bridge/context.h>
#include <halfbridge/distributed/objects.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/amp.h>

#include "distributed/shared_parameters.h"
#include "optim/step_observer.h"
#include "optim/step_unless.h"
#include "overflow_tracer.h"
#include "scaler_state.h"

namespace hb::amp {

namespace {

/// The gradients of all parameters, in order.
std::vector<Tensor> grads_of(const GradScaler::Optimizer& optimizer) {
  std::vector<Tensor> grads;
  grads.reserve(optimizer.size());
  for (const auto& group : optimizer.param_groups())
    for (const Tensor& p : group.params()) grads.push_back(p.grad());
  return grads;
}

void check_count(const char* function, const GradScaler::Optimizer& optimizer, const std::vector<Tensor>& grads) {
  HB_CHECK(grads.size() == optimizer.size(), "[", function, "] expected one gradient for each of the optimizer's ",
           optimizer.size(), " parameters, got ", grads.size());
}

bool any_fp16(const std::vector<Tensor>& grads) {
  for (const Tensor& g : grads)
    if (g.defined() && g.scalar_type() == kHalf) return true;
  return false;
}

/// Of several ranks that train together, the story of the first one on which an operation overflowed.
Overflow shared_story(Overflow own, const GradScaler::Optimizer* optimizer) {
  const auto group = optimizer ? distributed::group_of(*optimizer) : nullptr;
  if (!group) return own;
  std::string text;
  for (const std::string& part : {own.operation, own.layer, own.parameter, std::string(own.in_forward ? "1" : "")})
    text += part + '\n';
  const auto all = distributed::all_gather_bytes(*group, text);
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r][0] == '\n') continue;
    std::istringstream lines(all[r]);
    std::string forward;
    std::getline(lines, own.operation);
    std::getline(lines, own.layer);
    std::getline(lines, own.parameter);
    std::getline(lines, forward);
    own.in_forward = !forward.empty(), own.rank = static_cast<int64_t>(r);
    break;
  }
  return own;
}

}  // namespace

// --- state

GradScaler::State::State(Device device, const GradScalerOptions& options) : device(device), options(options) {}
GradScaler::State::~State() { set_pending(false); }

Tensor GradScaler::State::scale_on(const Device& where) {
  if (!scale.defined()) {
    HB_CHECK(!growth_tracker.defined(), "_growth_tracker initialized before _scale");
    scale = full({}, options.init_scale(), TensorOptions(kFloat).device(where));
    growth_tracker = full({}, init_growth_tracker, TensorOptions(kInt).device(where));
  }
  return scale.device() == where ? scale : scale.to(where);
}

void GradScaler::State::check_scale(const char* function) const {
  HB_CHECK(scale.defined(), "Attempted ", function,
           " but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier in "
           "the iteration.");
}

void GradScaler::State::check_grads(PerOptimizer& optimizer, const std::vector<Tensor>& grads, bool unscale) {
  NoGradGuard no_grad;
  std::vector<Device> devices;
  std::vector<std::vector<Tensor>> lists;
  for (const Tensor& grad : grads) {
    if (!grad.defined()) continue;
    size_t i = 0;
    while (i < devices.size() && devices[i] != grad.device()) ++i;
    if (i == devices.size()) devices.push_back(grad.device()), lists.emplace_back();
    lists[i].push_back(grad);
  }
  // By way of double, as Python does it, it would be the same number: a quotient of floats rounds alike.
  const Tensor inv_scale = unscale ? scale.reciprocal() : Tensor();
  optimizer.found_inf.clear();
  for (size_t i = 0; i < devices.size(); ++i) {
    Tensor flag = zeros({}, TensorOptions(kFloat).device(devices[i]));
    _amp_foreach_non_finite_check_and_unscale_(lists[i], flag, unscale ? inv_scale.to(devices[i]) : inv_scale);
    optimizer.found_inf.push_back(std::move(flag));
  }
}

void GradScaler::State::unscale_once(PerOptimizer& optimizer, const std::vector<Tensor>& grads) {
  HB_CHECK(optimizer.stage != OptState::kUnscaled,
           "unscale_() has already been called on this optimizer since the last update().");
  HB_CHECK(optimizer.stage != OptState::kStepped, "unscale_() is being called after step().");
  if (any_fp16(grads)) throw ValueError("Attempting to unscale FP16 gradients.");
  check_grads(optimizer, grads, true);
  note_unscaled(grads);
  optimizer.stage = OptState::kUnscaled;
}

Tensor GradScaler::State::found_inf(const PerOptimizer& optimizer) const {
  HB_CHECK(!optimizer.found_inf.empty(), "No inf checks were recorded for this optimizer.");
  NoGradGuard no_grad;
  Tensor sum = optimizer.found_inf[0].to(scale.device());
  for (size_t i = 1; i < optimizer.found_inf.size(); ++i) sum = sum + optimizer.found_inf[i].to(scale.device());
  return sum;
}

// --- scaler

GradScaler::GradScaler(Device device, GradScalerOptions options) {
  if (device.is_cuda() && options.enabled() && !bridge::cuda::is_available()) {
    detail::warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.");
    options.enabled(false);
  }
  if (options.enabled()) {
    HB_CHECK(options.growth_factor() > 1.0, "The growth factor must be > 1.0.");
    HB_CHECK(options.backoff_factor() < 1.0, "The backoff factor must be < 1.0.");
  }
  state_ = hb::detail::Owned(new State(device, options));
}

GradScaler::GradScaler(Device device, double init_scale, double growth_factor, double backoff_factor,
                       int64_t growth_interval, bool enabled)
    : GradScaler(device, GradScalerOptions()
                             .init_scale(init_scale)
                             .growth_factor(growth_factor)
                             .backoff_factor(backoff_factor)
                             .growth_interval(growth_interval)
                             .enabled(enabled)) {}

GradScaler::GradScaler(GradScaler&&) noexcept = default;
GradScaler& GradScaler::operator=(GradScaler&&) noexcept = default;
GradScaler::~GradScaler() = default;

Tensor GradScaler::scale(const Tensor& output) {
  if (!is_enabled()) return output;
  HB_CHECK(output.defined(), "[scale] expected a tensor, got an undefined one");
  const Tensor scaled = output * state_->scale_on(output.device());
  state_->set_pending(true);
  bridge::optim::tell_loss_scaled(state_->scale);
  if (state_->tracer) state_->tracer->loss_was_scaled(scaled);
  return scaled;
}

std::vector<Tensor> GradScaler::scale(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> scaled;
  scaled.reserve(outputs.size());
  for (const Tensor& t : outputs) scaled.push_back(scale(t));
  return scaled;
}

void GradScaler::unscale_(Optimizer& optimizer) {
  if (!is_enabled()) return;
  state_->check_scale("unscale_");
  const auto grads = grads_of(optimizer);
  if (state_->tracer) state_->tracer->look_at(optimizer, grads);
  state_->unscale_once(state_->optimizers[&optimizer], grads);
}

void GradScaler::unscale_(Optimizer& optimizer, const std::vector<Tensor>& grads) {
  if (!is_enabled()) return;
  state_->check_scale("unscale_");
  check_count("unscale_", optimizer, grads);
  if (state_->tracer) state_->tracer->look_at(optimizer, grads);
  state_->unscale_once(state_->optimizers[&optimizer], grads);
}

Tensor GradScaler::step(Optimizer& optimizer, Optimizer::LossClosure closure) {
  if (!is_enabled()) return optimizer.step(std::move(closure));
  return step_with(optimizer, nullptr, closure);
}

Tensor GradScaler::step(Optimizer& optimizer, const std::vector<Tensor>& grads, Optimizer::LossClosure closure) {
  if (!is_enabled()) return optimizer.step(grads, std::move(closure));
  check_count("step", optimizer, grads);
  return step_with(optimizer, &grads, closure);
}

Tensor GradScaler::step_with(Optimizer& optimizer, const std::vector<Tensor>* grads,
                             const Optimizer::LossClosure& closure) {
  HB_CHECK(!closure, "Closure use is not currently supported if GradScaler is enabled.");
  state_->check_scale("step");
  PerOptimizer& state = state_->optimizers[&optimizer];
  HB_CHECK(state.stage != OptState::kStepped, "step() has already been called since the last update().");

  const bool fused = optimizer.supports_amp_scaling();
  Tensor grad_scale = optimizer.grad_scale();  // the program's own, if it has set one
  if (state.stage == OptState::kReady) {
    const auto list = grads ? *grads : grads_of(optimizer);
    if (state_->tracer) state_->tracer->look_at(optimizer, list);
    if (fused && any_fp16(list)) {
      // Half gradients cannot hold their unscaled values: the step divides as it computes in float.
      state_->check_grads(state, list, false);
      grad_scale = grad_scale.defined() ? grad_scale * state_->scale : state_->scale;
    } else {
      state_->unscale_once(state, list);
    }
  }
  // Ranks that train together skip together; and then their scales stay equal.
  if (distributed::group_of(optimizer)) {
    const Tensor flag = state_->found_inf(state).clone();
    distributed::share_overflow(optimizer, flag);
    state.found_inf = {flag};
  }
  Tensor result = bridge::optim::step_unless(optimizer, grad_scale, state_->found_inf(state),
                                             [&] { return grads ? optimizer.step(*grads) : optimizer.step(); });
  state.stage = OptState::kStepped;
  return result;
}

void GradScaler::update() {
  if (!is_enabled()) return;
  State& s = *state_;
  s.check_scale("update");
  NoGradGuard no_grad;
  Tensor found_inf;
  for (const auto& [optimizer, state] : s.optimizers) {
    if (state.found_inf.empty()) continue;
    const Tensor own = s.found_inf(state);
    found_inf = found_inf.defined() ? found_inf + own : own;
  }
  HB_CHECK(found_inf.defined(), "No inf checks were recorded prior to update.");
  ++s.updates;
  if (s.tracer && found_inf.item<float>() != 0) {
    s.last_overflow = shared_story(s.tracer->story(), s.optimizers.begin()->first);
    s.last_overflow->step = s.updates;
    s.last_overflow->scale = get_scale();
  }
  _amp_update_scale_(s.scale, s.growth_tracker, found_inf, s.options.growth_factor(), s.options.backoff_factor(),
                     s.options.growth_interval());
  finish_update();
}

void GradScaler::update(double new_scale) {
  if (!is_enabled()) return;
  state_->check_scale("update");
  state_->scale.fill_(new_scale);
  ++state_->updates;
  finish_update();
}

void GradScaler::update(const Tensor& new_scale) {
  if (!is_enabled()) return;
  state_->check_scale("update");
  HB_CHECK(new_scale.defined() && new_scale.device().type() == state_->device.type() && new_scale.numel() == 1 &&
               !new_scale.requires_grad(),
           "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
           "requires_grad=False.");
  state_->scale.copy_(new_scale.reshape({}));
  ++state_->updates;
  finish_update();
}

void GradScaler::finish_update() {
  bridge::optim::tell_scale_updated(state_->scale);
  state_->optimizers.clear();
  state_->set_pending(false);
  if (state_->tracer) state_->tracer->next_step();
}

// --- tracing

void GradScaler::trace_overflow(bridge::nn::Module& model) {
  stop_tracing();
  state_->tracer = OverflowTracer::start(model);
}
void GradScaler::stop_tracing() { state_->tracer.reset(); }
bool GradScaler::is_tracing() const { return state_->tracer != nullptr; }
std::optional<Overflow> GradScaler::last_overflow() const { return state_->last_overflow; }

}  // namespace hb::amp
