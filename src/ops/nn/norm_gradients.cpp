// Gradients of normalisations, from the statistics that the forward function gave.
#include <halfbridge/error.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/gradients.h>

#include "ops/common/or_undefined.h"

namespace hb {
namespace {

/// Half values are computed with in float.
Tensor wide(const Tensor& t) { return is_half_type(t.scalar_type()) ? t.to(kFloat) : t; }

/// Rows that were normalised each with a mean and a reciprocal deviation of its own.
struct Rows {
  Tensor x, rstd;  // x: standardized
};

/// x (rows, values), mean and rstd (rows). Where the result is to be differentiated again, mean and rstd are functions
/// of x: rstd says what was added to the variance.
Rows standardize(const Tensor& x, const Tensor& mean, const Tensor& rstd) {
  const Tensor m = wide(mean).reshape({-1, 1}), r = wide(rstd).reshape({-1, 1});
  if (!GradMode::is_enabled() || !x.requires_grad()) return {(x - m) * r, r};
  const Tensor variance = x.var(IntArrayRef{1}, /*unbiased=*/false, true);
  const Tensor again = rsqrt(variance + (r.pow(-2) - variance).detach());
  return {(x - x.mean(IntArrayRef{1}, true)) * again, again};
}
/// g: the gradient of the standardized rows.
Tensor input_gradient(const Rows& rows, const Tensor& g) {
  const Tensor mean = g.mean(IntArrayRef{1}, true), along = (g * rows.x).mean(IntArrayRef{1}, true);
  return (g - mean - rows.x * along) * rows.rstd;
}
Tensor as(const Tensor& t, const Tensor& like) { return t.to(like.scalar_type()); }
const Tensor& either(const Tensor& a, const Tensor& b) { return a.defined() ? a : b; }

}  // namespace

TensorTuple3 native_layer_norm_backward(const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape,
                                        const Tensor& mean, const Tensor& rstd,
                                        const std::optional<Tensor>& weight_or_none, const std::optional<Tensor>& bias,
                                        std::array<bool, 3> mask) {
  const Tensor& weight = or_undefined(weight_or_none);
  const auto last = static_cast<int64_t>(normalized_shape.size());
  HB_CHECK(input.dim() >= last && last > 0 && input.sizes().slice(input.dim() - last) == normalized_shape &&
               grad_out.sizes() == input.sizes(),
           "[native_layer_norm_backward] expected grad_out and input of one shape that ends in ", normalized_shape,
           ", got ", grad_out.sizes(), " and ", input.sizes());
  int64_t values = 1;
  for (const int64_t n : normalized_shape) values *= n;
  const int64_t count = input.numel() / std::max<int64_t>(values, 1);
  const Tensor g = wide(grad_out).reshape({count, values});
  const Rows rows = standardize(wide(input).reshape({count, values}), mean, rstd);
  Tensor dx, dw, db;
  if (mask[0])
    dx = as(input_gradient(rows, weight.defined() ? g * wide(weight).reshape({1, values}) : g).reshape(input.sizes()),
            input);
  if (mask[1] && weight.defined()) dw = as((g * rows.x).sum(0).reshape(normalized_shape), weight);
  const Tensor& parameter = either(or_undefined(bias), weight);
  if (mask[2] && parameter.defined()) db = as(g.sum(0).reshape(normalized_shape), parameter);
  return {dx, dw, db};
}

TensorTuple3 native_group_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                                        const Tensor& rstd, const std::optional<Tensor>& weight_or_none, int64_t n,
                                        int64_t c, int64_t hxw, int64_t group, std::array<bool, 3> mask) {
  const Tensor& weight = or_undefined(weight_or_none);
  HB_CHECK(input.numel() == n * c * hxw && grad_out.sizes() == input.sizes() && group > 0 && c % group == 0,
           "[native_group_norm_backward] expected grad_out and input of ", n, " x ", c, " x ", hxw,
           " elements in groups of channels, got ", grad_out.sizes(), ", ", input.sizes(), " and ", group, " groups");
  const Tensor g = wide(grad_out).reshape({n, c, hxw});
  const Rows rows = standardize(wide(input).reshape({n * group, c / group * hxw}), mean, rstd);
  Tensor dx, dw, db;
  if (mask[0]) {
    const Tensor weighted = weight.defined() ? g * wide(weight).reshape({1, c, 1}) : g;
    dx = as(input_gradient(rows, weighted.reshape({n * group, c / group * hxw})).reshape(input.sizes()), input);
  }
  const Tensor& like = either(weight, input);
  if (mask[1]) dw = as((g * rows.x.reshape({n, c, hxw})).sum(IntArrayRef{0, 2}), like);
  if (mask[2]) db = as(g.sum(IntArrayRef{0, 2}), like);
  return {dx, dw, db};
}

TensorTuple3 native_batch_norm_backward(const Tensor& grad_out, const Tensor& input,
                                        const std::optional<Tensor>& weight_or_none,
                                        const std::optional<Tensor>& running_mean,
                                        const std::optional<Tensor>& running_var,
                                        const std::optional<Tensor>& save_mean,
                                        const std::optional<Tensor>& save_invstd, bool train, double eps,
                                        std::array<bool, 3> mask) {
  const Tensor& weight = or_undefined(weight_or_none);
  const Tensor& mean = or_undefined(train ? save_mean : running_mean);
  const Tensor& spread = or_undefined(train ? save_invstd : running_var);
  HB_CHECK(input.dim() >= 2 && grad_out.sizes() == input.sizes(),
           "[native_batch_norm_backward] expected grad_out and input of one shape (N, C, ...), got ", grad_out.sizes(),
           " and ", input.sizes());
  HB_CHECK(mean.defined() && spread.defined() && mean.numel() == input.size(1) && spread.numel() == input.size(1),
           "[native_batch_norm_backward] expected ",
           train ? "save_mean and save_invstd" : "running_mean and running_var", " of ", input.size(1), " channels");
  const int64_t c = input.size(1);
  const Tensor by_channel = wide(grad_out).transpose(0, 1), g = by_channel.reshape({c, -1});
  const Tensor x = wide(input).transpose(0, 1).reshape({c, -1});
  const Tensor deviation = train ? spread : rsqrt(wide(spread) + eps);
  const Rows rows = train
                        ? standardize(x, mean, deviation)
                        : Rows{(x - wide(mean).reshape({c, 1})) * deviation.reshape({c, 1}), deviation.reshape({c, 1})};
  Tensor dx, dw, db;
  if (mask[0]) {
    const Tensor weighted = weight.defined() ? g * wide(weight).reshape({c, 1}) : g;
    const Tensor rows_dx = train ? input_gradient(rows, weighted) : weighted * rows.rstd;
    dx = as(rows_dx.reshape(by_channel.sizes()).transpose(0, 1), input).contiguous();
  }
  const Tensor& like = either(weight, input);
  if (mask[1]) dw = as((g * rows.x).sum(IntArrayRef{1}), like);
  if (mask[2]) db = as(g.sum(IntArrayRef{1}), like);
  return {dx, dw, db};
}

}  // namespace hb
