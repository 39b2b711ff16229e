#include "formulas/batch_norm.h"

namespace hb::cpu {
namespace {

using per_channel::GradChannels;

void batch_norm(ScalarType dtype, const NormShape& s, const BatchNormChannels& p, void* y, const void* x) {
  if (p.batches && p.training) ++*p.batches;
  if (p.training) channel_stats_kernel(kCPU)(dtype, s, x, p.mean, p.rstd);
  for (int64_t i = 0; i < p.channels; ++i) per_channel::channel(p, i);
  if (y) channel_affine_kernel(kCPU)(dtype, s, y, x, p.scale, p.shift);
}

void batch_norm_backward(ScalarType dtype, const NormShape& s, const BatchNormChannels& p,
                         const BatchNormGradients& grad, const void* g, const void* x) {
  const GradChannels of(p, grad);
  channel_grad_stats_kernel(kCPU)(dtype, s, g, x, p.mean, of.sum_g, of.sum_gx);
  for (int64_t i = 0; i < p.channels; ++i) per_channel::grad_channel(p, i, of);
  if (grad.x) channel_grad_kernel(kCPU)(dtype, s, grad.x, g, x, p.mean, of.a, of.b, of.c);
}

HB_REGISTER_CPU(batch_norm_kernel, batch_norm);
HB_REGISTER_CPU(batch_norm_backward_kernel, batch_norm_backward);

}  // namespace
}  // namespace hb::cpu
