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
// The passes of batch norm on the CPU:
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

/// What there is once per channel. All pointers but one are (channels); those of parameters may be absent.
struct BatchNormChannels {
  ScalarType compute = kFloat, affine_dtype = kFloat, running_dtype = kFloat;
  int64_t channels = 0, count = 0;
  double eps = 0, momentum = 0;
  bool training = false;
  const void *weight = nullptr, *bias = nullptr;
  void *running_mean = nullptr, *running_var = nullptr;
  void *mean = nullptr, *rstd = nullptr;    // rstd holds the variance at first
  void *scale = nullptr, *shift = nullptr;  // of the forward pass: y = x * scale + shift
  int64_t* batches = nullptr;               // one number, which a call in training counts up; may be absent
};
inline void operands(capture::Operands& v, BatchNormChannels& p) {
  v.reads(p.weight), v.reads(p.bias);
  v.changes(p.running_mean), v.changes(p.running_var), v.changes(p.mean), v.changes(p.rstd);
  v.changes(p.scale), v.changes(p.shift), v.changes(p.batches);
}
/// y from x: statistics in training, which update the running ones, else those; mean, rstd, scale and shift are kept.
HB_API inline Kernel<void(ScalarType dtype, const NormShape& s, const BatchNormChannels& p, void* y, const void* x)>
    batch_norm_kernel{"batch_norm"};

/// Those of x and the parameters may be absent. work: (5, channels) in float (double for double).
struct BatchNormGradients {
  void *x = nullptr, *weight = nullptr, *bias = nullptr, *work = nullptr;
};
inline void operands(capture::Operands& v, BatchNormGradients& g) {
  v.writes(g.x), v.writes(g.weight), v.writes(g.bias), v.changes(g.work);
}
HB_API inline Kernel<void(ScalarType dtype, const NormShape& s, const BatchNormChannels& p,
                          const BatchNormGradients& grad, const void* g, const void* x)>
    batch_norm_backward_kernel{"batch_norm_backward"};

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
