// The normalisations with the statistics that they used.
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "autocast/autocast.h"

namespace hb {

namespace {

struct Statistics {
  Tensor mean, rstd;
};
/// Statistics of x over `dims`, which stay with size 1; computed in float or double.
Statistics statistics(const Tensor& x, IntArrayRef dims, double eps) {
  NoGradGuard no_grad;
  const Tensor values = is_half_type(x.scalar_type()) ? x.detach().to(kFloat) : x.detach();
  return {values.mean(dims, true), rsqrt(values.var(dims, /*unbiased=*/false, true) + eps)};
}
/// Half statistics of a half input, unless its parameters are float.
ScalarType statistics_dtype(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const Tensor& parameter = weight.defined() ? weight : bias;
  return parameter.defined() ? parameter.scalar_type() : input.scalar_type();
}

}  // namespace

TensorTuple3 native_layer_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight,
                               const std::optional<Tensor>& bias, double eps) {
  HB_AUTOCAST(native_layer_norm, as_is, fp32, input, normalized_shape, weight, bias, eps);
  const Tensor w = weight.value_or(Tensor()), b = bias.value_or(Tensor());
  const Tensor out = layer_norm(input, normalized_shape, w, b, eps);
  std::vector<int64_t> last;
  for (int64_t d = input.dim() - static_cast<int64_t>(normalized_shape.size()); d < input.dim(); ++d) last.push_back(d);
  const Statistics s = statistics(input, last, eps);
  const ScalarType t = statistics_dtype(input, w, b);
  return {out, s.mean.to(t), s.rstd.to(t)};
}

TensorTuple3 native_group_norm(const Tensor& input, const std::optional<Tensor>& weight,
                               const std::optional<Tensor>& bias, int64_t n, int64_t c, int64_t hxw, int64_t group,
                               double eps) {
  HB_FUNCTION(native_group_norm, input, weight, bias, n, c, hxw, group, eps);
  HB_CHECK(input.dim() >= 2 && input.size(0) == n && input.size(1) == c && input.numel() == n * c * hxw,
           "[native_group_norm] expected an input of ", n, " x ", c, " x ", hxw, " elements, got ", input.sizes());
  const Tensor w = weight.value_or(Tensor()), b = bias.value_or(Tensor());
  const Tensor out = group_norm(input, group, w, b, eps);
  const Statistics s = statistics(input.detach().reshape({n, group, c / group * hxw}), {2}, eps);
  const ScalarType t = statistics_dtype(input, w, b);
  return {out, s.mean.to(t).view({n, group}), s.rstd.to(t).view({n, group})};
}

TensorTuple3 native_batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                               const std::optional<Tensor>& bias, const std::optional<Tensor>& running_mean,
                               const std::optional<Tensor>& running_var, bool training, double momentum, double eps) {
  HB_FUNCTION(native_batch_norm, input, weight, bias, running_mean, running_var, training, momentum, eps);
  const Tensor w = weight.value_or(Tensor()), b = bias.value_or(Tensor());
  const Tensor out =
      batch_norm(input, w, b, running_mean.value_or(Tensor()), running_var.value_or(Tensor()), training, momentum, eps);
  const TensorOptions options = input.options().dtype(statistics_dtype(input, w, b));
  if (!training) return {out, empty({0}, options), empty({0}, options)};
  std::vector<int64_t> dims{0};
  for (int64_t d = 2; d < input.dim(); ++d) dims.push_back(d);
  const Statistics s = statistics(input, dims, eps);
  return {out, s.mean.reshape(-1).to(options), s.rstd.reshape(-1).to(options)};
}

}  // namespace hb
