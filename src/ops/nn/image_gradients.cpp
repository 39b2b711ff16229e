// Gradients that are asked for by name: of poolings, paddings and resamplings.
#include <halfbridge/ops/gradients.h>

#include <halfbridge/error.h>

#include "ops/nn/gradient_of.h"

namespace hb {

using ops::gradient_at_zeros;
using ops::gradient_of;
using ops::Lies;

namespace {

/// Of a pooling that takes single elements: indices number them within the last `dims` dimensions.
/// `as_self`: it lies in memory as self does.
Tensor put_back(const char* name, const char* node, int64_t dims, const Tensor& grad, const Tensor& self,
                const Tensor& indices, bool as_self = true) {
  HB_CHECK(
      grad.sizes() == indices.sizes() && (self.dim() == dims + 1 || self.dim() == dims + 2) && grad.dim() == self.dim(),
      "[", name, "] expected grad_output and indices of one shape with the dimensions of self, got ", grad.sizes(),
      ", ", indices.sizes(), " and ", self.sizes());
  const Tensor flat = zeros_like(self.detach()).flatten(-dims);
  const Tensor out = flat.scatter_add(-1, indices.flatten(-dims), grad.flatten(-dims)).view(self.sizes());
  return named(node, as_self ? ops::in_layout_of(self, out) : out, grad);
}

}  // namespace

Tensor max_pool2d_with_indices_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef /*kernel_size*/,
                                        IntArrayRef /*stride*/, IntArrayRef /*padding*/, IntArrayRef /*dilation*/,
                                        bool /*ceil_mode*/, const Tensor& indices) {
  return put_back("max_pool2d_with_indices_backward", "MaxPool2DWithIndicesBackwardBackward0", 2, grad_output, self,
                  indices);
}
Tensor adaptive_max_pool2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& indices) {
  return put_back("adaptive_max_pool2d_backward", "AdaptiveMaxPool2DBackwardBackward0", 2, grad_output, self, indices);
}
Tensor avg_pool2d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                           IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                           std::optional<int64_t> divisor_override) {
  return gradient_of("AvgPool2DBackwardBackward0", grad_output, self, [&](const Tensor& x) {
    return avg_pool2d(x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
  });
}
Tensor _adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  return adaptive_avg_pool2d(self, output_size);
}
Tensor _adaptive_avg_pool2d_backward(const Tensor& grad_output, const Tensor& self) {
  HB_CHECK(grad_output.dim() >= 3, "[_adaptive_avg_pool2d_backward] expected a grad_output of 3 or 4 dimensions, got ",
           grad_output.sizes());
  return gradient_of("AdaptiveAvgPool2DBackwardBackward0", grad_output, self, [&](const Tensor& x) {
    return adaptive_avg_pool2d(x, grad_output.sizes().slice(grad_output.dim() - 2));
  });
}

Tensor max_pool3d_with_indices_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef /*kernel_size*/,
                                        IntArrayRef /*stride*/, IntArrayRef /*padding*/, IntArrayRef /*dilation*/,
                                        bool /*ceil_mode*/, const Tensor& indices) {
  return put_back("max_pool3d_with_indices_backward", "MaxPool3DWithIndicesBackwardBackward0", 3, grad_output, self,
                  indices);
}
Tensor adaptive_max_pool3d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& indices) {
  return put_back("adaptive_max_pool3d_backward", "AdaptiveMaxPool3DBackwardBackward0", 3, grad_output, self, indices,
                  false);
}
Tensor avg_pool3d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                           IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                           std::optional<int64_t> divisor_override) {
  return gradient_of(
      "AvgPool3DBackwardBackward0", grad_output, self,
      [&](const Tensor& x) {
        return avg_pool3d(x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
      },
      false, Lies::contiguous);
}
Tensor _adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size) {
  return adaptive_avg_pool3d(self, output_size);
}
Tensor _adaptive_avg_pool3d_backward(const Tensor& grad_output, const Tensor& self) {
  HB_CHECK(grad_output.dim() >= 4, "[_adaptive_avg_pool3d_backward] expected a grad_output of 4 or 5 dimensions, got ",
           grad_output.sizes());
  return gradient_of(
      "AdaptiveAvgPool3DBackwardBackward0", grad_output, self,
      [&](const Tensor& x) { return adaptive_avg_pool3d(x, grad_output.sizes().slice(grad_output.dim() - 3)); }, false,
      Lies::contiguous);
}

#define HB_PADDING(name, node)                                                                      \
  Tensor name##_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef padding) {      \
    return gradient_of(node, grad_output, self, [&](const Tensor& x) { return name(x, padding); }); \
  }
HB_PADDING(reflection_pad1d, "ReflectionPad1DBackwardBackward0")
HB_PADDING(reflection_pad2d, "ReflectionPad2DBackwardBackward0")
HB_PADDING(reflection_pad3d, "ReflectionPad3DBackwardBackward0")
HB_PADDING(replication_pad1d, "ReplicationPad1DBackwardBackward0")
HB_PADDING(replication_pad2d, "ReplicationPad2DBackwardBackward0")
HB_PADDING(replication_pad3d, "ReplicationPad3DBackwardBackward0")
#undef HB_PADDING

namespace {
template <class... Rest>
using Resampling = Tensor (*)(const Tensor&, IntArrayRef, Rest...);

template <class... Rest>
Tensor resampling_gradient(const char* name, const char* node, Lies lies, Resampling<Rest...> resample,
                           const Tensor& grad, IntArrayRef output_size, IntArrayRef input_size, const Rest&... rest) {
  HB_CHECK(input_size.size() == output_size.size() + 2 && grad.sizes().size() == input_size.size() &&
               grad.sizes().slice(2) == output_size && grad.sizes().slice(0, 2) == input_size.slice(0, 2),
           "[", name, "] expected a grad_output of the shape of the result for input_size ", input_size,
           " and output_size ", output_size, ", got ", grad.sizes());
  return gradient_at_zeros(
      node, grad, input_size, [&](const Tensor& x) { return resample(x, output_size, rest...); }, lies);
}
}  // namespace

Tensor upsample_nearest1d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                   std::optional<double> scales) {
  return resampling_gradient<std::optional<double>>("upsample_nearest1d_backward", "UpsampleNearest1DBackwardBackward0",
                                                    Lies::as_it_comes, upsample_nearest1d, grad_output, output_size,
                                                    input_size, scales);
}
Tensor upsample_nearest2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                   std::optional<double> scales_h, std::optional<double> scales_w) {
  return resampling_gradient<std::optional<double>, std::optional<double>>(
      "upsample_nearest2d_backward", "UpsampleNearest2DBackwardBackward0", Lies::as_grad, upsample_nearest2d,
      grad_output, output_size, input_size, scales_h, scales_w);
}
Tensor upsample_nearest3d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                   std::optional<double> scales_d, std::optional<double> scales_h,
                                   std::optional<double> scales_w) {
  return resampling_gradient<std::optional<double>, std::optional<double>, std::optional<double>>(
      "upsample_nearest3d_backward", "UpsampleNearest3DBackwardBackward0", Lies::as_it_comes, upsample_nearest3d,
      grad_output, output_size, input_size, scales_d, scales_h, scales_w);
}
Tensor _upsample_nearest_exact1d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                          std::optional<double> scales) {
  return resampling_gradient<std::optional<double>>(
      "_upsample_nearest_exact1d_backward", "UpsampleNearestExact1DBackwardBackward0", Lies::as_it_comes,
      _upsample_nearest_exact1d, grad_output, output_size, input_size, scales);
}
Tensor _upsample_nearest_exact2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                          std::optional<double> scales_h, std::optional<double> scales_w) {
  return resampling_gradient<std::optional<double>, std::optional<double>>(
      "_upsample_nearest_exact2d_backward", "UpsampleNearestExact2DBackwardBackward0", Lies::as_grad,
      _upsample_nearest_exact2d, grad_output, output_size, input_size, scales_h, scales_w);
}
Tensor _upsample_nearest_exact3d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                          std::optional<double> scales_d, std::optional<double> scales_h,
                                          std::optional<double> scales_w) {
  return resampling_gradient<std::optional<double>, std::optional<double>, std::optional<double>>(
      "_upsample_nearest_exact3d_backward", "UpsampleNearestExact3DBackwardBackward0", Lies::as_it_comes,
      _upsample_nearest_exact3d, grad_output, output_size, input_size, scales_d, scales_h, scales_w);
}
Tensor upsample_linear1d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                  bool align_corners, std::optional<double> scales) {
  return resampling_gradient<bool, std::optional<double>>(
      "upsample_linear1d_backward", "UpsampleLinear1DBackwardBackward0", Lies::as_it_comes, upsample_linear1d,
      grad_output, output_size, input_size, align_corners, scales);
}
Tensor upsample_bilinear2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                    bool align_corners, std::optional<double> scales_h,
                                    std::optional<double> scales_w) {
  return resampling_gradient<bool, std::optional<double>, std::optional<double>>(
      "upsample_bilinear2d_backward", "UpsampleBilinear2DBackwardBackward0", Lies::as_it_comes, upsample_bilinear2d,
      grad_output, output_size, input_size, align_corners, scales_h, scales_w);
}
Tensor upsample_bicubic2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                   bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) {
  return resampling_gradient<bool, std::optional<double>, std::optional<double>>(
      "upsample_bicubic2d_backward", "UpsampleBicubic2DBackwardBackward0", Lies::contiguous, upsample_bicubic2d,
      grad_output, output_size, input_size, align_corners, scales_h, scales_w);
}
Tensor upsample_trilinear3d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                     bool align_corners, std::optional<double> scales_d, std::optional<double> scales_h,
                                     std::optional<double> scales_w) {
  return resampling_gradient<bool, std::optional<double>, std::optional<double>, std::optional<double>>(
      "upsample_trilinear3d_backward", "UpsampleTrilinear3DBackwardBackward0", Lies::as_it_comes, upsample_trilinear3d,
      grad_output, output_size, input_size, align_corners, scales_d, scales_h, scales_w);
}
Tensor _upsample_bilinear2d_aa_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                        bool align_corners, std::optional<double> scales_h,
                                        std::optional<double> scales_w) {
  return resampling_gradient<bool, std::optional<double>, std::optional<double>>(
      "_upsample_bilinear2d_aa_backward", "UpsampleBilinear2DAaBackwardBackward0", Lies::as_grad,
      _upsample_bilinear2d_aa, grad_output, output_size, input_size, align_corners, scales_h, scales_w);
}
Tensor _upsample_bicubic2d_aa_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                       bool align_corners, std::optional<double> scales_h,
                                       std::optional<double> scales_w) {
  return resampling_gradient<bool, std::optional<double>, std::optional<double>>(
      "_upsample_bicubic2d_aa_backward", "UpsampleBicubic2DAaBackwardBackward0", Lies::as_it_comes,
      _upsample_bicubic2d_aa, grad_output, output_size, input_size, align_corners, scales_h, scales_w);
}
namespace {
TensorTuple2 grid_sampler_gradient(const char* name, const char* node, int64_t dims, const Tensor& grad_output,
                                   const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                                   int64_t padding_mode, bool align_corners, std::array<bool, 2> mask) {
  HB_CHECK(input.dim() == dims + 2, "[", name, "] expected input of ", dims + 2, " dimensions, got ", input.sizes());
  const auto sample = [&](const Tensor& x, const Tensor& places) {
    return grid_sampler(x, places, interpolation_mode, padding_mode, align_corners);
  };
  Tensor dx, dgrid;
  if (mask[0])
    dx = gradient_of(
        node, grad_output, input, [&](const Tensor& x) { return sample(x, grid); }, needs_grad(grid));
  if (mask[1])
    dgrid = gradient_of(
        node, grad_output, grid, [&](const Tensor& g) { return sample(input, g); }, needs_grad(input));
  return {dx, dgrid};
}
}  // namespace

TensorTuple2 grid_sampler_2d_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                                      int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                                      std::array<bool, 2> mask) {
  return grid_sampler_gradient("grid_sampler_2d_backward", "GridSampler2DBackwardBackward0", 2, grad_output, input,
                               grid, interpolation_mode, padding_mode, align_corners, mask);
}
TensorTuple2 grid_sampler_3d_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                                      int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                                      std::array<bool, 2> mask) {
  return grid_sampler_gradient("grid_sampler_3d_backward", "GridSampler3DBackwardBackward0", 3, grad_output, input,
                               grid, interpolation_mode, padding_mode, align_corners, mask);
}
Tensor affine_grid_generator_backward(const Tensor& grad, IntArrayRef size, bool align_corners) {
  const auto dims = static_cast<int64_t>(size.size()) - 2;
  HB_CHECK(dims == 2 || dims == 3, "[affine_grid_generator_backward] expected a size of 4 or 5 numbers, got ", size);
  return gradient_at_zeros("AffineGridGeneratorBackwardBackward0", grad, {size[0], dims, dims + 1},
                           [&](const Tensor& theta) { return affine_grid_generator(theta, size, align_corners); });
}

}  // namespace hb
