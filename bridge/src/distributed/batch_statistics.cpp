#include "distributed/batch_statistics.h"

#include <halfbridge/distributed/objects.h>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "autograd/record.h"

namespace hb::distributed {

namespace {

// All dimensions but the channels'.
std::vector<int64_t> others(const Tensor& x) {
  std::vector<int64_t> dims{0};
  for (int64_t d = 2; d < x.dim(); ++d) dims.push_back(d);
  return dims;
}
// (C) beside (N, C, ...).
Tensor beside(const Tensor& channels, const Tensor& x) {
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[1] = channels.numel();
  return channels.view(shape);
}
ScalarType wide(const Tensor& x) { return x.scalar_type() == kDouble ? kDouble : kFloat; }

struct Moments {
  double count;
  Tensor mean, var;  // (C), float64; var without correction
};

// Each rank's count, mean and sum of squares about its own mean: sums of squares about zero would lose digits.
Moments moments_of_all(ProcessGroup& group, const Tensor& x) {
  const int64_t channels = x.size(1), count = channels ? x.numel() / channels : 0;
  Tensor own = zeros({2 * channels + 1}, kDouble);
  if (count > 0) {
    const Tensor values = x.to(wide(x)), mean = values.mean(others(x));
    own.narrow(0, 0, channels).copy_(mean);
    const Tensor centred = values - beside(mean, x);
    own.narrow(0, channels, channels).copy_((centred * centred).sum(others(x)));
    own[2 * channels].fill_(static_cast<double>(count));
  }
  own = own.to(x.device());
  std::vector<Tensor> in{own};
  std::vector<std::vector<Tensor>> out(1);
  for (int r = 0; r < group.getSize(); ++r) out[0].push_back(empty_like(own));
  group.allgather(out, in)->wait();
  Moments all{0, zeros({channels}, own.options()), zeros({channels}, own.options())};
  for (const Tensor& t : out[0]) all.count += t[2 * channels].item<double>();
  HB_CHECK(all.count > 1, "[SyncBatchNorm] Expected more than 1 value per channel when training, got ", all.count,
           " on all ranks together");
  for (const Tensor& t : out[0]) all.mean += t.narrow(0, 0, channels) * (t[2 * channels] / all.count);
  for (const Tensor& t : out[0]) {
    const Tensor apart = t.narrow(0, 0, channels) - all.mean;
    all.var += (t.narrow(0, channels, channels) + apart * apart * t[2 * channels]) / all.count;
  }
  return all;
}

void update(const Tensor& running, const Tensor& value, double momentum) {
  if (running.defined()) running.copy_(running.to(kDouble) * (1 - momentum) + value * momentum);
}

Tensor affine(const Tensor& normal, const Tensor& weight, const Tensor& bias) {
  Tensor y = normal;
  if (weight.defined()) y = y * beside(weight.to(y.scalar_type()), y);
  if (bias.defined()) y = y + beside(bias.to(y.scalar_type()), y);
  return y;
}

// Gradients of input, weight and bias. Those of the parameters are this rank's share.
variable_list gradients(ProcessGroup& group, const Tensor& grad, const Tensor& x, const Tensor& weight,
                        const Tensor& mean, const Tensor& scale, double count) {
  const ScalarType dtype = wide(x);
  const Tensor dy = grad.to(dtype), normal = (x.to(dtype) - beside(mean, x)) * beside(scale, x);
  const auto dims = others(x);
  const Tensor sums = stack({dy.sum(dims), (dy * normal).sum(dims)});  // (2, C)
  const Tensor grad_bias = sums[0].clone(), grad_weight = sums[1].clone();
  all_reduce(group, sums);
  Tensor dx = dy - beside(sums[0] / count, x) - normal * beside(sums[1] / count, x);
  dx = dx * beside(weight.defined() ? scale * weight.to(dtype) : scale, x);
  return {dx, grad_weight, grad_bias};
}

}  // namespace

Tensor BatchStatistics::normalise(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                  const Tensor& running_mean, const Tensor& running_var, double momentum,
                                  double eps) const {
  Moments all;
  Tensor y, mean, scale;
  {
    NoGradGuard no_grad;
    all = moments_of_all(*group_, input);
    update(running_mean, all.mean, momentum);
    update(running_var, all.var * (all.count / (all.count - 1)), momentum);
    const ScalarType dtype = wide(input);
    mean = all.mean.to(dtype), scale = (all.var + eps).rsqrt().to(dtype);
    const Tensor normal = (input.to(dtype) - beside(mean, input)) * beside(scale, input);
    y = affine(normal, weight, bias).to(input.scalar_type());
  }
  if (needs_grad(input, weight, bias))
    record("SyncBatchNormBackward", y, {&input, &weight, &bias},
           {SavedTensor::input(input), SavedTensor::input(weight), SavedTensor::input(mean), SavedTensor::input(scale)},
           [group = group_, count = all.count](Backward& b, auto& s) -> variable_list {
             HB_CHECK(!GradMode::is_enabled(),
                      "[SyncBatchNorm] expected a first gradient, got one with create_graph: a "
                      "second gradient is not supported");
             return gradients(*group, b.grad(), s[0], s[1], s[2], s[3], count);
           });
  return y;
}

}  // namespace hb::distributed
