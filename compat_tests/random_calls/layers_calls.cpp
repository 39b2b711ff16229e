// Convolutions, poolings, normalisations and other layers, with operands that fit.
#include "calls.h"

using random_calls::Inputs;
using random_calls::joined;
using random_calls::Shape;
using random_calls::Tensors;
using torch::Tensor;

namespace {

/// (batch,) channels, sizes.
Shape image(Inputs& in, int64_t channels, int64_t dims, int64_t smallest = 3) {
  Shape shape;
  if (!in.one_of(4)) shape.push_back(in.size(1, 3));
  shape.push_back(channels);
  return joined(shape, in.sizes(dims, smallest, 7));
}

Tensor convolution(Inputs& in, int64_t dims, bool transposed) {
  const int64_t groups = in.between(1, 3), inputs = groups * in.size(1, 2), outputs = groups * in.size(1, 2);
  const Shape window = in.numbers(dims, 1, 3), stride = in.numbers(dims, 1, 3), padding = in.numbers(dims, 0, 2),
              dilation = in.numbers(dims, 1, 2), more = in.numbers(dims, 0, 1);
  const Shape shape = image(in, inputs, dims, 4);
  if (shape.size() == static_cast<size_t>(dims) + 1 && in.coin()) in.full_precision();
  const Tensor x = in.tensor(shape);
  const Tensor w =
      in.tensor(joined(transposed ? Shape{inputs, outputs / groups} : Shape{outputs, inputs / groups}, window));
  const Tensor b = in.coin() ? in.tensor({outputs}) : Tensor();
  if (transposed) {
    if (dims == 1) return torch::conv_transpose1d(x, w, b, stride, padding, more, groups, dilation);
    if (dims == 2) return torch::conv_transpose2d(x, w, b, stride, padding, more, groups, dilation);
    return torch::conv_transpose3d(x, w, b, stride, padding, more, groups, dilation);
  }
  if (dims == 1) return torch::conv1d(x, w, b, stride, padding, dilation, groups);
  if (dims == 2) return torch::conv2d(x, w, b, stride, padding, dilation, groups);
  return torch::conv3d(x, w, b, stride, padding, dilation, groups);
}

Tensor padded_convolution(Inputs& in) {
  const int64_t channels = in.size(1, 3);
  const Tensor x = in.tensor(image(in, channels, 2));
  const Tensor w = in.tensor({in.size(2, 2), channels, in.between(1, 4), in.between(1, 4)});
  return torch::conv2d(x, w, {}, 1, in.coin() ? "same" : "valid", in.between(1, 2));
}

Tensors max_pool(Inputs& in, int64_t dims) {
  const Shape window = in.numbers(dims, 1, 3), stride = in.numbers(dims, 1, 3), padding = in.numbers(dims, 0, 1),
              dilation = in.numbers(dims, 1, 2);
  const bool ceil = in.coin();
  const Tensor x = in.tensor(image(in, in.size(1, 2), dims, 5));
  const auto pooled = dims == 1   ? torch::max_pool1d_with_indices(x, window, stride, padding, dilation, ceil)
                      : dims == 2 ? torch::max_pool2d_with_indices(x, window, stride, padding, dilation, ceil)
                                  : torch::max_pool3d_with_indices(x, window, stride, padding, dilation, ceil);
  return {std::get<0>(pooled), std::get<1>(pooled)};
}

Tensor avg_pool(Inputs& in, int64_t dims) {
  const Shape window = in.numbers(dims, 1, 3), stride = in.numbers(dims, 1, 3), padding = in.numbers(dims, 0, 1);
  const bool ceil = in.coin(), counted = in.coin();
  const std::optional<int64_t> divisor = in.one_of(3) ? std::optional<int64_t>(in.between(1, 5)) : std::nullopt;
  const Tensor x = in.tensor(image(in, in.size(1, 2), dims, 3));
  if (dims == 1) return torch::avg_pool1d(x, window, stride, padding, ceil, counted);
  if (dims == 2) return torch::avg_pool2d(x, window, stride, padding, ceil, counted, divisor);
  return torch::avg_pool3d(x, window, stride, padding, ceil, counted, divisor);
}

Tensors adaptive_pool(Inputs& in, int64_t dims, bool largest) {
  const Shape out = in.numbers(dims, 1, 8);
  const Tensor x = in.tensor(image(in, in.size(1, 2), dims, 1));
  if (largest)
    return random_calls::results(dims == 1   ? torch::adaptive_max_pool1d(x, out)
                                 : dims == 2 ? torch::adaptive_max_pool2d(x, out)
                                             : torch::adaptive_max_pool3d(x, out));
  return {dims == 1   ? torch::adaptive_avg_pool1d(x, out)
          : dims == 2 ? torch::adaptive_avg_pool2d(x, out)
                      : torch::adaptive_avg_pool3d(x, out)};
}

Tensor unpooled(Inputs& in) {
  const Tensor x = in.tensor({in.size(1, 2), 2, in.size(6, 6), 6});
  const auto [y, places] = torch::max_pool2d_with_indices(x, 2, 2);
  return torch::nn::functional::max_unpool2d(y, places, torch::nn::functional::MaxUnpool2dFuncOptions(2));
}

Tensor lp_pool(Inputs& in) {
  const Tensor x = in.tensor({2, in.size(2, 2), in.size(3, 7), in.size(3, 7)});
  return torch::nn::functional::lp_pool2d(
      x, torch::nn::functional::LPPool2dFuncOptions(in.between(1, 3), in.between(1, 3)).ceil_mode(in.coin()));
}

Tensors batch_norm(Inputs& in, bool instance) {
  in.repeats = false;  // of equal numbers the gradient is a rounding error
  const int64_t channels = in.size(1, 4);
  const Tensor x = in.tensor(joined({in.size(1, 3), channels}, in.sizes(in.between(instance ? 1 : 0, 3), 1, 4)));
  if (in.coin()) in.dtype = torch::kFloat;  // the parameters of a half precision input may be f32
  Tensor weight, bias, mean, variance;
  const bool training = in.coin();
  if (in.coin()) weight = in.tensor({channels});
  if (weight.defined() && !training) weight = weight.contiguous();  // LibTorch's gradient reads across its gaps
  if (in.coin()) bias = in.tensor({channels});
  if (!training || in.coin()) {
    mean = in.tensor({channels}).detach().contiguous().clone();
    variance = in.fractions({channels}).detach().contiguous().clone();
  }
  const double momentum = 0.1 * in.between(0, 3);
  const Tensor y = instance ? torch::instance_norm(x, weight, bias, mean, variance, training, momentum, 1e-3, false)
                            : torch::batch_norm(x, weight, bias, mean, variance, training, momentum, 1e-3, false);
  return {y, mean, variance};
}

Tensor group_norm(Inputs& in) {
  in.repeats = false;
  const int64_t groups = in.between(1, 3), channels = groups * in.size(1, 3);
  const Tensor x = in.tensor(joined({in.size(1, 3), channels}, in.sizes(in.between(1, 3), 2, 4)));
  const Tensor weight = in.coin() ? in.tensor({channels}) : Tensor();
  const Tensor bias = in.coin() ? in.tensor({channels}) : Tensor();
  return torch::group_norm(x, groups, weight, bias);
}

Tensor layer_norm(Inputs& in, bool centred) {
  in.repeats = false;
  const Shape outer = in.sizes(in.between(0, 2), 1, 4), inner = in.sizes(in.between(1, 2), 2, 5);
  const Tensor x = in.tensor(joined(outer, inner));
  const Tensor weight = in.coin() ? in.tensor(inner) : Tensor();
  if (!centred) return torch::rms_norm(x, inner, weight, 1e-4);
  return torch::layer_norm(x, inner, weight, in.coin() ? in.tensor(inner) : Tensor());
}

Tensor local_response_norm(Inputs& in) {
  const Tensor x = in.tensor(joined({2, in.size(1, 5)}, in.sizes(in.between(1, 3), 1, 4)));
  return torch::nn::functional::local_response_norm(
      x, torch::nn::functional::LocalResponseNormFuncOptions(in.between(1, 4)).alpha(0.5).beta(0.75).k(1.5));
}

Tensor embedding(Inputs& in) {
  const int64_t words = in.size(2, 6);
  const Tensor weight = in.tensor({words, in.size(1, 4)});
  const Tensor places = in.integers(in.sizes(in.between(0, 2), 1, 4), 0, words - 1);
  const bool scaled = in.coin() && !in.second_gradients;  // LibTorch's second gradient is not scaled
  return torch::embedding(weight, places, in.between(-1, words - 1), scaled);
}

Tensors embedding_bag(Inputs& in) {
  const int64_t words = in.size(2, 6), mode = in.between(0, 2), count = in.size(1, 7);
  const bool last = in.coin();
  const Tensor weight = in.tensor({words, in.size(1, 4)});
  const Tensor places = in.integers({count}, 0, words - 1);
  Tensor offsets = std::get<0>(torch::sort(in.integers({in.between(1, 3)}, 0, count)));
  offsets.slice(0, 0, 1).zero_();
  if (last) offsets = torch::cat({offsets, torch::tensor({count})});
  const Tensor weights = mode == 0 && in.coin() ? in.tensor({count}) : Tensor();
  return {
      std::get<0>(torch::embedding_bag(weight, places, offsets, false, mode, false, weights, last, in.between(-1, 1)))};
}

Tensor interpolated(Inputs& in) {
  namespace F = torch::nn::functional;
  const int64_t dims = in.between(1, 3), mode = in.between(0, 4);
  const Tensor x = in.tensor(joined({in.size(1, 2), in.size(1, 3)}, in.sizes(dims, 1, 6)));
  auto options = F::InterpolateFuncOptions();
  if (in.coin()) {
    options.size(in.sizes(dims, 1, 9));
  } else {
    // By other factors that are used themselves LibTorch's nearest gradient and what has the input's size differ from
    // its own forward.
    const bool whole = in.coin();
    options.scale_factor(std::vector<double>(dims, whole ? 2 : 0.4 * static_cast<double>(in.between(2, 6))));
    if (!whole) options.recompute_scale_factor(true);
  }
  if (mode == 0) options.mode(torch::kNearest);
  if (mode == 1) options.mode(torch::kArea);
  if (mode == 2) options.mode(torch::kNearestExact);
  if (mode >= 3) {
    options.align_corners(in.coin());
    if (dims == 1) options.mode(torch::kLinear);
    if (dims == 3) options.mode(torch::kTrilinear);
    if (dims == 2 && mode == 3) options.mode(torch::kBilinear);
    if (dims == 2 && mode == 4) options.mode(torch::kBicubic);
    if (dims == 2) options.antialias(in.coin());
  }
  return F::interpolate(x, options);
}

Tensor grid_sampled(Inputs& in) {
  const int64_t dims = in.between(2, 3), batch = in.between(1, 2);
  in.full_precision();
  const Tensor x = in.tensor(joined({batch, in.size(1, 3)}, in.sizes(dims, 1, 5)));
  const Tensor grid = in.tensor(joined(joined({batch}, in.sizes(dims, 1, 4)), {dims})) * 0.4;
  return torch::grid_sampler(x, grid, in.between(0, dims == 2 ? 2 : 1), in.between(0, 2), in.coin());
}

Tensor affine_grid(Inputs& in) {
  in.full_precision();
  const int64_t dims = in.between(2, 3), batch = in.between(1, 2);
  const Tensor theta = in.tensor({batch, dims, dims + 1});
  return torch::affine_grid_generator(theta, joined({batch, 1}, in.numbers(dims, 1, 4)), in.coin());
}

Tensor padded(Inputs& in) {
  const int64_t dims = in.between(1, 3);
  const Tensor x = in.tensor(joined(in.sizes(in.between(1, 2), 1, 3), in.sizes(dims, 3, 5)));
  const Shape sides = in.numbers(2 * dims, -1, 2);
  const std::string mode = in.of<std::string>({"constant", "reflect", "replicate", "circular"});
  if (mode == "constant") return torch::pad(x, sides, mode, in.between(-1, 1));
  return torch::pad(x, sides, mode);
}

Tensor unfolded(Inputs& in, bool back) {
  const Shape window = in.numbers(2, 1, 3), dilation = in.numbers(2, 1, 2), padding = in.numbers(2, 0, 1),
              stride = in.numbers(2, 1, 2);
  const Tensor x = in.tensor({in.size(1, 2), in.size(1, 3), 6, 7});
  const Tensor columns = torch::im2col(x, window, dilation, padding, stride);
  return back ? torch::col2im(columns, {6, 7}, window, dilation, padding, stride) : columns;
}

Tensor bilinear(Inputs& in) {
  const int64_t n = in.size(1, 3), a = in.size(1, 3), b = in.size(1, 3), out = in.size(1, 3);
  const Tensor x = in.tensor({n, a}), y = in.tensor({n, b}), w = in.tensor({out, a, b});
  return torch::bilinear(x, y, w, in.coin() ? in.tensor({out}) : Tensor());
}

}  // namespace

DRAWN(convolution(in, 1, false))
DRAWN(convolution(in, 2, false))
DRAWN(convolution(in, 3, false))
DRAWN(convolution(in, 1, true))
DRAWN(convolution(in, 2, true))
DRAWN(convolution(in, 3, true))
DRAWN(padded_convolution(in))
DRAWN(max_pool(in, 1))
DRAWN(max_pool(in, 2))
DRAWN(max_pool(in, 3))
DRAWN(avg_pool(in, 1))
DRAWN(avg_pool(in, 2))
DRAWN(avg_pool(in, 3))
DRAWN(adaptive_pool(in, 1, true))
DRAWN(adaptive_pool(in, 2, true))
DRAWN(adaptive_pool(in, 3, true))
DRAWN(adaptive_pool(in, 1, false))
DRAWN(adaptive_pool(in, 2, false))
DRAWN(adaptive_pool(in, 3, false))
DRAWN(unpooled(in))
DRAWN(lp_pool(in))
DRAWN(batch_norm(in, false))
DRAWN(batch_norm(in, true))
DRAWN(group_norm(in))
DRAWN(layer_norm(in, true))
DRAWN(layer_norm(in, false))
DRAWN(local_response_norm(in))
DRAWN(embedding(in))
DRAWN(embedding_bag(in))
DRAWN(interpolated(in))
DRAWN(grid_sampled(in))
DRAWN(affine_grid(in))
DRAWN(padded(in))
DRAWN(unfolded(in, false))
DRAWN(unfolded(in, true))
DRAWN(bilinear(in))
