// Settings of a GradScaler, and its state as a dict and in archives.

#include <halfbridge/bridge/serialize/archive.h>
#include <halfbridge/ops.h>

#include "overflow_tracer.h"
#include "scaler_state.h"

namespace hb::amp {

double GradScaler::get_scale() const {
  if (!is_enabled()) return 1.0;
  return state_->scale.defined() ? state_->scale.item<double>() : state_->options.init_scale();
}
double GradScaler::get_growth_factor() const { return state_->options.growth_factor(); }
void GradScaler::set_growth_factor(double new_factor) { state_->options.growth_factor(new_factor); }
double GradScaler::get_backoff_factor() const { return state_->options.backoff_factor(); }
void GradScaler::set_backoff_factor(double new_factor) { state_->options.backoff_factor(new_factor); }
int64_t GradScaler::get_growth_interval() const { return state_->options.growth_interval(); }
void GradScaler::set_growth_interval(int64_t new_interval) { state_->options.growth_interval(new_interval); }
bool GradScaler::is_enabled() const { return state_->options.enabled(); }

Tensor GradScaler::_get_scale_async() const { return state_->scale; }
int64_t GradScaler::_get_growth_tracker() const {
  if (!is_enabled()) return 0;
  return state_->growth_tracker.defined() ? state_->growth_tracker.item<int64_t>() : state_->init_growth_tracker;
}
std::vector<Tensor> GradScaler::_found_inf_per_device(const Optimizer& optimizer) const {
  const auto found = state_->optimizers.find(&optimizer);
  return found == state_->optimizers.end() ? std::vector<Tensor>() : found->second.found_inf;
}

GradScaler::StateDict GradScaler::state_dict() const {
  StateDict state;
  if (!is_enabled()) return state;
  state.insert("scale", get_scale());
  state.insert("growth_factor", get_growth_factor());
  state.insert("backoff_factor", get_backoff_factor());
  state.insert("growth_interval", get_growth_interval());
  state.insert("_growth_tracker", _get_growth_tracker());
  return state;
}

namespace {
IValue entry(const GradScaler::StateDict& state, const char* key) {
  HB_CHECK(state.contains(key), "[load_state_dict] expected an entry \"", key, "\", got none");
  return state.at(key);
}
}  // namespace

void GradScaler::load_state_dict(const StateDict& state) {
  if (!is_enabled()) return;
  HB_CHECK(!state.empty(),
           "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.");
  const double scale = entry(state, "scale").toScalar().to<double>();
  const double growth = entry(state, "growth_factor").toScalar().to<double>();
  const double backoff = entry(state, "backoff_factor").toScalar().to<double>();
  const int64_t interval = entry(state, "growth_interval").toInt();
  const int64_t tracker = entry(state, "_growth_tracker").toInt();
  state_->options.init_scale(scale).growth_factor(growth).backoff_factor(backoff).growth_interval(interval);
  state_->init_growth_tracker = tracker;
  if (state_->scale.defined()) {
    state_->scale.fill_(scale);
    state_->growth_tracker.fill_(tracker);
  }
}

namespace {
const char* const kEntries[] = {"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"};
}

bridge::serialize::OutputArchive& operator<<(bridge::serialize::OutputArchive& archive, const GradScaler& scaler) {
  HB_CHECK(scaler.state_->optimizers.empty(),
           "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after "
           "scaler.update().");
  for (const auto& item : scaler.state_dict()) archive.write(item.key(), item.value());
  return archive;
}

bridge::serialize::InputArchive& operator>>(bridge::serialize::InputArchive& archive, GradScaler& scaler) {
  GradScaler::StateDict state;
  for (const char* key : kEntries) {
    IValue value;
    if (archive.try_read(key, value)) state.insert(key, value);
  }
  scaler.load_state_dict(state);
  return archive;
}

}  // namespace hb::amp
