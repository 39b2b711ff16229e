#include "backend/softmax.h"

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"

namespace hb {
namespace {

int64_t checked_dim(const char* name, const Tensor& t, int64_t dim) {
  const int64_t n = std::max<int64_t>(t.dim(), 1);
  HB_CHECK_INDEX(dim >= -n && dim < n, "[", name, "] Dimension out of range (expected to be in range of [", -n, ", ",
                 n - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + n : dim;
}

SoftmaxShape shape_along(const Tensor& t, int64_t dim) {
  SoftmaxShape s{1, t.dim() ? t.size(dim) : 1, 1};
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (d < dim) s.outer *= t.size(d);
    if (d > dim) s.inner *= t.size(d);
  }
  return s;
}

Tensor softmax_gradient(const Tensor& grad, const Tensor& output, int64_t dim, bool log) {
  const char* name = log ? "log_softmax_backward" : "softmax_backward";
  dim = checked_dim(name, output, dim);
  if (GradMode::is_enabled() && (grad.requires_grad() || output.requires_grad())) {
    if (log) return named("LogSoftmaxBackwardDataBackward0", grad - output.exp() * grad.sum(dim, true), grad);
    return named("SoftmaxBackwardDataBackward0", (grad - (grad * output).sum(dim, true)) * output, grad);
  }
  const Tensor g = grad.contiguous(), y = output.contiguous();
  Tensor out = empty(y.sizes(), y.options());
  if (out.numel())
    softmax_backward_kernel(y.device())(y.scalar_type(), shape_along(y, dim), log, out.impl().visible_data(),
                                        g.impl().visible_data(), y.impl().visible_data());
  return out;
}

Tensor softmax_any(const char* name, const char* node, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype,
                   bool log) {
  dim = checked_dim(name, self, dim);
  Tensor x = dtype ? self.to(*dtype) : self;
  if (!is_floating_type(x.scalar_type())) {
    HB_CHECK(!dtype, "[", name, "] expected a floating dtype, got ", *dtype);
    HB_NOT_SUPPORTED("[", name, "] not implemented for '", x.scalar_type(), "'; give a floating dtype");
  }
  const Tensor in = x.contiguous();
  Tensor out = empty(x.sizes(), x.options());
  if (out.numel())
    softmax_kernel(x.device())(x.scalar_type(), shape_along(x, dim), log, out.impl().visible_data(),
                               in.impl().visible_data());
  if (needs_grad(x)) {
    record(node, out, {&x}, {SavedTensor::output(out)},
           [dim, log](Backward& b, auto& s) -> variable_list { return {softmax_gradient(b.grad(), s[0], dim, log)}; });
  }
  return out;
}

}  // namespace

Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  HB_AUTOCAST(softmax, as_is, fp32_dtype, self, dim, dtype);
  return softmax_any("softmax", "SoftmaxBackward0", self, dim, dtype, false);
}
Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  HB_AUTOCAST(log_softmax, as_is, fp32_dtype, self, dim, dtype);
  return softmax_any("log_softmax", "LogSoftmaxBackward0", self, dim, dtype, true);
}
Tensor softmax_backward(const Tensor& grad, const Tensor& output, int64_t dim) {
  return softmax_gradient(grad, output, dim, false);
}
Tensor log_softmax_backward(const Tensor& grad, const Tensor& output, int64_t dim) {
  return softmax_gradient(grad, output, dim, true);
}

}  // namespace hb
