#include <halfbridge/bridge/inner_functions.h>

#include <halfbridge/error.h>
#include <halfbridge/ops.h>

namespace hb::bridge {
inline namespace api {

namespace {
void check_sampled(const char* name, const Tensor& input, int64_t dims) {
  HB_CHECK(input.dim() == dims, "[", name, "] expected input of ", dims, " dimensions, got sizes ", input.sizes());
}

/// Also the number of dimensions that the kernel moves along.
void check_kernel(const char* name, const Tensor& self, const Tensor& weight, IntArrayRef kernel_size, size_t dims) {
  HB_CHECK(kernel_size.size() == dims, "[", name, "] expected a kernel_size of ", dims, " numbers, got ", kernel_size);
  HB_CHECK(weight.dim() == static_cast<int64_t>(dims) + 2 && weight.sizes().slice(2) == kernel_size, "[", name,
           "] expected weight to end in kernel_size ", kernel_size, ", got weight of sizes ", weight.sizes());
  HB_CHECK(self.dim() == weight.dim() || self.dim() == weight.dim() - 1, "[", name, "] expected input of ",
           weight.dim() - 1, " or ", weight.dim(), " dimensions, got sizes ", self.sizes());
}
}  // namespace

Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                       bool align_corners) {
  check_sampled("grid_sampler_2d", input, 4);
  return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners);
}
Tensor grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                       bool align_corners) {
  check_sampled("grid_sampler_3d", input, 5);
  return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners);
}

Tensor thnn_conv2d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size, const std::optional<Tensor>& bias,
                   IntArrayRef stride, IntArrayRef padding) {
  check_kernel("thnn_conv2d", self, weight, kernel_size, 2);
  return conv2d(self, weight, bias, stride, padding, 1, 1);
}
Tensor slow_conv3d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size, const std::optional<Tensor>& bias,
                   IntArrayRef stride, IntArrayRef padding) {
  check_kernel("slow_conv3d", self, weight, kernel_size, 3);
  return conv3d(self, weight, bias, stride, padding, 1, 1);
}
Tensor slow_conv_dilated2d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                           const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                           IntArrayRef dilation) {
  check_kernel("slow_conv_dilated2d", self, weight, kernel_size, 2);
  return conv2d(self, weight, bias, stride, padding, dilation, 1);
}
Tensor slow_conv_dilated3d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                           const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                           IntArrayRef dilation) {
  check_kernel("slow_conv_dilated3d", self, weight, kernel_size, 3);
  return conv3d(self, weight, bias, stride, padding, dilation, 1);
}
Tensor slow_conv_transpose2d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                             const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                             IntArrayRef output_padding, IntArrayRef dilation) {
  check_kernel("slow_conv_transpose2d", self, weight, kernel_size, 2);
  return conv_transpose2d(self, weight, bias, stride, padding, output_padding, 1, dilation);
}
Tensor slow_conv_transpose3d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                             const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                             IntArrayRef output_padding, IntArrayRef dilation) {
  check_kernel("slow_conv_transpose3d", self, weight, kernel_size, 3);
  return conv_transpose3d(self, weight, bias, stride, padding, output_padding, 1, dilation);
}

Tensor conv_depthwise3d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                        const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef dilation) {
  check_kernel("conv_depthwise3d", self, weight, kernel_size, 3);
  return conv3d(self, weight, bias, stride, padding, dilation, self.size(-4));
}

Tensor native_channel_shuffle(const Tensor& self, int64_t groups) { return channel_shuffle(self, groups); }

Tensor native_norm(const Tensor& self, const Scalar& p) {
  HB_CHECK_SUPPORTED(self.is_sparse(), "[native_norm] expected a sparse tensor, got ", self.layout(),
                     ": take norm(), which has any");
  return norm(self, p);
}
Tensor native_norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  HB_CHECK(!keepdim, "norm_sparse currently does not support keepdim=True");
  HB_CHECK(dim.empty() || static_cast<int64_t>(dim.size()) == self.dim(),
           "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all "
           "dimensions of the input");
  HB_CHECK(!dtype, "norm_sparse currently does not support 'dtype' argument");
  return native_norm(self, p.value_or(2));
}
Tensor linalg__powsum(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim,
                      std::optional<ScalarType> dtype) {
  return (dtype ? self.to(*dtype) : self).abs().pow(ord).sum(dim, keepdim);
}

const Tensor& resize_as_sparse_(const Tensor& self, const Tensor& the_template) {
  return self.resize_as_sparse_(the_template);
}
Tensor resize_as_sparse(const Tensor& self, const Tensor& the_template) {
  return self.clone().resize_as_sparse_(the_template);
}
Tensor sparse_resize(const Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) {
  return self.clone().sparse_resize_(size, sparse_dim, dense_dim);
}
Tensor sparse_resize_and_clear(const Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) {
  return self.clone().sparse_resize_and_clear_(size, sparse_dim, dense_dim);
}

Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
  HB_CHECK(self.dim() == 3 && weight.dim() == 3 && bias.dim() == 1,
           "[conv_tbc] expected input and weight of 3 dimensions and a bias of 1, got sizes ", self.sizes(), ", ",
           weight.sizes(), " and ", bias.sizes());
  HB_CHECK(self.size(2) == weight.size(1), "[conv_tbc] Input dim 2 (input channels) is ", self.size(2),
           ", expected weight's dim 1, ", weight.size(1));
  HB_CHECK(bias.size(0) == weight.size(2), "[conv_tbc] expected a bias of ", weight.size(2), " elements, got ",
           bias.size(0));
  // (T, N, Cin) to (N, Cin, T), (K, Cin, Cout) to (Cout, Cin, K)
  return conv1d(self.permute({1, 2, 0}), weight.permute({2, 1, 0}), bias, 1, pad, 1, 1).permute({2, 0, 1}).contiguous();
}

std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  return (self.dim() == 0 ? self.unsqueeze(0) : self).nonzero().unbind(1);
}
Tensor embedding_renorm(const Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  Tensor copy = self.clone();
  return embedding_renorm_(copy, indices, max_norm, norm_type);
}

}  // namespace api
}  // namespace hb::bridge
