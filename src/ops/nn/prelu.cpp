// prelu: a slope of its own for negative elements, one for all channels or one for each.
#include <vector>

#include <halfbridge/ops.h>
#include <halfbridge/ops/gradients.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb {

Tensor prelu(const Tensor& self, const Tensor& weight) {
  HB_AUTOCAST(prelu, half, half, self, weight);
  HB_CHECK_SUPPORTED(self.is_floating_point(), "[prelu] not implemented for '", toString(self.scalar_type()),
                     "': expected a floating tensor");
  HB_CHECK(self.scalar_type() == weight.scalar_type(), "[prelu] expected a weight of dtype ",
           toString(self.scalar_type()), ", got ", toString(weight.scalar_type()));
  HB_CHECK(weight.dim() <= 1, "[prelu] Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  Tensor slope = weight;
  if (weight.numel() != 1) {
    HB_CHECK(self.dim() > 0, "[prelu] Not allow zero-dim input tensor.");
    const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
    HB_CHECK(weight.numel() == channels,
             "[prelu] Mismatch of parameter numbers and input channel size. Found parameter numbers = ", weight.numel(),
             " and channel size = ", channels);
    std::vector<int64_t> shape(self.dim(), 1);
    shape[1] = channels;
    slope = weight.reshape(shape);
  } else {
    slope = weight.reshape(IntArrayRef());
  }
  return _prelu_kernel(self, slope);
}

Tensor _prelu_kernel(const Tensor& self, const Tensor& weight) {
  Tensor out = ops::floating_op("prelu", prelu_formula, {self, weight});
  if (needs_grad(self, weight))
    record("PreluKernelBackward0", out, {&self, &weight}, {SavedTensor::input(self), SavedTensor::input(weight)},
           [](Backward& b, auto& s) -> variable_list {
             const auto [dx, dw] = _prelu_kernel_backward(b.grad(), s[0], s[1]);
             return {dx, dw};
           });
  return out;
}
TensorTuple2 _prelu_kernel_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight) {
  if (!needs_grad(grad_output, self, weight))
    return {ops::floating_op("prelu_backward", prelu_backward_formula, {grad_output, self, weight}),
            ops::floating_op("prelu_backward", prelu_slope_backward_formula, {grad_output, self})};
  const Tensor positive = self > 0;
  const auto part = [&](const Tensor& t) { return named("PreluKernelBackwardBackward0", t, grad_output); };
  return {part(where(positive, grad_output, weight * grad_output)),
          part(where(positive, Scalar(0), self * grad_output))};
}

}  // namespace hb
