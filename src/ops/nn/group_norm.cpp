#include "backend/group_norm.h"

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "ops/common/layout.h"
#include "ops/common/or_undefined.h"

namespace hb {
namespace {

void* raw(const Tensor& t) { return t.defined() ? t.impl().visible_data() : nullptr; }

/// By functions of rows, which any device has and which can be differentiated again.
Tensor composed(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias, double eps) {
  const Tensor rows = x.contiguous().view({x.size(0), groups, x.numel() / (x.size(0) * groups)});
  Tensor out = layer_norm(rows, {rows.size(2)}, {}, {}, eps).view(x.sizes());
  DimVector shape(static_cast<size_t>(x.dim()), 1);
  shape[1] = x.size(1);
  if (weight.defined()) out = out * weight.view(shape);
  if (bias.defined()) out = out + bias.view(shape);
  return ops::in_layout_of(x, out.to(x.scalar_type()));  // parameters may be float beside a half input
}

GroupNorm parameters(const Tensor& x, int64_t groups, double eps, ScalarType affine) {
  GroupNorm p;
  p.dtype = x.scalar_type(), p.affine_dtype = affine, p.eps = eps;
  p.batch = x.size(0), p.groups = groups, p.channels = x.size(1) / groups;
  p.plane = x.numel() / (x.size(0) * x.size(1));
  return p;
}

variable_list gradients(Backward& b, const Tensor& input, const Tensor& weight, const Tensor& stats, GroupNorm p) {
  const Tensor x = ops::to_contiguous(input), g = ops::to_contiguous(b.grad());
  const Tensor w = weight.defined() ? ops::to_contiguous(weight) : weight;
  p.weight = raw(w), p.bias = nullptr;
  const int64_t channels = p.groups * p.channels;
  Tensor dx, dw, db;
  if (b.needs(0)) dx = empty(x.sizes(), x.options());
  if (b.needs(1)) dw = empty({channels}, x.options().dtype(p.affine_dtype));
  if (b.needs(2)) db = empty({channels}, x.options().dtype(p.affine_dtype));
  group_norm_backward_kernel(x.device())(p, raw(dx), raw(dw), raw(db), g.impl().raw_data(), x.impl().raw_data(),
                                         stats.select(0, 0).impl().visible_data(),
                                         stats.select(0, 1).impl().visible_data());
  return {dx.defined() ? ops::in_layout_of(input, dx) : dx, dw, db};
}

/// The gradients of the composed form, with a history.
variable_list composed_gradients(Backward& b, const Tensor& x, const Tensor& weight, const GroupNorm& p) {
  const Tensor rows = x.reshape({x.size(0), p.groups, p.channels, p.plane}), g = b.grad().reshape(rows.sizes());
  const Tensor centred = rows - rows.mean({2, 3}, true);
  const Tensor r = (centred.square().mean({2, 3}, true) + p.eps).rsqrt(), normal = centred * r;
  const Tensor scaled = weight.defined() ? g * weight.view({p.groups, p.channels, 1}) : g;
  Tensor dx, dw, db;
  if (b.needs(0))
    dx = ((scaled - normal * (scaled * normal).mean({2, 3}, true) - scaled.mean({2, 3}, true)) * r).view(x.sizes());
  if (b.needs(1)) dw = (g * normal).sum({0, 3}).flatten();
  if (b.needs(2)) db = g.sum({0, 3}).flatten();
  return {dx, dw, db};
}

Tensor fused(const Tensor& input, int64_t groups, const Tensor& weight, const Tensor& bias, double eps) {
  const Tensor x = ops::to_contiguous(input), w = weight.defined() ? ops::to_contiguous(weight) : weight,
               b = bias.defined() ? ops::to_contiguous(bias) : bias;
  GroupNorm p = parameters(x, groups, eps,
                           w.defined()   ? w.scalar_type()
                           : b.defined() ? b.scalar_type()
                                         : x.scalar_type());
  p.weight = raw(w), p.bias = raw(b);
  Tensor out = empty(x.sizes(), x.options());
  const Tensor stats = empty({2, p.batch * groups}, x.options().dtype(p.dtype == kDouble ? kDouble : kFloat));
  group_norm_kernel(x.device())(p, out.impl().visible_data(), x.impl().raw_data(),
                                stats.select(0, 0).impl().visible_data(), stats.select(0, 1).impl().visible_data());
  out = ops::in_layout_of(input, out);
  if (needs_grad(input, weight, bias))
    record("NativeGroupNormBackward0", out, {&input, &weight, &bias},
           {SavedTensor::input(input), SavedTensor::input(weight), SavedTensor::input(stats)},
           [p](Backward& g, auto& s) -> variable_list {
             return GradMode::is_enabled() ? composed_gradients(g, s[0], s[1], p) : gradients(g, s[0], s[1], s[2], p);
           });
  return out;
}

}  // namespace

Tensor group_norm(const Tensor& input, int64_t num_groups, const std::optional<Tensor>& weight_or_none,
                  const std::optional<Tensor>& bias_or_none, double eps, bool) {
  const Tensor& weight = or_undefined(weight_or_none);
  const Tensor& bias = or_undefined(bias_or_none);
  HB_AUTOCAST(group_norm, as_is, fp32, input, num_groups, weight, bias, eps);
  HB_CHECK(input.dim() >= 2, "[group_norm] expected an input of at least 2 dimensions, got ", input.sizes());
  const int64_t c = input.size(1);
  HB_CHECK(num_groups > 0, "[group_norm] Expected num groups to be greater than 0, got ", num_groups);
  HB_CHECK(c % num_groups == 0,
           "[group_norm] Expected number of channels in input to be divisible by num_groups, but got input of shape ",
           input.sizes(), " and num_groups=", num_groups);
  HB_CHECK(
      !weight.defined() || (weight.dim() == 1 && weight.numel() == c),
      "[group_norm] Expected weight to be a vector of size equal to the number of channels in input, but got weight of "
      "shape ",
      weight.sizes(), " and input of shape ", input.sizes());
  HB_CHECK(!bias.defined() || (bias.dim() == 1 && bias.numel() == c),
           "[group_norm] Expected bias to be a vector of size equal to the number of channels in input, but got bias "
           "of shape ",
           bias.sizes(), " and input of shape ", input.sizes());
  if (input.numel() == 0) return input.clone();
  const bool one_dtype = !weight.defined() || !bias.defined() || weight.scalar_type() == bias.scalar_type();
  if (one_dtype && is_floating_type(input.scalar_type()) && group_norm_kernel.available(input.device()))
    return fused(input, num_groups, weight, bias, eps);
  return composed(input, num_groups, weight, bias, eps);
}

}  // namespace hb
