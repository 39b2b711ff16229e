#include <memory>
#include <utility>

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "backend/norm.h"
#include "core/function_watch.h"
#include "core/physical.h"
#include "ops/common/layout.h"
#include "ops/common/or_undefined.h"
#include "ops/nn/counted_batches.h"
#include "ops/nn/late_pass.h"

namespace hb {
namespace {

struct Config {
  bool training;
  double momentum, eps;
};

ScalarType compute_dtype(const Tensor& x) { return x.scalar_type() == kDouble ? kDouble : kFloat; }

// The input in a layout that the kernels walk: channels-last as it lies in memory, else contiguous.
struct Arranged {
  Tensor x;
  NormShape shape;
  bool channels_last;
  explicit Arranged(const Tensor& input) : x(physical(input)) {
    channels_last = input.dim() > 2 && ops::is_physically_channels_last(x);
    if (!channels_last) x = ops::to_contiguous(x);
    int64_t plane = 1;
    for (int64_t d = 2; d < input.dim(); ++d) plane *= input.size(d);
    shape = channels_last ? NormShape{input.size(0) * plane, input.size(1), 1}
                          : NormShape{input.size(0), input.size(1), plane};
  }
  Tensor match(const Tensor& t) const { return channels_last ? ops::to_channels_last(t) : ops::to_contiguous(t); }
};

void check_parameter(const char* what, const Tensor& t, int64_t channels) {
  HB_CHECK(!t.defined() || t.numel() == channels, "[batch_norm] ", what, " should contain ", channels, " elements not ",
           t.numel());
}

void* raw(const Tensor& t) { return t.defined() ? t.impl().visible_data() : nullptr; }

Tensor dense(const Tensor& t) { return t.defined() ? ops::to_contiguous(t) : t; }

BatchNormChannels channels_of(const Tensor& x, const NormShape& s, const Tensor& weight, const Tensor& bias,
                              const Tensor& mean, const Tensor& rstd, const Config& c) {
  BatchNormChannels p;
  p.compute = compute_dtype(x), p.channels = s.channels, p.count = s.count();
  p.eps = c.eps, p.momentum = c.momentum, p.training = c.training;
  if (weight.defined() || bias.defined()) p.affine_dtype = (weight.defined() ? weight : bias).scalar_type();
  p.weight = raw(weight), p.bias = raw(bias), p.mean = raw(mean), p.rstd = raw(rstd);
  return p;
}

variable_list composed_gradients(Backward& b, const Tensor& x, const Tensor& weight, const Tensor& mean,
                                 const Tensor& rstd, bool training, double eps) {
  const Tensor& g = b.grad();
  std::vector<int64_t> dims{0}, shape(x.dim(), 1);
  for (int64_t d = 2; d < x.dim(); ++d) dims.push_back(d);
  shape[1] = x.size(1);
  Tensor m, r;
  if (training) {
    m = x.mean(dims, true);
    r = ((x - m).square().mean(dims, true) + eps).rsqrt();
  } else {
    m = mean.to(x.scalar_type()).view(shape), r = rstd.to(x.scalar_type()).view(shape);
  }
  const Tensor centred = x - m, scale = weight.defined() ? weight.view(shape) * r : r;
  Tensor dx, dw, db;
  if (b.needs(0)) {
    dx = training ? scale * (g - g.mean(dims, true) - centred * r * r * (g * centred).mean(dims, true)) : g * scale;
  }
  if (b.needs(1)) dw = (g * centred * r).sum(dims);
  if (b.needs(2)) db = g.sum(dims);
  return {dx, dw, db};
}

variable_list gradients(Backward& b, const Tensor& input, const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                        ScalarType affine_dtype, const Config& c) {
  if (GradMode::is_enabled()) return composed_gradients(b, input, weight, mean, rstd, c.training, c.eps);
  const Arranged l(input);
  const Tensor& x = l.x;
  const auto late = l.channels_last ? ops::late_pass_of(b.grad()) : nullptr;
  const bool fused = late && !late->pass.scale && late->pass.dtype == x.scalar_type() &&
                     late->kept[0].impl().physical_strides() == x.impl().physical_strides();
  const Tensor g = fused ? b.grad() : l.match(b.grad());
  const Tensor w = dense(weight);
  BatchNormChannels p = channels_of(x, l.shape, w, {}, mean, rstd, c);
  p.affine_dtype = affine_dtype;
  const Tensor work = empty({5, l.shape.channels}, x.options().dtype(p.compute));
  Tensor dx, dw, db;
  if (b.needs(1)) dw = empty({l.shape.channels}, x.options().dtype(affine_dtype));
  if (b.needs(2)) db = empty({l.shape.channels}, x.options().dtype(affine_dtype));
  if (b.needs(0)) dx = ops::empty_same_layout(x);
  const BatchNormGradients wanted{dx.defined() ? dx.impl().raw_data() : nullptr, raw(dw), raw(db), raw(work)};
  if (fused) {
    batch_norm_backward_of_pass_kernel(x.device())(late->pass, p, wanted, late->y, x.impl().raw_data());
    pending::forget(*late);
  } else {
    batch_norm_backward_kernel(x.device())(x.scalar_type(), l.shape, p, wanted, g.impl().raw_data(),
                                           x.impl().raw_data());
  }
  return {dx, dw, db};
}

void check(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& var,
           bool training) {
  HB_CHECK(x.dim() >= 2, "[batch_norm] expected an input of at least 2 dimensions, got ", x.sizes());
  HB_CHECK_SUPPORTED(is_floating_type(x.scalar_type()), "[batch_norm] not implemented for '", x.scalar_type(),
                     "': expected a floating input");
  check_parameter("running_mean", mean, x.size(1));
  check_parameter("running_var", var, x.size(1));
  check_parameter("weight", weight, x.size(1));
  check_parameter("bias", bias, x.size(1));
  HB_CHECK(training || mean.defined(), "[batch_norm] running_mean must be defined in evaluation mode");
  HB_CHECK(training || var.defined(), "[batch_norm] running_var must be defined in evaluation mode");
}

thread_local Tensor* counted = nullptr;

}  // namespace

namespace ops {
bool CountedBatches::take(const Tensor& batches) {
  if (batches.device().is_cpu() || batches.scalar_type() != kLong || batches.numel() != 1) return false;
  delete std::exchange(counted, new Tensor(batches));
  return taken_ = true;
}
CountedBatches::~CountedBatches() {
  if (taken_) delete std::exchange(counted, nullptr);
}
Tensor CountedBatches::next() {
  const std::unique_ptr<Tensor> taken(std::exchange(counted, nullptr));
  return taken ? *taken : Tensor();
}
}  // namespace ops

Tensor batch_norm(const Tensor& input, const std::optional<Tensor>& weight_or_none,
                  const std::optional<Tensor>& bias_or_none, const std::optional<Tensor>& running_mean_or_none,
                  const std::optional<Tensor>& running_var_or_none, bool training, double momentum, double eps,
                  bool cudnn_enabled) {
  const Tensor& weight = or_undefined(weight_or_none);
  const Tensor& bias = or_undefined(bias_or_none);
  const Tensor& running_mean = or_undefined(running_mean_or_none);
  const Tensor& running_var = or_undefined(running_var_or_none);
  HB_FUNCTION(batch_norm, input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled);
  check(input, weight, bias, running_mean, running_var, training);
  const Config c{training, momentum, eps};
  const Arranged l(input);
  const Tensor& x = l.x;
  Tensor out = ops::empty_same_layout(x), batches = training ? ops::CountedBatches::next() : Tensor();
  if (batches.defined() && (x.numel() == 0 || batches.device() != x.device())) {
    batches.add_(1);
    batches.reset();
  }
  if (out.numel() == 0 && !needs_grad(input, weight, bias)) return out;
  const ScalarType compute = compute_dtype(x);
  const Tensor stats = empty({4, l.shape.channels}, x.options().dtype(compute));
  const Tensor mean = stats.select(0, 0), rstd = stats.select(0, 1);
  const Tensor w = dense(weight.defined() ? weight.detach() : weight), b = dense(bias.defined() ? bias.detach() : bias);
  BatchNormChannels p = channels_of(x, l.shape, w, b, mean, rstd, c);
  HB_CHECK(!running_mean.defined() || (running_mean.is_contiguous() && running_var.is_contiguous()),
           "[batch_norm] expected contiguous running statistics");
  p.running_mean = raw(running_mean), p.running_var = raw(running_var);
  if (running_mean.defined()) p.running_dtype = running_mean.scalar_type();
  if (batches.defined()) {
    batches.impl().bump_version();
    p.batches = static_cast<int64_t*>(raw(batches));
  }
  p.scale = raw(stats.select(0, 2)), p.shift = raw(stats.select(0, 3));
  const bool late = l.channels_last && ops::may_be_late(x);
  if (x.numel())
    batch_norm_kernel(x.device())(x.scalar_type(), l.shape, p, late ? nullptr : out.impl().raw_data(),
                                  x.impl().raw_data());
  if (late) {
    ChannelPass pass;
    pass.dtype = x.scalar_type(), pass.shape = l.shape;
    pass.x = x.impl().raw_data(), pass.scale = p.scale, pass.shift = p.shift;
    ops::do_later(out, pass, {x, stats});
  }
  if (training && running_mean.defined()) running_mean.impl().bump_version(), running_var.impl().bump_version();
  if (needs_grad(input, weight, bias)) {
    const ScalarType affine = p.affine_dtype;
    record(
        "NativeBatchNormBackward0", out, {&input, &weight, &bias},
        {SavedTensor::input(input), SavedTensor::input(weight), SavedTensor::input(mean), SavedTensor::input(rstd)},
        [c, affine](Backward& g, auto& s) -> variable_list { return gradients(g, s[0], s[1], s[2], s[3], affine, c); });
  }
  return out;
}

Tensor instance_norm(const Tensor& input, const std::optional<Tensor>& weight_or_none,
                     const std::optional<Tensor>& bias_or_none, const std::optional<Tensor>& running_mean_or_none,
                     const std::optional<Tensor>& running_var_or_none, bool use_input_stats, double momentum,
                     double eps, bool cudnn_enabled) {
  const Tensor& weight = or_undefined(weight_or_none);
  const Tensor& bias = or_undefined(bias_or_none);
  const Tensor& running_mean = or_undefined(running_mean_or_none);
  const Tensor& running_var = or_undefined(running_var_or_none);
  HB_FUNCTION(instance_norm, input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
              cudnn_enabled);
  HB_CHECK(use_input_stats || (running_mean.defined() && running_var.defined()),
           "[instance_norm] Expected running_mean and running_var to be defined when use_input_stats is false");
  HB_CHECK(input.dim() >= 2, "[instance_norm] expected an input of at least 2 dimensions, got ", input.sizes());
  const int64_t n = input.size(0), c = input.size(1);
  DimVector shape(input.impl().sizes());
  shape[0] = 1, shape[1] = n * c;
  const auto repeated = [n](const Tensor& t) { return t.defined() ? t.repeat({n}) : t; };
  const Tensor mean = repeated(running_mean), var = repeated(running_var);
  const Tensor out = batch_norm(input.contiguous().view(shape), repeated(weight), repeated(bias), mean, var,
                                use_input_stats, momentum, eps, cudnn_enabled);
  if (use_input_stats && n > 0) {
    NoGradGuard guard;
    Tensor m = running_mean, v = running_var;
    if (m.defined()) m.copy_(mean.view({n, c}).mean(IntArrayRef({0})));
    if (v.defined()) v.copy_(var.view({n, c}).mean(IntArrayRef({0})));
  }
  return out.view(input.sizes());
}

}  // namespace hb
