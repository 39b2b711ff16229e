// Functions under the names of LibTorch's kernels, whose usual forms have others.
#include <halfbridge/bridge/inner_functions.h>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/gradients.h>

namespace hb::bridge {
inline namespace api {

namespace {
/// LAPACK reads a contiguous real matrix as its transpose, whose determinant is the same.
std::tuple<Tensor, Tensor> factors_of(const Tensor& A) {
  NoGradGuard no_grad;
  const auto [lu, pivots, info] = linalg_lu_factor_ex(A.is_contiguous() && !A.is_complex() ? A.mT() : A);
  return {lu, pivots};
}
}  // namespace
std::tuple<Tensor, Tensor, Tensor> _linalg_det(const Tensor& A) {
  const Tensor det = linalg_det(A);
  const auto [lu, pivots] = factors_of(A);
  return {det, lu, pivots};
}
std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_slogdet(const Tensor& A) {
  const auto [sign, logabsdet] = linalg_slogdet(A);
  const auto [lu, pivots] = factors_of(A);
  return {sign, logabsdet, lu, pivots};
}
std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_solve_ex(const Tensor& A, const Tensor& B, bool left,
                                                            bool check_errors) {
  const auto [x, info] = linalg_solve_ex(A, B, left, check_errors);
  NoGradGuard no_grad;
  const auto [lu, pivots, same] = linalg_lu_factor_ex(left ? A : A.mT());
  return {x, lu, pivots, info};
}

Tensor _slow_conv2d_forward(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                            const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding) {
  return thnn_conv2d(self, weight, kernel_size, bias, stride, padding);
}
Tensor slow_conv3d_forward(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                           const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding) {
  return slow_conv3d(self, weight, kernel_size, bias, stride, padding);
}
Tensor _grid_sampler_2d_cpu_fallback(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                                     int64_t padding_mode, bool align_corners) {
  return grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners);
}
std::tuple<Tensor, Tensor> _grid_sampler_2d_cpu_fallback_backward(const Tensor& grad_output, const Tensor& input,
                                                                  const Tensor& grid, int64_t interpolation_mode,
                                                                  int64_t padding_mode, bool align_corners) {
  return grid_sampler_2d_backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners,
                                  {true, true});
}

Tensor glu_jvp(const Tensor& glu, const Tensor& x, const Tensor& dx, int64_t dim) {
  const int64_t half = glu.size(dim);
  const Tensor gate = sigmoid(x.narrow(dim, half, half));
  const Tensor of_value = dx.narrow(dim, 0, half), of_gate = dx.narrow(dim, half, half);
  return of_value * gate + glu * (of_gate - gate * of_gate);
}

std::tuple<Tensor, Tensor> rrelu_with_noise_functional(const Tensor& self, const Tensor& noise, const Scalar& lower,
                                                       const Scalar& upper, bool training,
                                                       std::optional<Generator> generator) {
  Tensor drawn = noise.clone();
  const Tensor result = rrelu_with_noise(self, drawn, lower, upper, training, generator);
  return {result, drawn};
}

std::tuple<Tensor, Tensor> _weight_norm_interface_backward(const Tensor& grad_w, const Tensor& saved_v,
                                                           const Tensor& saved_g, const Tensor& saved_norms,
                                                           int64_t dim) {
  std::vector<int64_t> others;
  for (int64_t d = 0; d < saved_v.dim(); ++d)
    if (d != dim) others.push_back(d);
  const Tensor along = (grad_w * saved_v).sum(others, /*keepdim=*/true).to(saved_norms.scalar_type()) / saved_norms;
  const Tensor of_v = saved_g / saved_norms * (grad_w - saved_v * (along / saved_norms));
  return {of_v.to(saved_v.scalar_type()), along.to(saved_g.scalar_type())};
}

Tensor _coalesced(const Tensor& self, bool coalesced) { return self.clone()._coalesced_(coalesced); }
Tensor& copy_sparse_to_sparse_(Tensor& self, const Tensor& src, bool non_blocking) {
  HB_CHECK(self.is_sparse() && src.is_sparse(), "copy_sparse_to_sparse_: expected sparse tensors, got ", self.layout(),
           " and ", src.layout());
  return self.copy_(src, non_blocking);
}
Tensor copy_sparse_to_sparse(const Tensor& self, const Tensor& src, bool non_blocking) {
  Tensor copy = self.clone();
  return copy_sparse_to_sparse_(copy, src, non_blocking);
}

}  // namespace api
}  // namespace hb::bridge
