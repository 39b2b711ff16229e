// Losses of pairs of numbers, computed and summed in one pass.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "backend/loss.h"
#include "ops/common/join_devices.h"
#include "ops/common/layout.h"
#include "ops/common/or_undefined.h"
#include "ops/reduction/reduction.h"

namespace hb {
namespace {

// d between -limit and limit. On the edge it does not follow d: PyTorch's second derivative is 0 there.
Tensor limited(const Tensor& d, double limit) { return where(d.abs() < limit, d, d.sign() * limit); }

// The derivative with respect to a, in terms that can be differentiated again.
Tensor slope(PairLoss kind, const Tensor& a, const Tensor& b, double param) {
  switch (kind) {
    case PairLoss::mse:
      return (a - b) * 2;
    case PairLoss::l1:
      return (a - b).sign();
    case PairLoss::smooth_l1:
      return limited(a - b, param) / param;
    case PairLoss::huber:
      return limited(a - b, param);
    case PairLoss::bce:
      return (a - b) / ((1 - a) * a).clamp_min(1e-12);
    case PairLoss::bce_logits:
      return a.sigmoid() - b;
  }
  return {};
}

// The derivative with respect to the target.
Tensor target_slope(PairLoss kind, const Tensor& a, const Tensor& b, double param) {
  switch (kind) {
    case PairLoss::bce:
      return (1 - a).log().clamp_min(-100) - a.log().clamp_min(-100);
    case PairLoss::bce_logits:
      return -a;
    default:
      return -slope(kind, a, b, param);
  }
}

/// What the node of the first gradient is called; null where LibTorch composes it.
const char* node_of_gradient(PairLoss kind) {
  switch (kind) {
    case PairLoss::mse:
      return "MseLossBackwardBackward0";
    case PairLoss::smooth_l1:
      return "SmoothL1LossBackwardBackward0";
    case PairLoss::huber:
      return "HuberLossBackwardBackward0";
    case PairLoss::bce:
      return "BinaryCrossEntropyBackwardBackward0";
    default:
      return nullptr;
  }
}

std::optional<double> scale_of(int64_t reduction, int64_t n) {
  if (reduction == loss_reduction::None) return std::nullopt;
  return reduction == loss_reduction::Mean ? 1.0 / static_cast<double>(n) : 1.0;
}

variable_list gradients(Backward& b, PairLoss kind, double param, int64_t reduction, const Tensor& x, const Tensor& y) {
  const Tensor& g = b.grad();
  const auto scale = scale_of(reduction, x.numel());
  Tensor dx, dy;
  const bool of_difference = kind != PairLoss::bce && kind != PairLoss::bce_logits;  // then dy is -dx
  const bool fused_dy = b.needs(1) && of_difference && !GradMode::is_enabled();
  if (b.needs(1) && !fused_dy)
    dy = g * (scale ? target_slope(kind, x, y, param) * *scale : target_slope(kind, x, y, param));
  if (!b.needs(0) && !fused_dy) return {dx, dy};
  if (GradMode::is_enabled()) {
    dx = g * (scale ? slope(kind, x, y, param) * *scale : slope(kind, x, y, param));
    const char* node = node_of_gradient(kind);
    return {node ? named(node, dx, g) : dx, dy};
  }
  dx = ops::empty_in_order_of(x, x.scalar_type());
  const Tensor a = ops::in_order_of(dx, x), t = ops::in_order_of(dx, y), grad = scale ? g : ops::in_order_of(dx, g);
  if (dx.numel())
    pair_loss_backward_kernel(x.device())(x.scalar_type(), kind, param, dx.numel(), scale ? &*scale : nullptr,
                                          dx.impl().visible_data(), grad.impl().visible_data(), a.impl().visible_data(),
                                          t.impl().visible_data());
  if (fused_dy) dy = -dx;
  return {dx, dy};
}

Tensor pair_loss(const char* name, const char* node, PairLoss kind, const Tensor& self, const Tensor& target,
                 int64_t reduction, double param) {
  Tensor x = self, y = target;
  ops::join_devices(x, y);
  if (kind == PairLoss::bce && x.sizes() != y.sizes()) {
    // As LibTorch's function (that of nn::functional checks): dimensions of size one do not count.
    const Tensor values = y.squeeze();
    HB_CHECK(broadcast_shapes(x.squeeze().sizes(), values.sizes()) == x.squeeze().sizes().vec(), "[", name,
             "] expected a target that broadcasts to the shape of the input, got ", y.sizes(), " and ", x.sizes());
    y = values.expand(x.squeeze().sizes()).reshape(x.sizes());
  }
  if (x.sizes() != y.sizes()) {
    const auto both = broadcast_tensors({x, y});
    x = both[0], y = both[1];
  }
  const ScalarType dtype = result_type(self, target);
  HB_CHECK_SUPPORTED(is_floating_type(dtype), "[", name, "] expected floating operands, got ", x.scalar_type(), " and ",
                     y.scalar_type());
  x = x.to(dtype), y = y.to(dtype);
  const auto scale = scale_of(reduction, x.numel());
  Tensor out = scale ? empty({}, x.options()) : ops::empty_in_order_of(x, dtype);
  {
    const Tensor a = scale ? x.detach().contiguous() : ops::in_order_of(out, x),
                 t = scale ? y.detach().contiguous() : ops::in_order_of(out, y);
    pair_loss_kernel(x.device())(dtype, kind, param, x.numel(), scale ? &*scale : nullptr, out.impl().visible_data(),
                                 a.impl().visible_data(), t.impl().visible_data());
  }
  if (needs_grad(x, y)) {
    record(node, out, {&x, &y}, {SavedTensor::input(x), SavedTensor::input(y)},
           [=](Backward& b, auto& s) -> variable_list { return gradients(b, kind, param, reduction, s[0], s[1]); });
  }
  return out;
}

}  // namespace

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  HB_AUTOCAST(mse_loss, fp32, fp32, self, target, reduction);
  return pair_loss("mse_loss", "MseLossBackward0", PairLoss::mse, self, target, reduction, 0);
}
Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  HB_AUTOCAST(l1_loss, fp32, fp32, self, target, reduction);
  if (!is_floating_type(result_type(self, target))) return ops::reduce_loss((self - target).abs(), reduction);
  return pair_loss("l1_loss", "L1LossBackward0", PairLoss::l1, self, target, reduction, 0);
}
Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  HB_AUTOCAST(smooth_l1_loss, fp32, fp32, self, target, reduction, beta);
  HB_CHECK(beta >= 0, "[smooth_l1_loss] smooth_l1_loss does not support negative values for beta. Got ", beta);
  HB_CHECK_SUPPORTED(is_floating_type(result_type(self, target)), "[smooth_l1_loss] expected floating operands, got ",
                     self.scalar_type(), " and ", target.scalar_type());
  if (beta == 0) return l1_loss(self, target, reduction);
  return pair_loss("smooth_l1_loss", "SmoothL1LossBackward0", PairLoss::smooth_l1, self, target, reduction, beta);
}
Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  HB_AUTOCAST(huber_loss, fp32, fp32, self, target, reduction, delta);
  HB_CHECK(delta > 0, "[huber_loss] huber_loss does not support non-positive values for delta. Got ", delta);
  return pair_loss("huber_loss", "HuberLossBackward0", PairLoss::huber, self, target, reduction, delta);
}

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight_or_none,
                            int64_t reduction) {
  const Tensor& weight = or_undefined(weight_or_none);
  HB_AUTOCAST(binary_cross_entropy, fp32, banned, self, target, weight, reduction);
  HB_CHECK(self.scalar_type() == target.scalar_type(),
           "[binary_cross_entropy] expected input and target of the same dtype, got ", self.scalar_type(), " and ",
           target.scalar_type());
  if (self.numel() > 0 && !self.is_cuda()) {  // there the kernel tells of it, and the host does not wait
    NoGradGuard guard;
    // A call of a kernel: a captured step looks again at each replay.
    const auto check = [](const Tensor& values, const char* what) {
      const auto [least, most] = aminmax(values);
      check_unit_range_kernel(kCPU)(least.cpu().to(kDouble), most.cpu().to(kDouble), what);
    };
    check(self.detach(), "input");
    if (target.numel() > 0) check(target.detach(), "target");
  }
  const bool weighted = weight.defined();
  const Tensor loss = pair_loss("binary_cross_entropy", "BinaryCrossEntropyBackward0", PairLoss::bce, self, target,
                                weighted ? int64_t{loss_reduction::None} : reduction, 0);
  return weighted ? ops::reduce_loss(loss * weight, reduction) : loss;
}

Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                        const std::optional<Tensor>& weight_or_none,
                                        const std::optional<Tensor>& pos_weight_or_none, int64_t reduction) {
  const Tensor& weight = or_undefined(weight_or_none);
  const Tensor& pos_weight = or_undefined(pos_weight_or_none);
  HB_AUTOCAST(binary_cross_entropy_with_logits, fp32, fp32, self, target, weight, pos_weight, reduction);
  if (!pos_weight.defined()) {
    const bool weighted = weight.defined();
    const Tensor loss =
        pair_loss("binary_cross_entropy_with_logits", "BinaryCrossEntropyWithLogitsBackward0", PairLoss::bce_logits,
                  self, target, weighted ? int64_t{loss_reduction::None} : reduction, 0);
    return weighted ? ops::reduce_loss(loss * weight, reduction) : loss;
  }
  Tensor loss = (1 - target) * self - ((pos_weight - 1) * target + 1) * log_sigmoid(self);
  if (weight.defined()) loss = loss * weight;
  return ops::reduce_loss(loss, reduction);
}

}  // namespace hb
