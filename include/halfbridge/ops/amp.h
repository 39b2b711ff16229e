#pragma once
// The device side of loss scaling. Everything stays on the device: no call here waits for a value.

#include <halfbridge/tensor.h>

namespace hb {

/// Multiplies the gradients by `inv_scale` in place and sets `found_inf` to 1 if one of them holds an inf or NaN, in
/// one pass over memory. `found_inf` and `inv_scale` are float32 with one element, on the device of the gradients,
/// which are floating and may differ in dtype and layout. With `inv_scale` undefined they are only looked at.
HB_API void _amp_foreach_non_finite_check_and_unscale_(TensorList self, const Tensor& found_inf,
                                                       const Tensor& inv_scale);
/// The new scale (float32, one element, in place): times `scale_backoff_factor` if `found_inf` is set, times
/// `scale_growth_factor` after `growth_interval` calls in a row without; `growth_tracker` (int32) counts those.
HB_API Tensor& _amp_update_scale_(Tensor& self, Tensor& growth_tracker, const Tensor& found_inf,
                                  double scale_growth_factor, double scale_backoff_factor, int64_t growth_interval);

/// How often this thread has read a tensor's value with item(), for which the host waits for the device.
HB_API uint64_t host_reads();

namespace amp {

/// A bool tensor of no dimensions: whether no tensor holds an inf or NaN. Reads the memory once. Undefined tensors are
/// passed over; all others are floating and on one device.
HB_API Tensor all_finite(TensorList tensors);

}  // namespace amp
}  // namespace hb
