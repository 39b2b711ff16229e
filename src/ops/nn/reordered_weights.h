#pragma once
// Weights of convolutions as a device wants them: channels-last, where it has transpose_list_kernel.

#include <halfbridge/tensor.h>

namespace hb::ops {

/// Whether convolutions of this device are given channels-last weights, and give such gradients.
bool wants_reordered_weights(const Device& device);
/// The values of a weight, channels-last, without history. Those of a parameter are kept from call to call until it
/// changes: in place (the version says so), through what data() gave out, or through an alias that is still there. A
/// parameter whose address the program was given is brought to that order in every call. Any number of threads may ask.
Tensor reordered_weight(const Tensor& weight);
/// Brings what is kept of these parameters up to date, all in one launch: an optimizer has changed them.
void refresh_reordered_weights(TensorList weights);
/// Turns deferred tensors contiguous, all in one launch where the device can.
void settle_all(TensorList tensors);

}  // namespace hb::ops
