#include <halfbridge/bridge/optim/optimizer.h>

#include <halfbridge/bridge/serialize/archive.h>
#include <halfbridge/grad_mode.h>

#include "found_state.h"
#include "step.h"
#include "step_observer.h"
#include "step_watcher.h"

namespace hb::bridge::optim {

namespace {
[[noreturn]] void not_overridden(const char* function, const char* base, const char* cloneable) {
  HB_NOT_SUPPORTED(function, " has not been implemented for torch::optim::", base,
                   ": override it in your subclass of torch::optim::", cloneable, "<YourClass>");
}
}  // namespace

OptimizerParamState::~OptimizerParamState() = default;
std::unique_ptr<OptimizerParamState> OptimizerParamState::clone() const {
  not_overridden("clone()", "OptimizerParamState", "OptimizerCloneableParamState");
}
void OptimizerParamState::serialize(serialize::InputArchive&) {
  not_overridden("serialize(InputArchive&)", "OptimizerParamState", "OptimizerCloneableParamState");
}
void OptimizerParamState::serialize(serialize::OutputArchive&) const {
  not_overridden("serialize(OutputArchive&)", "OptimizerParamState", "OptimizerCloneableParamState");
}

IValue OptimizerParamState::state_dict() const {
  not_overridden("state_dict()", "OptimizerParamState", "OptimizerCloneableParamState");
}
void OptimizerParamState::load_state_dict(const IValue&) {
  not_overridden("load_state_dict()", "OptimizerParamState", "OptimizerCloneableParamState");
}

OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& other)
    : params_(other.params_), options_(other.options_ ? other.options_->clone() : nullptr) {}

OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
    : params_(std::move(params)), options_(std::move(options)) {}
OptimizerParamGroup::OptimizerParamGroup(OptimizerParamGroup&&) noexcept = default;
OptimizerParamGroup& OptimizerParamGroup::operator=(OptimizerParamGroup&&) noexcept = default;
OptimizerParamGroup::~OptimizerParamGroup() = default;

void OptimizerParamGroup::set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
OptimizerOptions& OptimizerParamGroup::options() {
  HB_CHECK(has_options(),
           "[OptimizerParamGroup] options(): the group has none; add it to an optimizer or set_options()");
  return *options_;
}
const OptimizerOptions& OptimizerParamGroup::options() const {
  return const_cast<OptimizerParamGroup*>(this)->options();
}

Optimizer::Optimizer(const std::vector<OptimizerParamGroup>& param_groups, std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  for (const auto& group : param_groups) add_param_group(group);
}
Optimizer::Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults)
    : Optimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(parameters))}, std::move(defaults)) {}
Optimizer::Optimizer(Optimizer&&) = default;
Optimizer& Optimizer::operator=(Optimizer&&) = default;
Optimizer::~Optimizer() { tell_end(*this); }

std::unique_ptr<OptimizerParamState> Optimizer::new_state() const {
  not_overridden("new_state()", "Optimizer", "Optimizer");
}

// For optimizers that override the other step.
Tensor Optimizer::step(LossClosure closure) {
  HB_CHECK(!in_default_step_, "[Optimizer] expected a subclass that overrides step(closure) or step(grads, closure)");
  const Tensor loss = evaluate(closure);
  const auto update = [this] {
    std::vector<Tensor> grads;
    grads.reserve(size());
    for (const auto& group : param_groups_)
      for (const auto& p : group.params()) grads.push_back(p.grad());
    return step(grads);
  };
  const ObservedStep observed(*this);
  const Tensor result = watched_step(*this, nullptr, update);
  return closure ? loss : result;
}

// For optimizers that override the other step: it finds the gradients where it looks for them.
Tensor Optimizer::step(const std::vector<Tensor>& grads, LossClosure closure) {
  check_gradient_count("Optimizer::step", *this, grads);
  const Tensor loss = evaluate(closure);
  struct Lent {
    Optimizer& self;
    std::vector<Tensor> own;
    explicit Lent(Optimizer& optimizer) : self(optimizer) {
      self.in_default_step_ = true;
      for (const auto& group : self.param_groups_)
        for (const auto& p : group.params()) own.push_back(p.grad());
    }
    ~Lent() {
      lend(own);
      self.in_default_step_ = false;
    }
    void lend(const std::vector<Tensor>& grads) {
      size_t at = 0;
      for (auto& group : self.param_groups_)
        for (auto& p : group.params()) p.mutable_grad() = grads[at++];
    }
  } lent(*this);
  lent.lend(grads);
  const ObservedStep observed(*this);
  const Tensor result = watched_step(*this, &grads, [this] { return step(LossClosure()); });
  return closure ? loss : result;
}

void Optimizer::set_amp_scaling(Tensor grad_scale, Tensor found_inf) {
  const auto check = [](const Tensor& t, const char* what) {
    HB_CHECK(!t.defined() || (t.scalar_type() == kFloat && t.numel() == 1), "[Optimizer::set_amp_scaling] expected ",
             what, " of dtype Float with one element, got ", t.sizes(), " of dtype ", t.scalar_type());
  };
  check(grad_scale, "grad_scale"), check(found_inf, "found_inf");
  if ((grad_scale.defined() || found_inf.defined()) && !supports_amp_scaling())
    HB_NOT_SUPPORTED(
        "[Optimizer::set_amp_scaling] is not supported by this optimizer: unscale its gradients and look "
        "at found_inf before its step");
  grad_scale_ = std::move(grad_scale), found_inf_ = std::move(found_inf);
}

Optimizer& Optimizer::use_master_weights(bool on) {
  if (on && !supports_amp_scaling())
    HB_NOT_SUPPORTED("[Optimizer::use_master_weights] is not supported by this optimizer");
  use_master_weights_ = on;
  return *this;
}

Tensor Optimizer::master_weight(const Tensor& param) const {
  const auto found = state_.find(param.unsafeGetTensorImpl());
  return found == state_.end() ? Tensor() : found->second->master_weight();
}

void Optimizer::set_master_weight(const Tensor& param, const Tensor& value) {
  HB_CHECK(is_half_type(param.scalar_type()) && value.defined() && value.sizes().equals(param.sizes()),
           "[Optimizer::set_master_weight] expected a half parameter and a value of its shape ", param.sizes(),
           ", got a parameter of dtype ", param.scalar_type(), " and ", value.defined() ? "another shape" : "nothing");
  auto& slot = state_[param.unsafeGetTensorImpl()];
  if (!slot) slot = new_state();
  NoGradGuard no_grad;
  Tensor copy = zero_state(param, kFloat);
  copy.copy_(value);
  slot->master_weight(copy);
}

void Optimizer::add_param_group(const OptimizerParamGroup& param_group) {
  HB_CHECK(defaults_ || param_group.has_options(), "[Optimizer] expected default options, got none");
  for (const auto& p : param_group.params()) {
    HB_CHECK(p.is_leaf(), "can't optimize a non-leaf Tensor");
    HB_CHECK(state_.count(p.unsafeGetTensorImpl()) == 0, "some parameters appear in more than one parameter group");
  }
  StepWatchers::each([&](StepWatcher& w) { w.parameters_added(param_group.params()); });
  param_groups_.emplace_back(param_group.params(),
                             (param_group.has_options() ? param_group.options() : *defaults_).clone());
}

void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
  StepWatchers::each([&](StepWatcher& w) { w.parameters_added(parameters); });
  auto& all = this->parameters();
  all.insert(all.end(), parameters.begin(), parameters.end());
}

void Optimizer::zero_grad(bool set_to_none) {
  for (auto& group : param_groups_) {
    for (auto& p : group.params()) {
      if (!p.grad().defined()) continue;
      Tensor& grad = p.mutable_grad();
      if (set_to_none) {
        grad.reset();
      } else {
        grad.detach_();
        grad.zero_();
      }
    }
  }
}

const std::vector<Tensor>& Optimizer::parameters() const { return param_groups_.at(0).params(); }
std::vector<Tensor>& Optimizer::parameters() { return param_groups_.at(0).params(); }

size_t Optimizer::size() const noexcept {
  size_t count = 0;
  for (const auto& group : param_groups_) count += group.params().size();
  return count;
}

// A custom optimizer without state of its own has nothing to save, as in LibTorch.
void Optimizer::save(serialize::OutputArchive&) const {}
void Optimizer::load(serialize::InputArchive&) {}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

}  // namespace hb::bridge::optim
