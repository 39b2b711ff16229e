#include <halfbridge/bridge/optim/fused_functions.h>

#include <deque>

#include <halfbridge/ops.h>
#include <halfbridge/ops/foreach.h>

#include "checks.h"
#include "step.h"

namespace hb::bridge {
inline namespace api {
namespace {

using optim::flag_if;

/// The lists of a call, as update kernels take them.
class FusedLists {
 public:
  FusedLists(const char* name, TensorList self, TensorList grads, const std::optional<Tensor>& grad_scale,
             const std::optional<Tensor>& found_inf)
      : name_(name), self_(self), grads_(grads), found_inf_(found_inf.value_or(Tensor())) {
    check_length(grads, "gradients");
    HB_CHECK(!found_inf_.defined() || (found_inf_.scalar_type() == kFloat && found_inf_.numel() == 1), "[", name_,
             "] expected found_inf to be one element of float, got ", found_inf_.toString(), " of sizes ",
             found_inf_.sizes());
    if (!grad_scale || !grad_scale->defined()) return;
    // What the caller sees of the gradients is unscaled too, unless the step is left out.
    const Tensor scale = grad_scale->reshape({});
    _foreach_div_(grads_, found_inf_.defined() ? where(found_inf_.reshape({}) == 0, scale, ones_like(scale)) : scale);
  }

  void add_states(TensorList states, const char* what) {
    check_length(states, what);
    states_.push_back(states);
  }
  /// `number(i)`: an int64 on the device of parameter i, how many steps were made before this one.
  template <class Rule, class Count>
  void update(const UpdateKernel<Rule>& kernel, const Rule& rule, unsigned flags, bool maximize, const Count& number) {
    const Tensor no_scale;
    optim::UpdateBatches batches(name_, optim::StepScaling{false, no_scale, found_inf_});
    std::deque<optim::StepCounter> counters;  // the batches hold addresses
    std::vector<Tensor> states(states_.size() * self_.size());
    for (size_t i = 0; i < self_.size(); ++i) {
      optim::StateRefs refs;
      for (size_t s = 0; s < states_.size(); ++s) {
        Tensor& state = states[i * states_.size() + s] = states_[s][i];
        HB_CHECK(state.defined(), "[", name_, "] expected a state for each parameter, got an undefined tensor");
        refs.tensors[s] = &state;
      }
      refs.step = &counters.emplace_back(number(i));
      batches.add(self_[i], grads_[i], nullptr, refs, flags, maximize);
    }
    batches.run([&](const UpdateCall& call, ArrayRef<UpdateTensor> tensors, const Device& device) {
      kernel(device)(call, tensors, rule);
    });
    ops::refresh_reordered_weights(self_.vec());
  }

  /// From numbers of this step, which the caller has counted.
  auto counted(TensorList state_steps) {
    check_length(state_steps, "state_steps");
    return [this, state_steps](size_t i) {
      HB_CHECK(state_steps[i].numel() == 1, "[", name_, "] expected state_steps of one element each, got shape ",
               state_steps[i].sizes());
      return state_steps[i].to(self_[i].device(), kLong).sub(1);
    };
  }

 private:
  void check_length(TensorList list, const char* what) const {
    HB_CHECK(list.size() == self_.size(), "[", name_, "] expected as many ", what, " as parameters, ", self_.size(),
             ", got ", list.size());
  }

  const char* name_;
  TensorList self_, grads_;
  Tensor found_inf_;
  std::vector<TensorList> states_;
};

void adam(const char* name, unsigned decay, TensorList self, TensorList grads, TensorList exp_avgs,
          TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, const AdamRule& rule,
          bool amsgrad, bool maximize, const std::optional<Tensor>& grad_scale,
          const std::optional<Tensor>& found_inf) {
  NoGradGuard no_grad;
  FusedLists lists(name, self, grads, grad_scale, found_inf);
  lists.add_states(exp_avgs, "exp_avgs");
  lists.add_states(exp_avg_sqs, "exp_avg_sqs");
  if (amsgrad) lists.add_states(max_exp_avg_sqs, "max_exp_avg_sqs");
  const unsigned flags = flag_if(rule.weight_decay != 0, decay) | flag_if(amsgrad, AdamRule::kAmsgrad);
  lists.update(adam_update, rule, flags, maximize, lists.counted(state_steps));
}

}  // namespace

void _fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                  TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2,
                  double weight_decay, double eps, bool amsgrad, bool maximize, const std::optional<Tensor>& grad_scale,
                  const std::optional<Tensor>& found_inf) {
  adam("_fused_adam_", AdamRule::kDecay, self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
       {lr, beta1, beta2, eps, weight_decay}, amsgrad, maximize, grad_scale, found_inf);
}
void _fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                  TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1, double beta2,
                  double weight_decay, double eps, bool amsgrad, bool maximize, const std::optional<Tensor>& grad_scale,
                  const std::optional<Tensor>& found_inf) {
  _fused_adam_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr.item<double>(), beta1, beta2,
               weight_decay, eps, amsgrad, maximize, grad_scale, found_inf);
}
void _fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                   TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2,
                   double weight_decay, double eps, bool amsgrad, bool maximize,
                   const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  adam("_fused_adamw_", AdamRule::kDecoupled, self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
       {lr, beta1, beta2, eps, weight_decay}, amsgrad, maximize, grad_scale, found_inf);
}
void _fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                   TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1, double beta2,
                   double weight_decay, double eps, bool amsgrad, bool maximize,
                   const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  _fused_adamw_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr.item<double>(), beta1, beta2,
                weight_decay, eps, amsgrad, maximize, grad_scale, found_inf);
}

void _fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay,
                 double momentum, double lr, double dampening, bool nesterov, bool maximize, bool is_first_step,
                 const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  NoGradGuard no_grad;
  FusedLists lists("_fused_sgd_", self, grads, grad_scale, found_inf);
  const bool buffers = momentum != 0 && !momentum_buffer_list.empty();
  if (buffers) lists.add_states(momentum_buffer_list, "momentum buffers");
  const unsigned flags = flag_if(weight_decay != 0, SgdRule::kWeightDecay) | flag_if(buffers, SgdRule::kMomentum) |
                         flag_if(buffers && nesterov, SgdRule::kNesterov);
  lists.update(sgd_update, SgdRule{lr, momentum, dampening, weight_decay}, flags, maximize, [&](size_t i) {
    return full({}, is_first_step ? 0 : 1, TensorOptions(kLong).device(self[i].device()));
  });
}
void _fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay,
                 double momentum, const Tensor& lr, double dampening, bool nesterov, bool maximize, bool is_first_step,
                 const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  _fused_sgd_(self, grads, momentum_buffer_list, weight_decay, momentum, lr.item<double>(), dampening, nesterov,
              maximize, is_first_step, grad_scale, found_inf);
}

void _fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps, double lr,
                     double lr_decay, double weight_decay, double eps, bool maximize,
                     const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  NoGradGuard no_grad;
  FusedLists lists("_fused_adagrad_", self, grads, grad_scale, found_inf);
  lists.add_states(state_sums, "state_sums");
  lists.update(adagrad_update, AdagradRule{lr, lr_decay, eps, weight_decay},
               flag_if(weight_decay != 0, AdagradRule::kWeightDecay), maximize, lists.counted(state_steps));
}
void _fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps, const Tensor& lr,
                     double lr_decay, double weight_decay, double eps, bool maximize,
                     const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  _fused_adagrad_(self, grads, state_sums, state_steps, lr.item<double>(), lr_decay, weight_decay, eps, maximize,
                  grad_scale, found_inf);
}

}  // namespace api
}  // namespace hb::bridge
