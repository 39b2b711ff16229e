#pragma once
// How an optimizer's step reaches the update kernels.

#include <vector>

#include <halfbridge/bridge/optim/optimizer.h>
#include <halfbridge/grad_mode.h>

#include "kernels/optim.h"

namespace hb::bridge::optim {

inline Tensor evaluate(const Optimizer::LossClosure& closure) {
  if (!closure) return {};
  AutoGradMode enable_grad(true);
  return closure();
}

/// The state of a parameter; made, and `fresh` set, at the parameter's first step.
template <class State>
State& state_of(Optimizer::StateMap& states, const Tensor& param, bool& fresh) {
  auto& slot = states[param.unsafeGetTensorImpl()];
  fresh = slot == nullptr;
  if (fresh) slot = std::make_unique<State>();
  return static_cast<State&>(*slot);
}

/// Zeros in the parameter's layout.
Tensor zero_state(const Tensor& param);

/// The parameters of one step: brings each with its gradient and state into one dense layout, which nearly always they
/// have, and puts back afterwards what had to be copied.
class StepTensors {
 public:
  explicit StepTensors(const char* name) : name_(name) {}
  /// States may be fewer than UpdateTensor::kMaxStates, and null where they are not used.
  UpdateTensor add(const Tensor& param, const Tensor& grad, std::initializer_list<Tensor*> states);
  void finish();

 private:
  struct Copy {
    Tensor original, copy;
  };
  UpdateTensor stage(const Tensor& param, const Tensor& grad, std::initializer_list<Tensor*> states);
  void check(const Tensor& param, const Tensor& other, const char* what) const;

  const char* name_;
  std::vector<Copy> written_;
  std::vector<Tensor> kept_;
};

/// Collects the parameters of a group and updates all that follow the same rule together, in one pass over memory.
///   UpdateBatches<AdamRule> batches(adam_update);
///   batches.add(p, p.grad(), {&m, &v}, flags, step, [&] { return AdamRule{...}; });
///   batches.run();
template <class Rule>
class UpdateBatches {
 public:
  explicit UpdateBatches(const UpdateKernel<Rule>& kernel) : kernel_(kernel), tensors_(kernel.name()) {
    for (auto& batch : batches()) batch.tensors.clear();
  }
  /// `step` numbers the rules: `make_rule` is called once for each.
  template <class MakeRule>
  void add(const Tensor& param, const Tensor& grad, std::initializer_list<Tensor*> states, unsigned flags, int64_t step,
           const MakeRule& make_rule) {
    const UpdateTensor tensor = tensors_.add(param, grad, states);
    batch(param, flags, step, make_rule).push_back(tensor);
  }
  void run() {
    for (size_t i = 0; i < used_; ++i) {
      const Batch& b = batches()[i];
      kernel_(b.device)(b.dtype, b.tensors, b.rule, b.flags);
    }
    tensors_.finish();
  }

 private:
  struct Batch {
    Device device = kCPU;
    ScalarType dtype = kFloat;
    unsigned flags = 0;
    int64_t step = 0;
    Rule rule{};
    std::vector<UpdateTensor> tensors;
  };
  // Kept between steps, so that a step allocates nothing.
  static std::vector<Batch>& batches() {
    static thread_local std::vector<Batch> kept;
    return kept;
  }
  template <class MakeRule>
  std::vector<UpdateTensor>& batch(const Tensor& param, unsigned flags, int64_t step, const MakeRule& make_rule) {
    auto& all = batches();
    const ScalarType dtype = param.scalar_type();
    for (size_t i = 0; i < used_; ++i) {
      Batch& b = all[i];
      if (b.dtype == dtype && b.flags == flags && b.step == step && b.device == param.device()) return b.tensors;
    }
    if (used_ == all.size()) all.emplace_back();
    Batch& b = all[used_++];
    b.device = param.device(), b.dtype = dtype, b.flags = flags, b.step = step, b.rule = make_rule();
    return b.tensors;
  }

  const UpdateKernel<Rule>& kernel_;
  StepTensors tensors_;
  size_t used_ = 0;
};

}  // namespace hb::bridge::optim
