#pragma once
// Sizes and strides: pure arithmetic, no tensors.

#include <halfbridge/device.h>
#include <halfbridge/dim_vector.h>

namespace hb::geometry {

bool is_contiguous(const DimVector& sizes, const DimVector& strides);
/// Every element has its own place and the places leave no gaps (in some order of dimensions).
bool is_dense(const DimVector& sizes, const DimVector& strides);
/// A dimension repeats one element (it was expanded).
bool overlaps_itself(const DimVector& sizes, const DimVector& strides);
/// False: every element has its own place. True where two may share one, as in overlapping windows (unfold).
bool may_overlap_itself(const DimVector& sizes, const DimVector& strides);
DimVector contiguous_strides(const DimVector& sizes);
/// (N, C, H, W) or (N, C, D, H, W) with C innermost in memory.
DimVector channels_last_strides(const DimVector& sizes);
/// The same of 3 to 5 dimensions, which the caller checked.
DimVector channels_inmost_strides(const DimVector& sizes);
bool is_channels_last(const DimVector& sizes, const DimVector& strides);
/// Contiguous strides with dimensions in the order of size of the given strides.
DimVector dense_strides_like(const DimVector& sizes, const DimVector& strides);
/// The same for several operands: of two dimensions the first decides in which neither is broadcast (stride 0).
DimVector dense_strides_like(const DimVector& sizes, ArrayRef<DimVector> operands);
/// Throws where the product overflows.
int64_t numel(const DimVector& sizes);
/// What `elements` of `item` bytes take; throws where the product overflows.
size_t bytes(int64_t elements, size_t item);
/// Elements from the first to one past the last that the geometry touches, `offset` of them before the first. Throws
/// where the sum overflows.
int64_t extent(const DimVector& sizes, const DimVector& strides, int64_t offset = 0);
/// Strides under which memory of `old_sizes` and `old_strides` reads as `sizes`; false where a copy is needed.
bool view_strides(const DimVector& old_sizes, const DimVector& old_strides, const DimVector& sizes, DimVector& strides);
/// A dimension number in [-dim, dim) as one in [0, dim); 0-d counts as 1-d unless `wrap_scalar` is off.
int64_t wrap_dim(const char* name, int64_t d, int64_t dim, bool wrap_scalar = true);
/// Replaces one -1 by what fits; checks the count of elements.
DimVector infer_size(const char* name, IntArrayRef shape, int64_t numel);
MemoryFormat channels_last_format(size_t dim);

}  // namespace hb::geometry
