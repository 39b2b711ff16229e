#pragma once
// How an optimizer's step reaches the update kernels.

#include <cstring>
#include <deque>
#include <vector>

#include <halfbridge/bridge/optim/optimizer.h>
#include <halfbridge/grad_mode.h>

#include "backend/optim.h"
#include "core/recorder.h"
#include "found_state.h"
#include "ops/nn/reordered_weights.h"
#include "step_observer.h"
#include "step_watcher.h"

namespace hb::bridge::optim {

inline Tensor evaluate(const Optimizer::LossClosure& closure) {
  if (!closure) return {};
  AutoGradMode enable_grad(true);
  return closure();
}

/// The state of a parameter; made at its first step.
template <class State>
State& state_of(Optimizer::StateMap& states, const Tensor& param) {
  auto& slot = states[param.unsafeGetTensorImpl()];
  if (!slot) slot = std::make_unique<State>();
  return static_cast<State&>(*slot);
}

/// Zeros in the parameter's layout.
Tensor zero_state(const Tensor& param, ScalarType dtype);

inline void check_gradient_count(const char* name, const Optimizer& optimizer, const std::vector<Tensor>& grads) {
  HB_CHECK(grads.size() == optimizer.size(), "[", name, "] expected a gradient for each of ", optimizer.size(),
           " parameters, got ", grads.size());
}

/// What a rule keeps for one parameter. Tensors that are not defined yet are made, of zeros; null: not used.
struct StateRefs {
  Tensor* tensors[UpdateTensor::kMaxStates] = {};
  StepCounter* step = nullptr;
  DeviceNumber<double>* scalar = nullptr;
};

/// What a step knows of mixed precision: whether half parameters have master weights, and a scaler's numbers.
struct StepScaling {
  bool master_weights;
  const Tensor &grad_scale, &found_inf;
};
inline StepScaling scaling_of(const Optimizer& optimizer) {
  return {optimizer.uses_master_weights(), optimizer.grad_scale(), optimizer.found_inf()};
}

/// The parameters of one step: brings each with its gradient and state into one dense layout, which nearly always they
/// have, and puts back afterwards what had to be copied.
class StepTensors {
 public:
  /// The tensors of `scaling` outlive this.
  StepTensors(const char* name, const StepScaling& scaling) : name_(name), scaling_(scaling) {}
  /// Fills in the dtypes of `call`. `state` is null for a rule that keeps nothing.
  UpdateTensor add(UpdateCall& call, const Tensor& param, const Tensor& grad, OptimizerParamState* state,
                   const StateRefs& refs);
  /// Where the scaler's numbers lie on this device; null where there are none.
  const float* grad_scale(const Device& device) { return number(scaling_.grad_scale, device); }
  const float* found_inf(const Device& device) { return number(scaling_.found_inf, device); }
  void finish();

 private:
  struct Copy {
    Tensor original, copy;
  };
  void check(const Tensor& param, const Tensor& other, const char* what) const;
  void prepare_states(const Tensor& param, OptimizerParamState* state, const StateRefs& refs, bool master) const;
  UpdateTensor add_parts(UpdateCall& call, const Tensor& param, const Tensor& grad, const StateRefs& refs);
  UpdateTensor stage(const UpdateCall& call, const Tensor& param, const Tensor& grad, const StateRefs& refs);
  float* master_data(const Tensor& param, OptimizerParamState& state);
  const float* number(const Tensor& tensor, const Device& device);

  const char* name_;
  StepScaling scaling_;
  std::vector<Copy> written_;
  std::vector<Tensor> kept_;
  std::deque<Tensor> parts_;  // states of complex parameters, seen as real: StateRefs point to them
};

/// Collects the parameters of a group and updates them together, in one pass over memory.
///   UpdateBatches batches(name, optimizer);
///   batches.add(p, grad, &state, refs, flags, maximize);
///   batches.run([&](auto& call, auto& tensors, auto& device) { kernel(device)(call, tensors, rule); });
class UpdateBatches {
 public:
  UpdateBatches(const char* name, const Optimizer& optimizer) : UpdateBatches(name, scaling_of(optimizer)) {}
  UpdateBatches(const char* name, const StepScaling& scaling) : tensors_(name, scaling) {
    for (auto& batch : batches()) batch.tensors.clear();
  }
  void add(const Tensor& param, const Tensor& grad, OptimizerParamState* state, const StateRefs& refs, unsigned flags,
           bool maximize);
  template <class Kernel>
  void run(const Kernel& kernel) {
    for (size_t i = 0; i < used_; ++i) {
      Batch& b = batches()[i];
      b.call.grad_scale = tensors_.grad_scale(b.device);
      b.call.found_inf = tensors_.found_inf(b.device);
      kernel(b.call, b.tensors, b.device);
    }
    tensors_.finish();
  }

 private:
  struct Batch {
    Device device = kCPU;
    UpdateCall call{};
    std::vector<UpdateTensor> tensors;
  };
  // Kept between steps, so that a step allocates nothing.
  static std::vector<Batch>& batches();

  StepTensors tensors_;
  size_t used_ = 0;
};

/// A rule with the options of a group.
template <class Rule>
struct GroupRule {
  Rule rule;
  unsigned flags;
  bool maximize;
};

/// A step with explicit gradients, of which update() is the update: its closure before, and those who stand around it.
template <class F>
Tensor whole_step(const char* name, Optimizer& optimizer, const std::vector<Tensor>& grads,
                  const Optimizer::LossClosure& closure, const F& update) {
  NoGradGuard no_grad;
  const Tensor loss = evaluate(closure);
  check_gradient_count(name, optimizer, grads);
  const ObservedStep observed(optimizer, &grads);
  watched_step(optimizer, &grads, [&] {
    update();
    return Tensor();
  });
  return loss;
}

/// What an optimizer does with a sparse gradient: an overload for its options updates `param` and returns nothing, or
/// returns the gradient as strided, which the rule then takes. Other optimizers refuse sparse gradients.
template <class Options>
Tensor take_sparse(Optimizer&, const Options&, const Tensor& /*param*/, const Tensor& grad) {
  return grad;
}

template <class Rule>
bool same_numbers(Rule a, Rule b) {
  __builtin_clear_padding(&a), __builtin_clear_padding(&b);
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// A recorded update has the options that the group has when it is replayed: a scheduler may have changed them.
template <class Options, class Rule, class Make>
void follow_options(const OptimizerParamGroup& group, const GroupRule<Rule>& with, const Make& make) {
  using hb::capture::Numbers;
  hb::capture::Recorder* const recorder = hb::capture::recorder();
  if (!recorder) return;
  // The options stay where they are when groups move.
  recorder->follow([options = &group.options(), flags = with.flags, maximize = with.maximize, make](
                       hb::capture::Call& call, Numbers numbers) {
    using Update = hb::capture::CallOf<const UpdateCall&, ArrayRef<UpdateTensor>, const Rule&>;
    Rule& rule = std::get<2>(static_cast<Update&>(call).kept).value;
    const GroupRule<Rule> now = make(static_cast<const Options&>(*options));
    if (now.flags != flags || now.maximize != maximize) return false;
    if (numbers == Numbers::compare) return same_numbers(now.rule, rule);
    rule = now.rule;
    return true;
  });
}

/// Lets a recorded step know where its parameters and states are others than it found.
template <class Options, class State, class Refs>
void follow_states(Optimizer& optimizer, const std::vector<Tensor>& grads, const Refs& refs) {
  hb::capture::Recorder* const recorder = hb::capture::recorder();
  if (!recorder) return;
  const auto found = std::make_shared<FoundState>(optimizer);
  size_t at = 0;
  for (const auto& group : optimizer.param_groups()) {
    const auto& options = static_cast<const Options&>(group.options());
    found->add_group(group);
    for (const auto& p : group.params()) {
      found->add_param(p, grads[at++]);
      const auto state = optimizer.state().find(p.unsafeGetTensorImpl());
      if (state == optimizer.state().end()) continue;
      const StateRefs of_param = refs(options, static_cast<State&>(*state->second), p);
      found->add_state(*state->second, of_param.tensors, UpdateTensor::kMaxStates);
    }
  }
  recorder->depends([found] { return found->differs(); });
}

/// All groups of a fused_step.
template <class Options, class State, class Rule, class Make, class Refs, class Keeps>
void update_groups(Optimizer& optimizer, const UpdateKernel<Rule>& kernel, const std::vector<Tensor>& grads,
                   const Make& make, const Refs& refs, const Keeps& keeps) {
  size_t at = 0;
  for (auto& group : optimizer.param_groups()) {
    const auto& options = static_cast<const Options&>(group.options());
    const GroupRule<Rule> with = make(options);
    UpdateBatches batches(kernel.name(), optimizer);
    std::vector<Tensor> strided;  // gradients made of sparse ones: the batches hold addresses
    for (const auto& p : group.params()) {
      const Tensor& given = grads[at++];
      if (HB_UNLIKELY(given.is_sparse())) strided.push_back(take_sparse(optimizer, options, p, given));
      const Tensor& grad = given.is_sparse() ? strided.back() : given;
      if (!grad.defined()) continue;
      const bool state = keeps(options) || (optimizer.uses_master_weights() && is_half_type(p.scalar_type()));
      if (state) {
        auto& kept = state_of<State>(optimizer.state(), p);
        batches.add(p, grad, &kept, refs(options, kept, p), with.flags, with.maximize);
      } else {
        batches.add(p, grad, nullptr, {}, with.flags, with.maximize);
      }
    }
    batches.run([&](const UpdateCall& call, ArrayRef<UpdateTensor> tensors, const Device& device) {
      kernel(device)(call, tensors, with.rule);
      if (HB_UNLIKELY(hb::capture::any_recording())) follow_options<Options>(group, with, make);
    });
  }
}

/// The step of an optimizer that follows one rule. `make(options)` gives a group's GroupRule, `refs(options, state,
/// param)` the StateRefs of one parameter; `keeps(options)` says whether there is any state to keep.
template <class Options, class State, class Rule, class Make, class Refs, class Keeps>
Tensor fused_step(Optimizer& optimizer, const UpdateKernel<Rule>& kernel, const std::vector<Tensor>& grads,
                  const Optimizer::LossClosure& closure, const Make& make, const Refs& refs, const Keeps& keeps) {
  return whole_step(kernel.name(), optimizer, grads, closure, [&] {
    hb::ops::settle_all(grads);
    update_groups<Options, State>(optimizer, kernel, grads, make, refs, keeps);
    if (HB_UNLIKELY(hb::capture::any_recording())) follow_states<Options, State>(optimizer, grads, refs);
    for (auto& group : optimizer.param_groups()) hb::ops::refresh_reordered_weights(group.params());
  });
}
template <class Options, class State, class Rule, class Make, class Refs>
Tensor fused_step(Optimizer& optimizer, const UpdateKernel<Rule>& kernel, const std::vector<Tensor>& grads,
                  const Optimizer::LossClosure& closure, const Make& make, const Refs& refs) {
  return fused_step<Options, State>(optimizer, kernel, grads, closure, make, refs, [](const Options&) { return true; });
}

}  // namespace hb::bridge::optim
