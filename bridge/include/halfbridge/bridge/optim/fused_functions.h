#pragma once
// One step of an optimizer over lists of tensors, in one pass over memory, as optimizers of one's own use it: the
// update of Adam, AdamW, SGD and Adagrad with the state in tensors that the caller holds. LibTorch's names and order of
// arguments.
//
// `self` are the parameters, changed in place, as are the lists of states; each list has a tensor for each parameter,
// of its shape. `state_steps` has tensors of one element: the number of this step, from 1, which the caller counts.
// `grad_scale`: gradients are divided by it, in place. `found_inf`: where it is not zero nothing is changed. A learning
// rate that is a tensor is read on the host.

#include <optional>

#include <halfbridge/tensor.h>

namespace hb::bridge {
inline namespace api {

HB_API void _fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                         TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2,
                         double weight_decay, double eps, bool amsgrad, bool maximize,
                         const std::optional<Tensor>& grad_scale = {}, const std::optional<Tensor>& found_inf = {});
HB_API void _fused_adam_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                         TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1,
                         double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                         const std::optional<Tensor>& grad_scale = {}, const std::optional<Tensor>& found_inf = {});
/// With decoupled weight decay.
HB_API void _fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                          TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2,
                          double weight_decay, double eps, bool amsgrad, bool maximize,
                          const std::optional<Tensor>& grad_scale = {}, const std::optional<Tensor>& found_inf = {});
HB_API void _fused_adamw_(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,
                          TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1,
                          double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
                          const std::optional<Tensor>& grad_scale = {}, const std::optional<Tensor>& found_inf = {});
/// `momentum_buffer_list` is empty, or has the buffers, which the first step fills.
HB_API void _fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay,
                        double momentum, double lr, double dampening, bool nesterov, bool maximize, bool is_first_step,
                        const std::optional<Tensor>& grad_scale = {}, const std::optional<Tensor>& found_inf = {});
HB_API void _fused_sgd_(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay,
                        double momentum, const Tensor& lr, double dampening, bool nesterov, bool maximize,
                        bool is_first_step, const std::optional<Tensor>& grad_scale = {},
                        const std::optional<Tensor>& found_inf = {});
HB_API void _fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps, double lr,
                            double lr_decay, double weight_decay, double eps, bool maximize,
                            const std::optional<Tensor>& grad_scale = {}, const std::optional<Tensor>& found_inf = {});
HB_API void _fused_adagrad_(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps,
                            const Tensor& lr, double lr_decay, double weight_decay, double eps, bool maximize,
                            const std::optional<Tensor>& grad_scale = {}, const std::optional<Tensor>& found_inf = {});

}  // namespace api
}  // namespace hb::bridge
