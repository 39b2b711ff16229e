#pragma once
// Kernels of loss scaling. The scale, its reciprocal and the overflow flag stay on the device: nothing here makes the
// host wait.

#include <cstdint>

#include <halfbridge/array_ref.h>

#include "backend/kernel.h"

namespace hb {

/// The memory of a gradient, dense in any layout.
struct GradSpan {
  void* data;
  int64_t numel;
};
inline void operands(capture::Operands& v, GradSpan& s) { v.changes(s.data); }

/// Multiplies all gradients by *inv_scale in place and sets *found_inf to 1 if one of them held an inf or NaN: one read
/// and one write of the memory. Without inv_scale it only looks: one read.
HB_API inline Kernel<void(ScalarType dtype, ArrayRef<GradSpan> grads, const float* inv_scale, float* found_inf)>
    check_unscale_kernel{"_amp_foreach_non_finite_check_and_unscale_"};

struct ScaleUpdate {
  double growth_factor, backoff_factor;
  int64_t growth_interval;
};
HB_NO_OPERANDS(ScaleUpdate)
/// After an overflow *scale shrinks; after `growth_interval` steps without one it grows, unless it would become inf.
HB_API inline Kernel<void(float* scale, int32_t* growth_tracker, const float* found_inf, const ScaleUpdate& update)>
    update_scale_kernel{"_amp_update_scale_"};

/// Throws where the total norm of gradients (float64, one element) is infinite or NaN; `norm_type` is for the message.
HB_API inline Kernel<void(const Tensor& total, double norm_type)> check_norm_kernel{"clip_grad_norm_"};

}  // namespace hb
