#pragma once
// Channels-last memory below the layout that the program sees.

#include <halfbridge/tensor.h>

namespace hb::ops {

/// Whether memory runs (N, spatial…, C), for 3 to 5 dimensions; dimensions of size 1 do not matter.
bool is_physically_channels_last(const Tensor& t);
/// `t`, or a copy of its values that is physically channels-last. Without history; not for the program's eyes.
Tensor to_channels_last(const Tensor& t);
/// `t`, or a copy, contiguous; `t` itself does not settle.
Tensor to_contiguous(const Tensor& t);
/// A new channels-last tensor. Deferred (the program sees it as contiguous) unless `visible`.
Tensor empty_channels_last(const DimVector& sizes, ScalarType dtype, const Device& device, bool visible);
/// Whether the program itself chose channels-last for this tensor.
bool is_visibly_channels_last(const Tensor& t);
/// A new tensor with the physical layout of `t`, which is channels-last or contiguous; deferred if `t` is.
Tensor empty_same_layout(const Tensor& t);

}  // namespace hb::ops
