// layer_norm, rms_norm.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "backend/norm.h"
#include "ops/common/layout.h"
#include "ops/common/or_undefined.h"

namespace hb {
namespace {

void* raw(const Tensor& t) { return t.defined() ? t.impl().visible_data() : nullptr; }

RowNorm parameters(const Tensor& x, int64_t n, bool rms, double eps, const Tensor& weight, const Tensor& bias) {
  RowNorm p;
  p.dtype = x.scalar_type(), p.n = n, p.rows = n ? x.numel() / n : 0, p.eps = eps, p.rms = rms;
  p.affine_dtype = weight.defined() ? weight.scalar_type() : bias.defined() ? bias.scalar_type() : p.dtype;
  p.weight = raw(weight), p.bias = raw(bias);
  return p;
}

// Over the last `dims` dimensions, in terms that can be differentiated again.
variable_list composed_gradients(Backward& b, const Tensor& x, const Tensor& weight, int64_t dims, bool rms,
                                 double eps) {
  const Tensor& g = b.grad();
  std::vector<int64_t> last, leading;
  for (int64_t d = 0; d < x.dim(); ++d) (d < x.dim() - dims ? leading : last).push_back(d);
  const Tensor centred = rms ? x : x - x.mean(last, true);
  const Tensor r = (centred.square().mean(last, true) + eps).rsqrt(), normal = centred * r;
  const Tensor scaled = weight.defined() ? g * weight : g;
  const auto over_rows = [&](const Tensor& t) { return leading.empty() ? t : t.sum(leading); };
  Tensor dx, dw, db;
  if (b.needs(0)) {
    dx = scaled - normal * (scaled * normal).mean(last, true);
    if (!rms) dx = dx - scaled.mean(last, true);
    dx = rms ? dx * r : named("NativeLayerNormBackwardBackward0", dx * r, g);
  }
  if (b.needs(1)) dw = over_rows(g * normal);
  if (b.needs(2)) db = over_rows(g);
  return {dx, dw, db};
}

variable_list gradients(Backward& b, const Tensor& input, const Tensor& weight, const Tensor& stats, int64_t dims,
                        bool rms, double eps, ScalarType affine_dtype) {
  if (GradMode::is_enabled()) return composed_gradients(b, input, weight, dims, rms, eps);
  const Tensor x = ops::to_contiguous(input), g = ops::to_contiguous(b.grad());
  const DimVector shape(x.impl().sizes().end() - dims, x.impl().sizes().end());
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  const Tensor w = weight.defined() ? ops::to_contiguous(weight) : weight;
  RowNorm p = parameters(x, n, rms, eps, w, {});
  p.affine_dtype = affine_dtype;
  Tensor dx, dw, db;
  if (b.needs(0)) dx = empty(x.sizes(), x.options());
  if (b.needs(1)) dw = empty(shape, x.options().dtype(affine_dtype));
  if (b.needs(2)) db = empty(shape, x.options().dtype(affine_dtype));
  row_norm_backward_kernel(x.device())(p, raw(dx), raw(dw), raw(db), g.impl().raw_data(), x.impl().raw_data(),
                                       stats.select(0, 0).impl().visible_data(),
                                       stats.select(0, 1).impl().visible_data());
  return {dx, dw, db};
}

// Normalises over the last `dims` dimensions.
Tensor row_norm(const char* node, const Tensor& input, int64_t dims, const Tensor& weight, const Tensor& bias, bool rms,
                double eps) {
  const Tensor x = ops::to_contiguous(input);
  int64_t n = 1;
  for (int64_t d = x.dim() - dims; d < x.dim(); ++d) n *= x.size(d);
  const Tensor w = weight.defined() ? ops::to_contiguous(weight) : weight,
               b = bias.defined() ? ops::to_contiguous(bias) : bias;
  const RowNorm p = parameters(x, n, rms, eps, w, b);
  Tensor out = empty(x.sizes(), x.options());
  const Tensor stats = empty({2, p.rows}, x.options().dtype(x.scalar_type() == kDouble ? kDouble : kFloat));
  if (out.numel())
    row_norm_kernel(x.device())(p, out.impl().visible_data(), x.impl().raw_data(),
                                stats.select(0, 0).impl().visible_data(), stats.select(0, 1).impl().visible_data());
  if (needs_grad(input, weight, bias)) {
    const ScalarType affine = p.affine_dtype;
    record(
        node, out, {&input, &weight, &bias},
        {SavedTensor::input(input), SavedTensor::input(weight), SavedTensor::input(stats)},
        [=](Backward& g, auto& s) -> variable_list { return gradients(g, s[0], s[1], s[2], dims, rms, eps, affine); });
  }
  return out;
}

// As messages show it: [*, 3, 4].
std::string ending_in(IntArrayRef shape) {
  std::string text = "[*";
  for (const int64_t n : shape) text += ", " + std::to_string(n);
  return text + "]";
}

void check(const char* name, const Tensor& x, IntArrayRef shape, const Tensor& weight, const Tensor& bias) {
  HB_CHECK_SUPPORTED(is_floating_type(x.scalar_type()), "[", name, "] expected a floating input, got ",
                     x.scalar_type());
  HB_CHECK(!shape.empty(), "[", name,
           "] Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
           "normalized_shape = ",
           shape);
  HB_CHECK(!weight.defined() || weight.sizes() == shape, "[", name,
           "] Expected weight to be of same shape as normalized_shape, but got weight of shape ", weight.sizes(),
           " and normalized_shape = ", shape);
  HB_CHECK(!bias.defined() || bias.sizes() == shape, "[", name,
           "] Expected bias to be of same shape as normalized_shape, but got bias of shape ", bias.sizes(),
           " and normalized_shape = ", shape);
  const bool fits = x.dim() >= static_cast<int64_t>(shape.size()) && x.sizes().slice(x.dim() - shape.size()) == shape;
  HB_CHECK(fits, "[", name, "] Given normalized_shape=", shape, ", expected input with shape ", ending_in(shape),
           ", but got input of size", x.sizes());
}

}  // namespace

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight_or_none,
                  const std::optional<Tensor>& bias_or_none, double eps, bool) {
  const Tensor& weight = or_undefined(weight_or_none);
  const Tensor& bias = or_undefined(bias_or_none);
  HB_AUTOCAST(layer_norm, as_is, fp32, input, normalized_shape, weight, bias, eps);
  check("layer_norm", input, normalized_shape, weight, bias);
  return row_norm("NativeLayerNormBackward0", input, static_cast<int64_t>(normalized_shape.size()), weight, bias, false,
                  eps);
}

Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight_or_none,
                std::optional<double> eps) {
  const Tensor& weight = or_undefined(weight_or_none);
  HB_FUNCTION(rms_norm, input, normalized_shape, weight, eps);
  check("rms_norm", input, normalized_shape, weight, {});
  return row_norm("RmsNormBackward0", input, static_cast<int64_t>(normalized_shape.size()), weight, {}, true,
                  eps.value_or(epsilon_of(input.scalar_type())));
}

}  // namespace hb
