#pragma once
// What operations with index tensors share.

#include <vector>

#include <halfbridge/ops.h>

#include "backend/indexing.h"

namespace hb::ops {

/// The index as contiguous int64; throws for other than int32 and int64.
Tensor index_tensor(const char* name, const Tensor& index);
/// The same places, contiguous, negative ones counted from the end; throws [name] for what is out of bounds for
/// dimension `dim`, whose size it is. `before`: places of the dimensions before, with which they become places in both.
Tensor in_range(const char* name, const Tensor& index, int64_t size, int64_t dim, const Tensor& before = Tensor());
/// Whether pick_places takes them: no gradient needs the places, and the indices (int64) lie in memory alike.
bool picks_places(const Tensor& self, const std::vector<Tensor>& indices);
/// What indices of dimensions of these sizes pick of `dim` of `flat`, which is all of these dimensions in one. As with
/// in_range, negative ones count from the end.
Tensor pick_places(const char* name, const Tensor& flat, int64_t dim, const std::vector<Tensor>& indices,
                   const IndexedSizes& of);
/// Negative indices count from the end.
Tensor wrapped_index(const Tensor& index, int64_t size);
/// A value without the leading dimensions of size 1 that it has more than the `dims` of what it is put into.
Tensor without_leading_ones(Tensor value, size_t dims);
/// out[o][index[k]][:] op= src[o][k][:] on a contiguous copy of self along dim, without history.
Tensor with_rows_put(const char* name, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                     PutOp op);

/// The same into self itself, which takes part in no graph.
void put_rows_into(const char* name, Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, PutOp op);

/// Throws [name] unless `source` has the rows to be added to (or met with) those of self at `count` indices.
void check_reduced_rows(const char* name, const Tensor& self, int64_t dim, int64_t count, const Tensor& source);

}  // namespace hb::ops
