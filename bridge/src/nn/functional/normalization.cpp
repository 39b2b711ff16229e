#include <halfbridge/bridge/nn/normalization.h>

#include <halfbridge/ops.h>

namespace hb::bridge::nn::functional {

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& o) {
  HB_CHECK(input.dim() >= 2, "Expected at least 2 input dimensions, but got ", input.dim());
  if (o.training()) {
    int64_t per_channel = input.size(0);
    for (int64_t d = 2; d < input.dim(); ++d) per_channel *= input.size(d);
    HB_CHECK(per_channel != 1, "Expected more than 1 value per channel when training, got input size ", input.sizes());
  }
  return hb::batch_norm(input, o.weight(), o.bias(), running_mean, running_var, o.training(), o.momentum(), o.eps());
}

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& o) {
  return hb::instance_norm(input, o.weight(), o.bias(), o.running_mean(), o.running_var(), o.use_input_stats(),
                           o.momentum(), o.eps());
}

Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& o) {
  return hb::layer_norm(input, o.normalized_shape(), o.weight(), o.bias(), o.eps());
}

Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& o) {
  return hb::group_norm(input, o.num_groups(), o.weight(), o.bias(), o.eps());
}

Tensor normalize(const Tensor& input, NormalizeFuncOptions o) {
  Tensor denominator = input.norm(o.p(), o.dim(), true).clamp_min(o.eps()).expand_as(input);
  if (o.out()) return hb::div_out(*o.out(), input, denominator);
  return input / denominator;
}

Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& o) {
  const int64_t dim = input.dim(), before = o.size() / 2, after = (o.size() - 1) / 2;
  HB_CHECK(dim >= 3, "Expected 3D or higher dimensionality input (got ", dim, " dimensions)");
  Tensor squares = input.mul(input).unsqueeze(1);  // (N, 1, C, …)
  if (dim == 3) {
    squares = hb::avg_pool2d(hb::pad(squares, {0, 0, before, after}), {o.size(), 1}, 1).squeeze(1);
  } else {
    const auto sizes = input.sizes().vec();
    squares = squares.view({sizes[0], 1, sizes[1], sizes[2], -1});
    squares = hb::avg_pool3d(hb::pad(squares, {0, 0, 0, 0, before, after}), {o.size(), 1, 1}, 1).squeeze(1).view(sizes);
  }
  return input / squares.mul(o.alpha()).add(o.k()).pow(o.beta());
}

}  // namespace hb::bridge::nn::functional
