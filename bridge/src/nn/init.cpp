#include <halfbridge/bridge/nn/init.h>

#include <algorithm>
#include <cmath>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

namespace hb::bridge::nn::init {

namespace {

double xavier_std(const Tensor& tensor, double gain) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
}

double kaiming_std(const Tensor& tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  const int64_t fan = std::holds_alternative<enumtype::kFanIn>(mode) ? fan_in : fan_out;
  return calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(fan));
}

}  // namespace

double calculate_gain(NonlinearityType nonlinearity, double param) {
  if (std::holds_alternative<enumtype::kTanh>(nonlinearity)) return 5.0 / 3.0;
  if (std::holds_alternative<enumtype::kReLU>(nonlinearity)) return std::sqrt(2.0);
  if (std::holds_alternative<enumtype::kLeakyReLU>(nonlinearity)) return std::sqrt(2.0 / (1 + param * param));
  return 1.0;
}

std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  HB_CHECK(tensor.dim() >= 2, "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
  int64_t receptive_field = 1;
  for (int64_t d = 2; d < tensor.dim(); ++d) receptive_field *= tensor.size(d);
  return {tensor.size(1) * receptive_field, tensor.size(0) * receptive_field};
}

Tensor constant_(Tensor tensor, Scalar value) {
  NoGradGuard no_grad;
  return tensor.fill_(value);
}
Tensor zeros_(Tensor tensor) {
  NoGradGuard no_grad;
  return tensor.zero_();
}
Tensor ones_(Tensor tensor) {
  NoGradGuard no_grad;
  return tensor.fill_(1);
}
Tensor normal_(Tensor tensor, double mean, double std) {
  NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}
Tensor uniform_(Tensor tensor, double low, double high) {
  NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}

Tensor eye_(Tensor matrix) {
  NoGradGuard no_grad;
  HB_CHECK(matrix.dim() == 2, "Only tensors with 2 dimensions are supported");
  matrix.zero_();
  matrix.diagonal().fill_(1);
  return matrix;
}

Tensor dirac_(Tensor tensor) {
  NoGradGuard no_grad;
  HB_CHECK(tensor.dim() >= 3 && tensor.dim() <= 5, "Only tensors with 3, 4, or 5 dimensions are supported");
  tensor.zero_();
  const int64_t channels = std::min(tensor.size(0), tensor.size(1));
  for (int64_t c = 0; c < channels; ++c) {
    Tensor kernel = tensor.select(0, c).select(0, c);
    while (kernel.dim() > 0) kernel = kernel.select(0, kernel.size(0) / 2);
    kernel.fill_(1);
  }
  return tensor;
}

Tensor orthogonal_(Tensor tensor, double gain) {
  NoGradGuard no_grad;
  HB_CHECK(tensor.dim() >= 2, "Only tensors with 2 or more dimensions are supported");
  const int64_t rows = tensor.size(0);
  const int64_t columns = rows ? tensor.numel() / rows : 0;
  Tensor values = randn({rows, columns});
  if (rows < columns) values = values.t();
  auto [q, r] = linalg_qr(values);
  // The signs of R's diagonal make Q uniform among the orthogonal matrices (Mezzadri, 2007).
  q = q * r.diagonal().sign();
  if (rows < columns) q = q.t();
  tensor.view_as(q).copy_(q);
  return tensor.mul_(gain);
}

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  NoGradGuard no_grad;
  HB_CHECK(tensor.dim() == 2, "Only tensors with 2 dimensions are supported");
  const int64_t rows = tensor.size(0);
  const auto zeros_per_column = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  tensor.normal_(0, std);
  for (int64_t column = 0; column < tensor.size(1); ++column) {
    const Tensor dropped = randperm(rows, tensor.options().dtype(kLong)).slice(0, 0, zeros_per_column);
    tensor.select(1, column).index_fill_(0, dropped, 0);
  }
  return tensor;
}

Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  NoGradGuard no_grad;
  return tensor.normal_(0, kaiming_std(tensor, a, mode, nonlinearity));
}
Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  NoGradGuard no_grad;
  const double bound = std::sqrt(3.0) * kaiming_std(tensor, a, mode, nonlinearity);
  return tensor.uniform_(-bound, bound);
}
Tensor kaiming_normal_(Tensor tensor, double a) { return kaiming_normal_(std::move(tensor), a, enumtype::kFanIn()); }
Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode) {
  return kaiming_normal_(std::move(tensor), a, mode, enumtype::kLeakyReLU());
}
Tensor kaiming_uniform_(Tensor tensor, double a) { return kaiming_uniform_(std::move(tensor), a, enumtype::kFanIn()); }
Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode) {
  return kaiming_uniform_(std::move(tensor), a, mode, enumtype::kLeakyReLU());
}
Tensor xavier_normal_(Tensor tensor, double gain) {
  NoGradGuard no_grad;
  return tensor.normal_(0, xavier_std(tensor, gain));
}
Tensor xavier_uniform_(Tensor tensor, double gain) {
  NoGradGuard no_grad;
  const double bound = std::sqrt(3.0) * xavier_std(tensor, gain);
  return tensor.uniform_(-bound, bound);
}

}  // namespace hb::bridge::nn::init
