#pragma once

#include <halfbridge/tensor.h>

#include "backend/kernel.h"
#include "backend/reduce.h"

namespace hb {

/// How a value is put where an index points to.
enum class PutOp { assign, add, multiply, max, min };

// Index tensors are int64, and contiguous for rows. Kernels check every index against the size: [name] index i is out
// of range.

/// out = index, `size` added where it is negative; contiguous. Throws [name] index i is out of bounds for dimension
/// `dim` with size `size`, unless name is null. Where `before` is defined, places of the dimensions before this one,
/// out = before * size + that.
HB_API inline Kernel<void(const Tensor& out, const Tensor& index, const Tensor& before, int64_t size, const char* name,
                          int64_t dim)>
    wrap_index_kernel{"index"};
/// 0 counts[0] times, then 1 counts[1] times, and so on. counts: int64, contiguous; none negative.
HB_API inline Kernel<Tensor(const Tensor& counts)> repeated_places_kernel{"repeat_interleave"};

/// out[o][k][:] = in[o][index[k]][:] of contiguous tensors; lines: (outer, size of the indexed dimension, inner).
HB_API inline Kernel<void(const char* name, const Tensor& out, const Tensor& in, const Tensor& index, Lines)>
    select_rows_kernel{"index_select"};
/// Indexed dimensions of a tensor, the outermost first: the size of each, and its number, for what is said of an index
/// that is out of bounds.
struct IndexedSizes {
  static constexpr int kMost = 3;
  int count = 0;
  int64_t size[kMost] = {}, dim[kMost] = {};
  void add(int64_t of, int64_t number) { size[count] = of, dim[count++] = number; }
};
HB_NO_OPERANDS(IndexedSizes)
/// The same by an index for each of several dimensions, which are the lines' dimension together; contiguous, of one
/// shape, negative from the end. Those beyond `count` are undefined. A device may have none.
HB_API inline Kernel<void(const char* name, const Tensor& out, const Tensor& in, const Tensor& first,
                          const Tensor& second, const Tensor& third, IndexedSizes, Lines)>
    select_places_kernel{"index"};
/// out[o][index[k]][:] = or += in[o][k][:].
HB_API inline Kernel<void(const char* name, const Tensor& out, const Tensor& index, const Tensor& in, Lines, PutOp)>
    put_rows_kernel{"index_put_"};

/// out[…][k][…] = in[…][index[…][k][…]][…] along dim; out contiguous, in and index of any layout
/// (an expanded index moves whole rows).
HB_API inline Kernel<void(const char* name, const Tensor& out, const Tensor& in, const Tensor& index, int64_t dim)>
    gather_kernel{"gather"};
/// out[…][index[…][k][…]][…] op= src[…][k][…] along dim; any layouts, src with at least index's sizes.
HB_API inline Kernel<void(const char* name, const Tensor& out, const Tensor& index, const Tensor& src, int64_t dim,
                          PutOp)>
    scatter_kernel{"scatter"};

/// out[…][c] = 1 for the class c of classes[…], else 0; int64 and contiguous. Looks at the classes. Not for the CPU.
HB_API inline Kernel<void(const Tensor& out, const Tensor& classes)> one_hot_kernel{"one_hot"};

/// Positions of elements other than zero: (count, dim) int64, in memory order of the program's layout.
HB_API inline Kernel<Tensor(const Tensor& truth)> nonzero_kernel{"nonzero"};
/// Elements of contiguous `in` where contiguous `mask` is true, in order.
HB_API inline Kernel<Tensor(const Tensor& in, const Tensor& mask)> masked_select_kernel{"masked_select"};
/// Contiguous `out` takes the next element of `source` wherever `mask` is true.
HB_API inline Kernel<void(const Tensor& out, const Tensor& mask, const Tensor& source)> masked_scatter_kernel{
    "masked_scatter_"};

}  // namespace hb
