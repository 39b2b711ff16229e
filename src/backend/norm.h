#pragma once

#include "backend/kernel.h"

#include <halfbridge/dtype.h>

namespace hb {

/// Memory seen as (outer, channels, inner), contiguous: (N, C, plane), or (N * plane, C, 1) when channels-last.
struct NormShape {
  int64_t outer, channels, inner;
  int64_t count() const { return outer * inner; }
};
HB_NO_OPERANDS(NormShape)
// Statistics are float (double for double). Affine parameters have their own dtype.
/// mean and variance (biased) of each channel.
HB_API inline Kernel<void(ScalarType dtype, const NormShape& s, const void* x, void* mean, void* var)>
    channel_stats_kernel{"batch_norm"};
/// y = x * scale + shift, per channel; scale and shift float (double).
HB_API inline Kernel<void(ScalarType dtype, const NormShape& s, void* y, const void* x, const void* scale,
                          const void* shift)>
    channel_affine_kernel{"batch_norm"};
/// Per channel the sums of g and of g * (x - mean).
HB_API inline Kernel<void(ScalarType dtype, const NormShape& s, const void* g, const void* x, const void* mean,
                          void* sum_g, void* sum_gx)>
    channel_grad_stats_kernel{"batch_norm_backward"};
/// grad_x = g * a + (x - mean) * b + c, per channel.
HB_API inline Kernel<void(ScalarType dtype, const NormShape& s, void* grad_x, const void* g, const void* x,
                          const void* mean, const void* a, const void* b, const void* c)>
    channel_grad_kernel{"batch_norm_backward"};

/// The small arithmetic between the passes. All pointers are (channels); those of parameters may be absent.
struct BatchNormChannels {
  ScalarType compute = kFloat, affine_dtype = kFloat, running_dtype = kFloat;
  int64_t channels = 0, count = 0;
  double eps = 0, momentum = 0;
  bool training = false;
  const void *weight = nullptr, *bias = nullptr;
  void *running_mean = nullptr, *running_var = nullptr;
  void *mean = nullptr, *rstd = nullptr;  // rstd holds the variance at first
};
inline void operands(capture::Operands& v, BatchNormChannels& p) {
  v.reads(p.weight), v.reads(p.bias);
  v.changes(p.running_mean), v.changes(p.running_var), v.changes(p.mean), v.changes(p.rstd);
}
/// From the statistics (in training) or the running ones: mean, rstd, scale, shift; updates the running ones.
HB_API inline Kernel<void(const BatchNormChannels& p, void* scale, void* shift)> batch_norm_channels_kernel{
    "batch_norm"};
/// From the sums: what channel_grad_kernel multiplies with, and the gradients of the parameters (may be absent).
HB_API inline Kernel<void(const BatchNormChannels& p, const void* sum_g, const void* sum_gx, void* a, void* b, void* c,
                          void* grad_weight, void* grad_bias)>
    batch_norm_grad_channels_kernel{"batch_norm_backward"};

/// Rows normalised one by one: layer_norm (rms: without the mean). weight, bias (n) may be absent.
struct RowNorm {
  ScalarType dtype = kFloat, affine_dtype = kFloat;
  int64_t rows = 0, n = 0;
  double eps = 1e-5;
  bool rms = false;
  const void *weight = nullptr, *bias = nullptr;
};
inline void operands(capture::Operands& v, RowNorm& p) { v.reads(p.weight), v.reads(p.bias); }
/// mean and rstd (rows): float (double).
HB_API inline Kernel<void(const RowNorm& p, void* y, const void* x, void* mean, void* rstd)> row_norm_kernel{
    "layer_norm"};
/// Each of grad_x, grad_weight, grad_bias may be absent.
HB_API inline Kernel<void(const RowNorm& p, void* grad_x, void* grad_weight, void* grad_bias, const void* g,
                          const void* x, const void* mean, const void* rstd)>
    row_norm_backward_kernel{"layer_norm_backward"};

}  // namespace hb
