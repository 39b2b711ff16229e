// Losses written with other functions.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "core/recorder.h"
#include "ops/common/or_undefined.h"
#include "ops/common/refused_dtypes.h"
#include "ops/nn/margins.h"
#include "ops/reduction/reduction.h"

namespace hb {

using ops::reduce_loss;

Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  HB_AUTOCAST(kl_div, fp32, fp32, self, target, reduction, log_target);
  HB_CHECK(!is_integral_type(self.scalar_type(), true) && !is_integral_type(target.scalar_type(), true),
           "[kl_div] Integral inputs not supported: got ", toString(self.scalar_type()), " and ",
           toString(target.scalar_type()));
  return reduce_loss(log_target ? target.exp() * (target - self) : xlogy(target, target) - target * self, reduction);
}

Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  HB_AUTOCAST(soft_margin_loss, fp32, fp32, self, target, reduction);
  const Tensor product = self * target;
  HB_CHECK(!is_integral_type(product.scalar_type(), true), "[soft_margin_loss] result type Float can't be cast to the ",
           "desired output type ", toString(product.scalar_type()), ": expected a floating input or target");
  return named("SoftMarginLossBackward0", reduce_loss(neg(product).exp().log1p(), reduction), self);
}

Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin, int64_t reduction) {
  HB_AUTOCAST(hinge_embedding_loss, fp32, fp32, self, target, margin, reduction);
  // A target that is neither counts as both, as in LibTorch.
  const Tensor near = self.masked_fill(target.eq(-1), 0),
               far = (margin - self).clamp_min(0).masked_fill(target.eq(1), 0);
  return reduce_loss(far + near, reduction);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                             int64_t reduction) {
  HB_AUTOCAST(cosine_embedding_loss, fp32, fp32, input1, input2, target, margin, reduction);
  HB_CHECK(target.dim() <= 1, "[cosine_embedding_loss] 0D or 1D target tensor expected, multi-target not supported");
  HB_CHECK(input1.dim() == target.dim() + 1 && input2.dim() == target.dim() + 1, "[cosine_embedding_loss] ",
           target.dim(), "D target tensor expects ", target.dim() + 1, "D input tensors, but found inputs with sizes ",
           input1.sizes(), " and ", input2.sizes(), ".");
  const int64_t d = target.dim();
  constexpr double kEps = 1e-12;
  const Tensor product = (input1 * input2).sum(IntArrayRef({d}));
  const Tensor size1 = (input1 * input1).sum(IntArrayRef({d})) + kEps,
               size2 = (input2 * input2).sum(IntArrayRef({d})) + kEps;
  const Tensor cosine = product / (size1 * size2).sqrt();
  const Tensor near = (1 - cosine).masked_fill(target.ne(1), 0),
               far = (cosine - margin).clamp_min(0).masked_fill(target.ne(-1), 0);
  return reduce_loss(near + far, reduction);
}

namespace {
/// Of what nobody else sees: in place where no gradient will be asked for.
Tensor clamped(Tensor x) { return needs_grad(x) ? x.clamp_min(0) : x.clamp_min_(0); }
Tensor times(Tensor x, const Tensor& y) {
  const bool in_place = !needs_grad(x, y) && x.sizes() == y.sizes() && x.scalar_type() == y.scalar_type();
  return in_place ? x.mul_(y) : x * y;
}
}  // namespace

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                           int64_t reduction) {
  HB_AUTOCAST(margin_ranking_loss, fp32, fp32, input1, input2, target, margin, reduction);
  const ScalarType t = target.scalar_type();
  if ((t != kFloat && t != kDouble) || input1.scalar_type() != t || input2.scalar_type() != t)
    return reduce_loss((neg(target) * (input1 - input2) + margin).clamp_min(0), reduction);
  // The same numbers without the negated target; of halves they would be others.
  return reduce_loss(clamped(margin - times(input1 - input2, target)), reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin,
                           double p, double eps, bool swap, int64_t reduction) {
  HB_AUTOCAST(triplet_margin_loss, fp32, fp32, anchor, positive, negative, margin, p, eps, swap, reduction);
  HB_CHECK(anchor.dim() == positive.dim() && anchor.dim() == negative.dim(),
           "[triplet_margin_loss] The anchor, positive, and negative tensors are expected to have the same number of "
           "dimensions, but got: anchor ",
           anchor.dim(), "D, positive ", positive.dim(), "D, and negative ", negative.dim(), "D inputs");
  const Tensor near = pairwise_distance(anchor, positive, p, eps);
  Tensor far = pairwise_distance(anchor, negative, p, eps);
  if (swap) far = minimum(far, pairwise_distance(positive, negative, p, eps));
  return reduce_loss((near - far + margin).clamp_min(0), reduction);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
                        int64_t reduction) {
  HB_AUTOCAST(poisson_nll_loss, fp32, fp32, input, target, log_input, full, eps, reduction);
  Tensor loss = log_input ? input.exp() - target * input : input - target * (input + eps).log();
  if (full) {
    const Tensor stirling = target * target.log() - target + (target * 6.283185307179586).log() * 0.5;
    loss = loss + stirling.masked_fill(target.le(1), 0);
  }
  return reduce_loss(loss, reduction);
}

namespace {
/// Throws where a target is no class: `what` is LibTorch's phrase. On CUDA the look-up of targets tells of one that is
/// too large (and multilabel_margin_loss takes any negative one for the end): the host does not wait for the device.
void check_classes(const char* name, const char* what, const Tensor& target, int64_t least, int64_t classes) {
  HB_CHECK(target.scalar_type() == kLong, "[", name, "] expected scalar type Long but found ", target.scalar_type());
  if (target.is_meta() || target.is_cuda() || capture::recorder()) return;
  const Tensor dense = target.to(kCPU).contiguous();
  const auto* const at = static_cast<const int64_t*>(dense.impl().visible_data());
  for (int64_t i = 0; i < dense.numel(); ++i)
    HB_CHECK(at[i] >= least && at[i] < classes, "[", name, "] ", what, ": expected targets in [", least, ", ", classes,
             "), got ", at[i]);
}
void check_rows(const char* name, const Tensor& x) {
  HB_CHECK(x.dim() <= 2 && (x.dim() == 0 || x.size(x.dim() - 1) > 0), "[", name,
           "] Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", x.sizes());
}

Tensor composed_class_margins(const Tensor& x, const Tensor& t, const ops::ClassMargins& how) {
  Tensor z = relu(how.margin - x.gather(1, t) + x);  // without a gradient at 0, as LibTorch's
  if (how.squared) z = z * z;
  if (how.weight.defined()) z = z * how.weight.index_select(0, t.reshape({-1})).unsqueeze(1);
  return z.scatter(1, t, Scalar(0)).sum(1) / static_cast<double>(x.size(1));
}
}  // namespace

Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin,
                         const std::optional<Tensor>& weight_or_none, int64_t reduction) {
  const Tensor& weight = or_undefined(weight_or_none);
  HB_AUTOCAST(multi_margin_loss, fp32, fp32, self, target, p, margin, weight, reduction);
  check_rows("multi_margin_loss", self);
  HB_CHECK(p.equal(1) || p.equal(2), "[multi_margin_loss] only p == 1 and p == 2 supported, got ", p);
  ops::refuse_integers("multi_margin_loss", self.scalar_type());
  const Tensor x = self.dim() < 2 ? self.reshape({1, -1}) : self, t = target.reshape({-1, 1});
  HB_CHECK(t.size(0) == x.size(0), "[multi_margin_loss] inconsistent target size, expected ", x.size(0), " but got ",
           target.sizes());
  check_classes("multi_margin_loss", "target out of range", t, 0, x.size(1));
  HB_CHECK(!weight.defined() || (weight.dim() <= 1 && weight.numel() == x.size(1)),
           "[multi_margin_loss] inconsistent weight size, expected ", x.size(1), " but got ", weight.sizes());
  const ops::ClassMargins how{p.equal(2), margin.toDouble(), weight};
  const bool plain_weight = !weight.defined() || (weight.scalar_type() == x.scalar_type() && !needs_grad(weight));
  const bool loops = plain_weight && ops::has_margin_loops(x, t);
  Tensor loss = loops ? ops::class_margins(x, t, how, composed_class_margins) : composed_class_margins(x, t, how);
  if (target.dim() == 0) loss = loss.squeeze(0);
  return reduce_loss(loss, reduction);
}

namespace {
Tensor composed_label_margins(const Tensor& x, const Tensor& t) {
  // Labels stand before the first negative entry.
  const Tensor valid = t.lt(0).to(kLong).cumsum(1).eq(0);
  const Tensor index = t.masked_fill(valid.logical_not(), 0);
  const Tensor is_target = zeros(x.sizes(), x.options()).scatter_add(1, index, valid.to(x.scalar_type())).gt(0);
  // (N, label, class)
  const Tensor z = relu(1 - x.gather(1, index).unsqueeze(2) + x.unsqueeze(1));
  const Tensor counted = logical_and(valid.unsqueeze(2), is_target.logical_not().unsqueeze(1));
  return z.masked_fill(counted.logical_not(), 0).sum(IntArrayRef({1, 2})) / static_cast<double>(x.size(1));
}
}  // namespace

Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  HB_AUTOCAST(multilabel_margin_loss, fp32, fp32, self, target, reduction);
  check_rows("multilabel_margin_loss", self);
  HB_CHECK(self.sizes() == target.sizes(), "[multilabel_margin_loss] inconsistent target size: ", target.sizes(),
           " for input of size: ", self.sizes());
  ops::refuse_integers("multilabel_margin_loss", self.scalar_type());
  const Tensor x = self.dim() < 2 ? self.reshape({1, -1}) : self,
               t = target.dim() < 2 ? target.reshape({1, -1}) : target;
  check_classes("multilabel_margin_loss", "argument #2 'target' is out of range", t, -1, x.size(1));
  Tensor loss =
      ops::has_margin_loops(x, t) ? ops::label_margins(x, t, composed_label_margins) : composed_label_margins(x, t);
  if (self.dim() < 2) loss = loss.squeeze(0);
  return reduce_loss(loss, reduction);
}

}  // namespace hb
