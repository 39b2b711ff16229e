#include <halfbridge/bridge/amp/loss_scaler.h>

#include <algorithm>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "optim/step_observer.h"

namespace hb::amp {

namespace {

using StateDict = Dict<std::string, IValue>;

IValue entry(const StateDict& state, const char* key) {
  HB_CHECK(state.contains(key), "[load_state_dict] expected an entry \"", key, "\", got none");
  return state.at(key);
}

/// The rule that MindSpore's scaler and its update cell share: never below 1.
void adapt(Tensor& scale, Tensor& counter, const Tensor& overflow, double factor, int64_t window) {
  HB_CHECK(overflow.defined() && overflow.numel() == 1, "[adjust] expected one bool, got ",
           overflow.defined() ? overflow.toString() : "an undefined tensor");
  NoGradGuard no_grad;
  counter = counter.to(scale.device());
  _amp_update_scale_(scale, counter, overflow.to(scale.device()).to(kFloat).reshape({}), factor, 1.0 / factor, window);
  scale.clamp_min_(1.0);
}

}  // namespace

// --- scalers

LossScaler::LossScaler(const char* name, double scale_value) {
  HB_CHECK(scale_value >= 1.0, "[", name, "] expected scale_value >= 1, got ", scale_value);
  scale_value_ = full({}, scale_value, kFloat);
}
LossScaler::~LossScaler() = default;

Tensor LossScaler::scale(const Tensor& input) const {
  bridge::optim::tell_loss_scaled(scale_value_);
  return input.defined() ? input * scale_value_.to(input.device()).to(input.scalar_type()) : input;
}
std::vector<Tensor> LossScaler::scale(const std::vector<Tensor>& inputs) const {
  std::vector<Tensor> scaled;
  for (const Tensor& t : inputs) scaled.push_back(scale(t));
  return scaled;
}
Tensor LossScaler::unscale(const Tensor& input) const {
  return input.defined() ? input * scale_value_.reciprocal().to(input.device()).to(input.scalar_type()) : input;
}
std::vector<Tensor> LossScaler::unscale(const std::vector<Tensor>& inputs) const {
  std::vector<Tensor> unscaled;
  for (const Tensor& t : inputs) unscaled.push_back(unscale(t));
  return unscaled;
}
bool LossScaler::adjust(bool grads_finite) { return adjust(full({}, grads_finite, kBool)); }

StaticLossScaler::StaticLossScaler(double scale_value) : LossScaler("StaticLossScaler", scale_value) {}
bool StaticLossScaler::adjust(const Tensor&) { return false; }

DynamicLossScaler::DynamicLossScaler(double scale_value, double scale_factor, int64_t scale_window)
    : LossScaler("DynamicLossScaler", scale_value),
      scale_factor_(scale_factor),
      scale_window_(scale_window),
      counter_(zeros({}, kInt)) {
  HB_CHECK(scale_factor >= 1, "[DynamicLossScaler] expected scale_factor >= 1, got ", scale_factor);
  HB_CHECK(scale_window >= 1, "[DynamicLossScaler] expected scale_window >= 1, got ", scale_window);
}
bool DynamicLossScaler::adjust(const Tensor& grads_finite) {
  HB_CHECK(grads_finite.defined(), "[adjust] expected one bool, got an undefined tensor");
  adapt(scale_value_, counter_, grads_finite.eq(0), scale_factor_, scale_window_);
  return true;
}

StateDict DynamicLossScaler::state_dict() const {
  StateDict state;
  state.insert("scale_value", scale_value_.item<double>());
  state.insert("counter", counter_.item<int64_t>());
  return state;
}
void DynamicLossScaler::load_state_dict(const StateDict& state) {
  const double scale = entry(state, "scale_value").toScalar().to<double>();
  counter_.fill_(entry(state, "counter").toInt());
  scale_value_.fill_(scale);
}

// --- managers

LossScaleUpdateCell::~LossScaleUpdateCell() = default;
Dict<std::string, IValue> LossScaleUpdateCell::state_dict() const { return {}; }
void LossScaleUpdateCell::load_state_dict(const Dict<std::string, IValue>& state) { (void)state; }
LossScaleManager::~LossScaleManager() = default;
Dict<std::string, IValue> LossScaleManager::state_dict() const { return {}; }
void LossScaleManager::load_state_dict(const Dict<std::string, IValue>& state) { (void)state; }

namespace {

class FixedUpdate final : public LossScaleUpdateCell {
 public:
  explicit FixedUpdate(double scale) : scale_(scale) {}
  double get_loss_scale() const override { return scale_; }
  Tensor operator()(Tensor&, const Tensor& overflow) override { return overflow; }

 private:
  double scale_;
};

class DynamicUpdate final : public LossScaleUpdateCell {
 public:
  DynamicUpdate(double scale, double factor, int64_t window)
      : scale_(scale), factor_(factor), window_(window), counter_(zeros({}, kInt)) {}
  double get_loss_scale() const override { return scale_; }
  Tensor operator()(Tensor& loss_scale, const Tensor& overflow) override {
    adapt(loss_scale, counter_, overflow, factor_, window_);
    return overflow;
  }
  StateDict state_dict() const override {
    StateDict state;
    state.insert("counter", counter_.item<int64_t>());
    return state;
  }
  void load_state_dict(const StateDict& state) override { counter_.fill_(entry(state, "counter").toInt()); }

 private:
  double scale_, factor_;
  int64_t window_;
  Tensor counter_;
};

}  // namespace

FixedLossScaleManager::FixedLossScaleManager(double loss_scale, bool drop_overflow_update)
    : loss_scale_(loss_scale), drop_overflow_update_(drop_overflow_update) {
  HB_CHECK(loss_scale >= 1, "[FixedLossScaleManager] expected loss_scale >= 1, got ", loss_scale);
}
std::shared_ptr<LossScaleUpdateCell> FixedLossScaleManager::get_update_cell() const {
  if (!drop_overflow_update_) return nullptr;
  return std::make_shared<FixedUpdate>(loss_scale_);
}

DynamicLossScaleManager::DynamicLossScaleManager(double init_loss_scale, double scale_factor, int64_t scale_window)
    : loss_scale_(init_loss_scale), scale_factor_(scale_factor), scale_window_(scale_window) {
  HB_CHECK(init_loss_scale >= 1, "[DynamicLossScaleManager] expected init_loss_scale >= 1, got ", init_loss_scale);
  HB_CHECK(scale_factor > 0, "[DynamicLossScaleManager] expected scale_factor > 0, got ", scale_factor);
  HB_CHECK(scale_window >= 1, "[DynamicLossScaleManager] expected scale_window >= 1, got ", scale_window);
}

void DynamicLossScaleManager::update_loss_scale(bool overflow) {
  constexpr int64_t kMostInARow = 1000;
  if (overflow) {
    loss_scale_ = std::max(loss_scale_ / scale_factor_, 1.0);
    last_overflow_iter_ = cur_iter_;
    ++bad_steps_;
  } else {
    if ((cur_iter_ - last_overflow_iter_) % scale_window_ == 0) loss_scale_ *= scale_factor_;
    bad_steps_ = 0;
  }
  HB_CHECK(bad_steps_ <= kMostInARow, "[DynamicLossScaleManager] the gradients overflowed ", bad_steps_,
           " times in a row, more than the threshold of ", kMostInARow);
  ++cur_iter_;
}

std::shared_ptr<LossScaleUpdateCell> DynamicLossScaleManager::get_update_cell() const {
  return std::make_shared<DynamicUpdate>(loss_scale_, scale_factor_, scale_window_);
}

StateDict DynamicLossScaleManager::state_dict() const {
  StateDict state;
  state.insert("loss_scale", loss_scale_);
  state.insert("cur_iter", cur_iter_);
  state.insert("last_overflow_iter", last_overflow_iter_);
  state.insert("bad_step", bad_steps_);
  return state;
}
void DynamicLossScaleManager::load_state_dict(const StateDict& state) {
  const double scale = entry(state, "loss_scale").toScalar().to<double>();
  const int64_t cur = entry(state, "cur_iter").toInt(), last = entry(state, "last_overflow_iter").toInt();
  bad_steps_ = entry(state, "bad_step").toInt();
  loss_scale_ = scale, cur_iter_ = cur, last_overflow_iter_ = last;
}

}  // namespace hb::amp
