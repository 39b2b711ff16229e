// Gradients of losses that are asked for by name, and the forward functions that they belong to.
#include <halfbridge/ops/gradients.h>

#include <halfbridge/error.h>

#include "ops/nn/gradient_of.h"

namespace hb {

using ops::gradient_of;

Tensor mse_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction) {
  return gradient_of(
      "MseLossBackwardBackward0", grad_output, self, [&](const Tensor& x) { return mse_loss(x, target, reduction); },
      needs_grad(target));
}
Tensor smooth_l1_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction,
                               double beta) {
  return gradient_of(
      "SmoothL1LossBackwardBackward0", grad_output, self,
      [&](const Tensor& x) { return smooth_l1_loss(x, target, reduction, beta); }, needs_grad(target));
}
Tensor huber_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction,
                           double delta) {
  return gradient_of(
      "HuberLossBackwardBackward0", grad_output, self,
      [&](const Tensor& x) { return huber_loss(x, target, reduction, delta); }, needs_grad(target));
}
Tensor binary_cross_entropy_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                     const std::optional<Tensor>& weight, int64_t reduction) {
  return gradient_of(
      "BinaryCrossEntropyBackwardBackward0", grad_output, self,
      [&](const Tensor& x) { return binary_cross_entropy(x, target, weight, reduction); }, needs_grad(target));
}

Tensor soft_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                 int64_t reduction) {
  return gradient_of("SoftMarginLossBackwardBackward0", grad_output, self,
                     [&](const Tensor& x) { return soft_margin_loss(x, target, reduction); });
}
Tensor multi_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Scalar& p,
                                  const Scalar& margin, const std::optional<Tensor>& weight, int64_t reduction) {
  return gradient_of("MultiMarginLossBackwardBackward0", grad_output, self,
                     [&](const Tensor& x) { return multi_margin_loss(x, target, p, margin, weight, reduction); });
}
TensorTuple2 multilabel_margin_loss_forward(const Tensor& self, const Tensor& target, int64_t reduction) {
  const Tensor loss = multilabel_margin_loss(self, target, reduction);
  const Tensor rows = target.dim() < 2 ? target.reshape({1, -1}) : target;
  // Labels stand before the first negative entry.
  const Tensor counts = rows.lt(0).to(kLong).cumsum(1).eq(0);
  const Tensor is_target =
      zeros(rows.sizes(), self.options().requires_grad(false))
          .scatter_add(1, rows.masked_fill(counts.logical_not(), 0), counts.to(self.scalar_type()));
  return {loss, is_target.gt(0).to(self.scalar_type()).reshape(target.sizes())};
}
Tensor multilabel_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                       int64_t reduction, const Tensor& /*is_target*/) {
  return gradient_of("MultilabelMarginLossBackwardBackward0", grad_output, self,
                     [&](const Tensor& x) { return multilabel_margin_loss(x, target, reduction); });
}

namespace {
/// The sum of the weights of the targets that count.
Tensor total_weight_of(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                       int64_t ignore_index) {
  const Tensor counts = target.ne(ignore_index);
  if (!weight || !weight->defined()) return counts.sum().to(self.scalar_type());
  const Tensor places = target.masked_select(counts).to(kLong);
  return weight->detach().index_select(0, places).sum().to(self.scalar_type());
}
template <class Loss>
TensorTuple2 nll_forward(const Loss& loss, const Tensor& self, const Tensor& target,
                         const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index) {
  Tensor output = loss(self, target, weight, reduction, ignore_index);
  if (reduction == loss_reduction::None) return {output, zeros({}, self.options().requires_grad(false))};
  return {output, total_weight_of(self, target, weight, ignore_index)};
}
/// Of a mean it is that of the sum, divided by what the caller says.
template <class Loss>
Tensor nll_backward(const char* node, const Loss& loss, const Tensor& grad, const Tensor& self, const Tensor& target,
                    const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
                    const Tensor& total_weight) {
  const bool mean = reduction == loss_reduction::Mean;
  return gradient_of(node, mean ? grad / total_weight : grad, self, [&](const Tensor& x) {
    return loss(x, target, weight, mean ? int64_t{loss_reduction::Sum} : reduction, ignore_index);
  });
}
}  // namespace

TensorTuple2 nll_loss_forward(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                              int64_t reduction, int64_t ignore_index) {
  return nll_forward(nll_loss, self, target, weight, reduction, ignore_index);
}
Tensor nll_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                         const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
                         const Tensor& total_weight) {
  return nll_backward("NllLossBackwardBackward0", nll_loss, grad_output, self, target, weight, reduction, ignore_index,
                      total_weight);
}
TensorTuple2 nll_loss2d_forward(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                                int64_t reduction, int64_t ignore_index) {
  return nll_forward(nll_loss2d, self, target, weight, reduction, ignore_index);
}
Tensor nll_loss2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                           const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
                           const Tensor& total_weight) {
  return nll_backward("NllLoss2DBackwardBackward0", nll_loss2d, grad_output, self, target, weight, reduction,
                      ignore_index, total_weight);
}

}  // namespace hb
