#pragma once

#include "backend/kernel.h"

namespace hb {

/// x (batch, groups, channels, plane), contiguous: each group is normalised by itself. weight, bias (groups * channels)
/// may be absent. A device without these kernels normalises rows and scales them afterwards.
struct GroupNorm {
  ScalarType dtype = kFloat, affine_dtype = kFloat;
  int64_t batch = 0, groups = 1, channels = 1, plane = 1;
  double eps = 1e-5;
  const void *weight = nullptr, *bias = nullptr;
};
inline void operands(capture::Operands& v, GroupNorm& p) { v.reads(p.weight), v.reads(p.bias); }
/// mean and rstd (batch, groups): float (double).
HB_API inline Kernel<void(const GroupNorm& p, void* y, const void* x, void* mean, void* rstd)> group_norm_kernel{
    "group_norm"};
/// Each of grad_x, grad_weight, grad_bias may be absent.
HB_API inline Kernel<void(const GroupNorm& p, void* grad_x, void* grad_weight, void* grad_bias, const void* g,
                          const void* x, const void* mean, const void* rstd)>
    group_norm_backward_kernel{"group_norm_backward"};

}  // namespace hb
