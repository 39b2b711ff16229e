#include <halfbridge/bridge/optim/optimizer.h>

#include <halfbridge/bridge/serialize/archive.h>

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

OptimizerOptions::~OptimizerOptions() = default;
std::unique_ptr<OptimizerOptions> OptimizerOptions::clone() const {
  not_overridden("clone()", "OptimizerOptions", "OptimizerCloneableOptions");
}
void OptimizerOptions::serialize(serialize::InputArchive&) {
  not_overridden("serialize(InputArchive&)", "OptimizerOptions", "OptimizerCloneableOptions");
}
void OptimizerOptions::serialize(serialize::OutputArchive&) const {
  not_overridden("serialize(OutputArchive&)", "OptimizerOptions", "OptimizerCloneableOptions");
}
double OptimizerOptions::get_lr() const { not_overridden("get_lr()", "OptimizerOptions", "OptimizerCloneableOptions"); }
void OptimizerOptions::set_lr(const double) {
  not_overridden("set_lr()", "OptimizerOptions", "OptimizerCloneableOptions");
}

OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& other)
    : params_(other.params_), options_(other.options_ ? other.options_->clone() : nullptr) {}

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
Optimizer::~Optimizer() = default;

void Optimizer::add_param_group(const OptimizerParamGroup& param_group) {
  HB_CHECK(defaults_ || param_group.has_options(), "[Optimizer] expected default options, got none");
  for (const auto& p : param_group.params()) {
    HB_CHECK(p.is_leaf(), "can't optimize a non-leaf Tensor");
    HB_CHECK(state_.count(p.unsafeGetTensorImpl()) == 0, "some parameters appear in more than one parameter group");
  }
  param_groups_.emplace_back(param_group.params(),
                             (param_group.has_options() ? param_group.options() : *defaults_).clone());
}

void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
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
