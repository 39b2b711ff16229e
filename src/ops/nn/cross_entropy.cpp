// nll_loss and cross_entropy_loss.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "backend/loss.h"
#include "core/devices.h"
#include "core/empty_contiguous.h"
#include "ops/common/or_undefined.h"
#include "ops/reduction/reduction.h"

namespace hb {
namespace {

int64_t class_dim(const Tensor& x) { return x.dim() == 1 ? 0 : 1; }

/// LibTorch takes a list of one class, too, for logits without a batch.
bool is_list_of_one(const Tensor& x, const Tensor& target) {
  return x.dim() == 1 && target.dim() == 1 && target.size(0) == 1;
}

void check_classes(const char* name, const Tensor& x, const Tensor& target, const Tensor& weight) {
  HB_CHECK(x.dim() >= 1, "[", name, "] expected an input of at least 1 dimension, got ", x.sizes());
  HB_CHECK_SUPPORTED(is_floating_type(x.scalar_type()), "[", name, "] expected a floating input, got ",
                     x.scalar_type());
  if (target.device() != x.device()) detail::fail_two_devices(name, x.device(), target.device());  // a single one
  const int64_t c = class_dim(x);
  bool fits = target.dim() == x.dim() - 1;
  for (int64_t d = 0, t = 0; fits && d < x.dim(); ++d)
    if (d != c) fits = x.size(d) == target.size(t++);
  HB_CHECK_VALUE(fits || x.dim() != 2 || target.dim() != 1, "[", name, "] size mismatch: Expected input batch_size (",
                 x.size(0), ") to match target batch_size (", target.numel(), ").");
  HB_CHECK(fits || x.dim() != 2, "[", name, "] 0D or 1D target tensor expected, multi-target not supported: got input ",
           x.sizes(), " and target ", target.sizes());
  HB_CHECK(fits, "[", name, "] size mismatch (got input: ", x.sizes(), ", target: ", target.sizes(), ")");
  HB_CHECK(target.scalar_type() == kLong || target.scalar_type() == kByte, "[", name,
           "] expected scalar type Long but found ", target.scalar_type(), " for target");
  if (weight.defined())
    HB_CHECK(weight.dim() == 1 && weight.size(0) == x.size(c) && weight.scalar_type() == x.scalar_type(), "[", name,
             "] weight tensor should be defined either for all ", x.size(c), " classes or no classes, in ",
             x.scalar_type(), ", but got weight tensor of shape: ", weight.sizes(), " in ", weight.scalar_type());
}

// Contiguous operands, with what keeps them alive.
struct Operands {
  Tensor x, target, weight, total;
  ClassLoss loss;
  /// `sum`: the total that the forward pass wrote; its own where undefined.
  Operands(const Tensor& input, const Tensor& t, const Tensor& w, int64_t ignore_index, int64_t reduction,
           const Tensor& sum = {}) {
    NoGradGuard guard;
    x = input.detach().contiguous();
    target = t.to(kLong).contiguous();
    if (w.defined()) weight = w.detach().contiguous();
    const int64_t c = class_dim(x);
    loss.classes = x.size(c);
    loss.outer = c == 1 ? x.size(0) : 1;
    for (int64_t d = c + 1; d < x.dim(); ++d) loss.inner *= x.size(d);
    loss.x = x.impl().visible_data(), loss.target = static_cast<const int64_t*>(target.impl().visible_data());
    if (weight.defined()) loss.weight = weight.impl().visible_data();
    loss.ignore_index = ignore_index, loss.reduction = reduction;
    total = sum.defined() ? sum : empty_contiguous({}, kDouble, x.device());
    loss.total = static_cast<double*>(total.impl().raw_data());
  }
};

Tensor loss_result(const Tensor& x, const Tensor& target, int64_t reduction, ScalarType dtype) {
  return empty(reduction == loss_reduction::None ? target.sizes() : IntArrayRef(), x.options().dtype(dtype));
}

Tensor nll_gradient_composed(const Tensor& g, const Tensor& x, const Tensor& target, const Tensor& weight,
                             const Tensor& total, const ClassLoss& l) {
  // -w[target] / total at the target, a constant: the gradient is linear in g.
  Tensor slope;
  {
    NoGradGuard guard;
    Operands o(x, target, weight, l.ignore_index, loss_reduction::None);
    slope = zeros(o.x.sizes(), x.options());
    const Tensor one = ones(target.sizes(), x.options());
    nll_backward_kernel(x.device())(x.scalar_type(), o.loss, slope.impl().visible_data(), one.impl().visible_data());
    if (l.reduction == loss_reduction::Mean) slope = (slope / total).masked_fill(slope == 0, 0);
  }
  // Where no target counts, the mean is NaN and its gradient is zero.
  const Tensor gradient =
      (slope * (l.reduction == loss_reduction::None ? g.unsqueeze(class_dim(x)) : g)).masked_fill(slope == 0, 0);
  const char* node = x.dim() > 2 ? "NllLoss2DBackwardBackward0" : "NllLossBackwardBackward0";
  return named(node, gradient, g);
}

variable_list nll_gradient(Backward& b, const Tensor& x, const Tensor& target, const Tensor& weight,
                           const Tensor& total, const ClassLoss& l) {
  const Tensor& g = b.grad();
  if (GradMode::is_enabled() && g.requires_grad()) return {nll_gradient_composed(g, x, target, weight, total, l)};
  Operands o(x, target, weight, l.ignore_index, l.reduction, total);
  Tensor out = empty(o.x.sizes(), x.options());
  const Tensor grad = g.contiguous();
  if (out.numel())
    nll_backward_kernel(x.device())(x.scalar_type(), o.loss, out.impl().visible_data(), grad.impl().visible_data());
  return {out};
}

Tensor nll_any(const char* name, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
               int64_t ignore_index) {
  if (HB_UNLIKELY(is_list_of_one(self, target)))
    return nll_any(name, self, target.squeeze(0), weight, reduction, ignore_index);
  check_classes(name, self, target, weight);
  Operands o(self, target, weight, ignore_index, reduction);
  Tensor out = loss_result(self, target, reduction, self.scalar_type());
  nll_kernel(self.device())(self.scalar_type(), o.loss, out.impl().visible_data());
  if (needs_grad(self)) {
    ClassLoss l = o.loss;
    l.x = l.weight = nullptr, l.target = nullptr, l.total = nullptr;
    record(
        "NllLossBackward0", out, {&self},
        {SavedTensor::input(self), SavedTensor::input(target), SavedTensor::input(weight), SavedTensor::input(o.total)},
        [l](Backward& b, auto& s) -> variable_list { return nll_gradient(b, s[0], s[1], s[2], s[3], l); });
  }
  return out;
}

// The gradient of logits as a formula that can be differentiated again.
Tensor cross_entropy_composed_gradient(const Tensor& g, const Tensor& x, const Tensor& target, const Tensor& weight,
                                       const Tensor& total, const ClassLoss& l) {
  const int64_t c = class_dim(x);
  Tensor wanted, factor;  // the distribution that the target stands for; the weight of each row
  {
    NoGradGuard guard;
    const Tensor t = target.to(kLong);
    const Tensor counts = t.ne(l.ignore_index);
    const Tensor safe = t.masked_fill(t.eq(l.ignore_index), 0);
    wanted = full_like(x, l.smoothing / static_cast<double>(l.classes));
    wanted = wanted.scatter_add(c, safe.unsqueeze(c), full(safe.unsqueeze(c).sizes(), 1 - l.smoothing, x.options()));
    factor = counts.to(x.scalar_type());
    if (weight.defined()) factor = factor * weight.index_select(0, safe.reshape({-1})).reshape(safe.sizes());
    if (l.reduction == loss_reduction::Mean) factor = (factor / total).masked_fill(counts.logical_not(), 0);
  }
  return (softmax(x, c) - wanted) * (g * factor).unsqueeze(c);
}

variable_list cross_entropy_gradient(Backward& b, const Tensor& x, const Tensor& target, const Tensor& weight,
                                     const Tensor& normalizer, const Tensor& total, const ClassLoss& l) {
  const Tensor& g = b.grad();
  // A loss in float32 of half logits: its gradient may be scaled beyond what half holds.
  if (GradMode::is_enabled())
    return {cross_entropy_composed_gradient(g, x.to(g.scalar_type()), target, weight, total, l).to(x.scalar_type())};
  Operands o(x, target, weight, l.ignore_index, l.reduction, total);
  o.loss.smoothing = l.smoothing;
  o.loss.float_loss = g.scalar_type() != x.scalar_type();
  Tensor out = empty(o.x.sizes(), x.options());
  const Tensor grad = g.contiguous();
  if (out.numel())
    cross_entropy_backward_kernel(x.device())(x.scalar_type(), o.loss, out.impl().visible_data(),
                                              grad.impl().visible_data(), normalizer.impl().visible_data());
  return {out};
}

// `result`: the dtype of the loss, that of `self` or float32; the graph keeps `self` as it is.
Tensor cross_entropy_fused(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                           int64_t ignore_index, double smoothing, ScalarType result) {
  Operands o(self, target, weight, ignore_index, reduction);
  o.loss.smoothing = smoothing;
  o.loss.float_loss = result != self.scalar_type();
  Tensor out = loss_result(self, target, reduction, result);
  const ScalarType compute = self.scalar_type() == kDouble ? kDouble : kFloat;
  const Tensor normalizer = empty({o.loss.outer}, self.options().dtype(compute));
  cross_entropy_kernel(self.device())(self.scalar_type(), o.loss, out.impl().visible_data(),
                                      normalizer.impl().visible_data());
  if (needs_grad(self)) {
    ClassLoss l = o.loss;
    l.x = l.weight = nullptr, l.target = nullptr, l.total = nullptr;
    record("CrossEntropyLossBackward0", out, {&self},
           {SavedTensor::input(self), SavedTensor::input(target), SavedTensor::input(weight),
            SavedTensor::input(normalizer), SavedTensor::input(o.total)},
           [l](Backward& b, auto& s) -> variable_list {
             return cross_entropy_gradient(b, s[0], s[1], s[2], s[3], s[4], l);
           });
  }
  return out;
}

// Targets that are probabilities of the classes.
Tensor cross_entropy_of_probabilities(const Tensor& self, const Tensor& target_, const Tensor& weight,
                                      int64_t reduction, double smoothing) {
  HB_CHECK(is_floating_type(target_.scalar_type()),
           "[cross_entropy] Expected floating point type for target with class probabilities, got ",
           target_.scalar_type(), ": a target of the input's shape ", target_.sizes(), " is one");
  const int64_t c = class_dim(self), classes = self.size(c);
  Tensor target = target_;
  if (smoothing > 0) target = target * (1 - smoothing) + smoothing / static_cast<double>(classes);
  Tensor terms = log_softmax(self, c) * target;
  if (weight.defined()) {
    DimVector shape(static_cast<size_t>(self.dim()), 1);
    shape[c] = classes;
    terms = terms * weight.view(shape);
  }
  switch (reduction) {
    case loss_reduction::Mean:
      return -terms.sum() / static_cast<double>(classes > 0 ? self.numel() / classes : 0);
    case loss_reduction::Sum:
      return -terms.sum();
    default:
      return -terms.sum(c);
  }
}

// Weights and smoothing together: every class costs its own weight.
Tensor cross_entropy_smoothed(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                              int64_t ignore_index, double smoothing) {
  const int64_t c = class_dim(self), classes = self.size(c);
  const Tensor logp = log_softmax(self, c);
  const Tensor nll = nll_any("cross_entropy", logp, target, weight, reduction, ignore_index);
  Tensor all = logp;
  if (weight.defined()) {
    DimVector shape(static_cast<size_t>(self.dim()), 1);
    shape[c] = classes;
    all = logp * weight.view(shape);
  }
  const Tensor ignored = target.eq(ignore_index);
  Tensor smooth = (-all.sum(c)).masked_fill(ignored, 0);
  if (reduction == loss_reduction::Sum) smooth = smooth.sum();
  if (reduction == loss_reduction::Mean) {
    if (weight.defined()) {
      const Tensor safe = target.to(kLong).masked_fill(ignored, 0);
      const Tensor per_target =
          weight.index_select(0, safe.reshape({-1})).reshape(safe.sizes()).masked_fill(ignored, 0);
      smooth = smooth.sum() / per_target.sum();
    } else {
      smooth = smooth.sum() / ignored.logical_not().sum().to(self.scalar_type());
    }
  }
  return nll * (1 - smoothing) + smooth * (smoothing / static_cast<double>(classes));
}

// Autocast casts logits to float32; where the fused kernel takes them, the graph need not keep that copy.
bool keeps_half_logits(const Tensor& self, const Tensor& target, const Tensor& weight) {
  const DeviceType device = self.device().type();
  return is_half_type(self.scalar_type()) && autocast::is_autocast_available(device) &&
         autocast::is_autocast_enabled(device) && !weight.defined() && (self.dim() == 1 || self.dim() == 2) &&
         self.dim() == target.dim() + 1 && self.size(class_dim(self)) > 0;
}

}  // namespace

Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight_or_none,
                int64_t reduction, int64_t ignore_index) {
  const Tensor& weight = or_undefined(weight_or_none);
  HB_AUTOCAST(nll_loss, fp32, fp32, self, target, weight, reduction, ignore_index);
  return nll_any("nll_loss", self, target, weight, reduction, ignore_index);
}
Tensor nll_loss2d(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight_or_none,
                  int64_t reduction, int64_t ignore_index) {
  const Tensor& weight = or_undefined(weight_or_none);
  HB_AUTOCAST(nll_loss2d, fp32, fp32, self, target, weight, reduction, ignore_index);
  HB_CHECK(self.dim() == 4 && target.dim() == 3,
           "[nll_loss2d] only batches of spatial targets supported (3D tensors) but got targets of dimension: ",
           target.dim(), " and input ", self.sizes());
  return nll_any("nll_loss2d", self, target, weight, reduction, ignore_index);
}

Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
                   int64_t ignore_index) {
  return nll_loss(self, target, weight.value_or(Tensor()), reduction, ignore_index);
}

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight_or_none,
                          int64_t reduction, int64_t ignore_index, double label_smoothing) {
  const Tensor& weight = or_undefined(weight_or_none);
  HB_CHECK(label_smoothing >= 0 && label_smoothing <= 1,
           "[cross_entropy] label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  if (HB_UNLIKELY(is_list_of_one(self, target)) && self.size(0) != 1)  // one probability, else
    return cross_entropy_loss(self, target.squeeze(0), weight_or_none, reduction, ignore_index, label_smoothing);
  HB_FUNCTION(cross_entropy_loss, self, target, weight, reduction, ignore_index, label_smoothing);
  if (HB_UNLIKELY(front::active != 0) && keeps_half_logits(self, target, weight)) {
    front::Excluded excluded;
    check_classes("cross_entropy", self, target, weight);
    return cross_entropy_fused(self, target, weight, reduction, ignore_index, label_smoothing, kFloat);
  }
  HB_AUTOCAST(cross_entropy_loss, fp32, fp32, self, target, weight, reduction, ignore_index, label_smoothing);
  HB_CHECK(self.dim() >= 1, "[cross_entropy] expected an input of at least 1 dimension, got ", self.sizes());
  if (self.sizes() == target.sizes()) {
    HB_CHECK(ignore_index < 0, "[cross_entropy] ignore_index is not supported for floating point target, got ",
             ignore_index);
    return cross_entropy_of_probabilities(self, target, weight, reduction, label_smoothing);
  }
  check_classes("cross_entropy", self, target, weight);
  const bool rows = self.dim() <= 2;
  if (rows && !(weight.defined() && label_smoothing > 0) && self.size(class_dim(self)) > 0) {
    return cross_entropy_fused(self, target, weight, reduction, ignore_index, label_smoothing, self.scalar_type());
  }
  if (label_smoothing > 0)
    return cross_entropy_smoothed(self, target, weight, reduction, ignore_index, label_smoothing);
  return nll_any("cross_entropy", log_softmax(self, class_dim(self)), target, weight, reduction, ignore_index);
}

}  // namespace hb
