#pragma once
// The arithmetic of batch_norm that is done once per channel.

#include <cmath>

#include "backend/norm.h"
#include "formulas/host_device.h"

namespace hb::per_channel {

HB_HD double get(ScalarType t, const void* p, int64_t i) {
  switch (t) {
    case kDouble:
      return static_cast<const double*>(p)[i];
    case kHalf:
      return static_cast<float>(static_cast<const Half*>(p)[i]);
    case kBFloat16:
      return static_cast<float>(static_cast<const BFloat16*>(p)[i]);
    default:
      return static_cast<const float*>(p)[i];
  }
}
HB_HD void put(ScalarType t, void* p, int64_t i, double value) {
  switch (t) {
    case kDouble:
      static_cast<double*>(p)[i] = value;
      return;
    case kHalf:
      static_cast<Half*>(p)[i] = Half(static_cast<float>(value));
      return;
    case kBFloat16:
      static_cast<BFloat16*>(p)[i] = BFloat16(static_cast<float>(value));
      return;
    default:
      static_cast<float*>(p)[i] = static_cast<float>(value);
  }
}

HB_HD void update_running(const BatchNormChannels& p, int64_t i, double mean, double var) {
  const double n = static_cast<double>(p.count), unbiased = var * (n / (n - 1));
  if (p.running_mean)
    put(p.running_dtype, p.running_mean, i,
        p.momentum * mean + (1 - p.momentum) * get(p.running_dtype, p.running_mean, i));
  if (p.running_var)
    put(p.running_dtype, p.running_var, i,
        p.momentum * unbiased + (1 - p.momentum) * get(p.running_dtype, p.running_var, i));
}

/// What the gradient's kernel reads and writes for each channel: grad_x = g * a + (x - mean) * b + c.
struct GradChannels {
  void *sum_g, *sum_gx, *a, *b, *c, *grad_weight, *grad_bias;
  HB_HD GradChannels(const BatchNormChannels& p, const BatchNormGradients& grad)
      : grad_weight(grad.weight), grad_bias(grad.bias) {
    const int64_t row = p.channels * (p.compute == kDouble ? 8 : 4);
    char* const work = static_cast<char*>(grad.work);
    sum_g = work, sum_gx = work + row, a = work + 2 * row, b = work + 3 * row, c = work + 4 * row;
  }
};

/// From the statistics of channel i (in training) or the running ones: mean, rstd, scale, shift; updates the running
/// ones.
HB_HD void channel(const BatchNormChannels& p, int64_t i) {
  const double mean = p.training ? get(p.compute, p.mean, i) : get(p.running_dtype, p.running_mean, i);
  const double var = p.training ? get(p.compute, p.rstd, i) : get(p.running_dtype, p.running_var, i);
  if (p.training) update_running(p, i, mean, var);
  const double rstd = 1 / std::sqrt(var + p.eps);
  put(p.compute, p.mean, i, mean);
  put(p.compute, p.rstd, i, rstd);
  const double a = (p.weight ? get(p.affine_dtype, p.weight, i) : 1.0) * rstd;
  put(p.compute, p.scale, i, a);
  put(p.compute, p.shift, i, (p.bias ? get(p.affine_dtype, p.bias, i) : 0.0) - mean * a);
}

/// From the sums of channel i: what its gradient is made of, and the gradients of the parameters (may be absent).
HB_HD void grad_channel(const BatchNormChannels& p, int64_t i, const GradChannels& grad) {
  const double n = static_cast<double>(p.count);
  const double rstd = get(p.compute, p.rstd, i), g = get(p.compute, grad.sum_g, i), gx = get(p.compute, grad.sum_gx, i);
  const double scale = (p.weight ? get(p.affine_dtype, p.weight, i) : 1.0) * rstd;
  put(p.compute, grad.a, i, scale);
  put(p.compute, grad.b, i, p.training ? -scale * rstd * rstd * gx / n : 0);
  put(p.compute, grad.c, i, p.training ? -scale * g / n : 0);
  if (grad.grad_weight) put(p.affine_dtype, grad.grad_weight, i, gx * rstd);
  if (grad.grad_bias) put(p.affine_dtype, grad.grad_bias, i, g);
}

}  // namespace hb::per_channel
