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
/// A new tensor like `model`, of other sizes perhaps: channels-last where the program chose that for `model` and both
/// have as many dimensions, else contiguous.
Tensor empty_in_layout_of(const Tensor& model, IntArrayRef sizes);
/// The values of `t` in memory of these strides, which fill it: `t` itself or a copy that is recorded.
Tensor in_strides(const Tensor& t, const DimVector& strides);
/// How a clone of `t` lies in memory.
DimVector strides_of_clone(const Tensor& t);
/// `result` in the layout that empty_in_layout_of() would give it: itself, or a copy that is recorded.
Tensor in_layout_of(const Tensor& model, const Tensor& result);
/// A new tensor of the strides of `model` where that fills its memory, in whatever order; else contiguous.
Tensor empty_in_order_of(const Tensor& model, ScalarType dtype);
/// The values of `t`, in the order in which `like` lies in memory, which is one of empty_in_order_of(). Without
/// history.
Tensor in_order_of(const Tensor& like, const Tensor& t);
/// A new tensor with the physical layout of `t`, which is channels-last or contiguous; deferred if `t` is.
Tensor empty_same_layout(const Tensor& t);

/// A matrix that is new and contiguous, as its transpose: no view, to programs.
Tensor turned(Tensor fresh);

}  // namespace hb::ops
