#pragma once
// What all optimizers share: options, state per parameter, parameter groups.

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <halfbridge/bridge/optim/device_number.h>
#include <halfbridge/bridge/optim/options.h>
#include <halfbridge/tensor.h>

namespace hb::bridge::optim {

/// What an optimizer remembers about one parameter.
class HB_API OptimizerParamState {
 public:
  OptimizerParamState() = default;
  OptimizerParamState(const OptimizerParamState&) = default;
  OptimizerParamState& operator=(const OptimizerParamState&) = default;
  OptimizerParamState(OptimizerParamState&&) noexcept = default;
  OptimizerParamState& operator=(OptimizerParamState&&) noexcept = default;
  virtual ~OptimizerParamState();
  /// These three throw unless a subclass overrides them.
  virtual std::unique_ptr<OptimizerParamState> clone() const;
  virtual void serialize(serialize::InputArchive& archive);
  virtual void serialize(serialize::OutputArchive& archive) const;
  /// The same as a dict with Python's names; throw unless a subclass overrides them.
  virtual IValue state_dict() const;
  virtual void load_state_dict(const IValue& dict);

  /// The f32 copy of a half parameter, see Optimizer::use_master_weights().
  HB_ARG(Tensor, master_weight);
};

template <class Derived>
class HB_API OptimizerCloneableParamState : public OptimizerParamState {
  std::unique_ptr<OptimizerParamState> clone() const override;
};
template <class Derived>
std::unique_ptr<OptimizerParamState> OptimizerCloneableParamState<Derived>::clone() const {
  return std::make_unique<Derived>(static_cast<const Derived&>(*this));
}

/// Parameters that are updated with the same options.
class HB_API OptimizerParamGroup {
 public:
  OptimizerParamGroup(const OptimizerParamGroup& other);
  OptimizerParamGroup(OptimizerParamGroup&&) noexcept;
  OptimizerParamGroup(std::vector<Tensor> params);  // NOLINT: implicit as in LibTorch
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options);
  OptimizerParamGroup& operator=(const OptimizerParamGroup&) = delete;
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) noexcept;
  ~OptimizerParamGroup();

  bool has_options() const { return options_ != nullptr; }
  /// Throws if the group has no options of its own yet.
  OptimizerOptions& options();
  const OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options);
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }
  /// An option by its Python name, to read and to assign.
  OptionRef operator[](const std::string& name) { return {options(), name}; }
  IValue operator[](const std::string& name) const { return options().get(name); }

 protected:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
};

/// Base of all optimizers. A subclass overrides one of the two step functions; the other then calls it.
class HB_API Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;
  using StateMap = std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>;

  explicit Optimizer(const std::vector<OptimizerParamGroup>& param_groups, std::unique_ptr<OptimizerOptions> defaults);
  explicit Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer(Optimizer&&);
  Optimizer& operator=(Optimizer&&);
  virtual ~Optimizer();

  /// Updates the parameters that have a gradient. A closure is called first, with gradients enabled, and its loss
  /// returned.
  virtual Tensor step(LossClosure closure = nullptr);
  /// The same with these gradients, one for each parameter of all groups in their order, in place of the parameters'
  /// own; parameters with an undefined one are left out. They may be of another floating dtype than the parameters. A
  /// closure is called first, and what gradients it computes are not used.
  virtual Tensor step(const std::vector<Tensor>& grads, LossClosure closure = nullptr);
  struct NoClosure;
  /// `step({})` and `step(nullptr)`: without a closure.
  Tensor step(NoClosure* /*none*/) { return step(LossClosure()); }
  /// A step in either form, whichever of the two a subclass overrides: `optimizer(grads)`, `optimizer()`.
  Tensor operator()(LossClosure closure = nullptr) { return step(std::move(closure)); }
  Tensor operator()(const std::vector<Tensor>& grads, LossClosure closure = nullptr) {
    return step(grads, std::move(closure));
  }

  /// What a gradient scaler sets for the steps that follow, and clears with undefined tensors: f32 tensors of one
  /// element on any device. Gradients are divided by `grad_scale` (or left alone where it is undefined) as they are
  /// read. Where `found_inf` is not zero, a step changes nothing: not the parameters, nor states, nor step counters.
  /// The host never reads them. Throws unless supports_amp_scaling().
  void set_amp_scaling(Tensor grad_scale, Tensor found_inf);
  const Tensor& grad_scale() const { return grad_scale_; }
  const Tensor& found_inf() const { return found_inf_; }
  /// Whether step() obeys these tensors; if not, the scaler must look at the flag and leave out the step itself.
  virtual bool supports_amp_scaling() const { return false; }

  /// From the next step on, update an f32 copy of each fp16 or bf16 parameter, with its state in f32, and round it to
  /// the parameter in the same pass. A parameter that is changed between steps is followed by its copy. The copies are
  /// part of the state and of saved files. Off by default: without, the arithmetic is done in f32 all the same, but
  /// parameters and states are stored in half, where small changes and small squares are lost.
  Optimizer& use_master_weights(bool on = true);
  bool uses_master_weights() const { return use_master_weights_; }
  /// The copy of a parameter; undefined if it has none.
  Tensor master_weight(const Tensor& param) const;
  /// Gives a half parameter a copy to begin with, as from before it was rounded.
  void set_master_weight(const Tensor& param, const Tensor& value);

  /// Adds a group, with the defaults where it has no options. Throws for tensors that are not leaves or already have
  /// state.
  void add_param_group(const OptimizerParamGroup& param_group);
  void add_parameters(const std::vector<Tensor>& parameters);
  /// Drops the gradients, or fills them with zeros.
  void zero_grad(bool set_to_none = true);

  /// The parameters of the first group.
  const std::vector<Tensor>& parameters() const;
  std::vector<Tensor>& parameters();
  /// The number of parameters of all groups.
  size_t size() const noexcept;
  OptimizerOptions& defaults() noexcept { return *defaults_; }
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  /// State by parameter: the key is `tensor.unsafeGetTensorImpl()`.
  StateMap& state() noexcept { return state_; }
  const StateMap& state() const noexcept { return state_; }

  /// State and options as Python has them: {'state': {number: {...}}, 'param_groups': [{..., 'params': [number]}]},
  /// the numbers counting the parameters of all groups. A dict from Python's torch.save is read as well. Tensors are
  /// shared, not copied; loading copies them to the dtype and device of the parameter.
  IValue state_dict() const;
  void load_state_dict(const IValue& dict);

  /// Writes and reads state and options, in LibTorch's layout.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

 protected:
  std::vector<OptimizerParamGroup> param_groups_;
  StateMap state_;
  std::unique_ptr<OptimizerOptions> defaults_;

  /// An empty state, for load_state_dict(); throws unless a subclass overrides it.
  virtual std::unique_ptr<OptimizerParamState> new_state() const;

 private:
  Tensor grad_scale_, found_inf_;
  bool use_master_weights_ = false;
  bool in_default_step_ = false;
};

HB_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer);
HB_API serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer);

}  // namespace hb::bridge::optim
