#pragma once
// Sparse tensors: what they consist of, and the sparse forms of functions that take strided tensors too. Those
// are called at a function's front: `if (HB_UNLIKELY(self.is_sparse())) return sparse::transpose(self, dim0, dim1);`.

#include <functional>

#include <halfbridge/tensor.h>

#include "core/sparse_parts.h"

namespace hb {

namespace sparse {

/// Throws [name] unless `t` is sparse by coordinates.
SparseParts& parts(const char* name, const Tensor& t);

// --- making

/// make() with history: the gradient of `values` is that of the tensor at `indices`.
Tensor construct(const Tensor& indices, const Tensor& values, DimVector sizes, bool coalesced);
/// A record of one of the parts of `sparse`: what is written to it counts as a change of the tensor.
Tensor alias_of_part(const Tensor& sparse, const Tensor& part);
// --- places

/// Number of positions of the first n sizes; throws where it exceeds int64.
int64_t positions(const DimVector& sizes, int64_t n);
int64_t dense_numel(const DimVector& sizes, int64_t sparse_dim);
/// indices (n, nnz) as places of an array of shape sizes[0..n); dimensions of size 1 count as broadcast.
Tensor keys_of(const Tensor& indices, const DimVector& sizes);
/// How keys of [0, limit) group: `order` sorts them stably; group[i] is the rank of key i among the `count` distinct.
struct Grouping {
  Tensor order, group;
  int64_t count = 0;
};
Grouping group_keys(const Tensor& keys, int64_t limit);
/// Values of `source` (sparse or strided, broadcast to the sparse dimensions) at `indices`: (nnz, dense dimensions…).
Tensor gather(const Tensor& source, const Tensor& indices);
Tensor sparse_mask(const Tensor& self, const Tensor& mask);

// --- forms of functions

Tensor clone(const Tensor& self, std::optional<MemoryFormat> format);
/// A copy on a device and of a dtype.
Tensor converted(const Tensor& self, const Device& device, ScalarType dtype);
void copy_into(Tensor& self, const Tensor& src);
void clear(Tensor& self);

/// f over the values of the coalesced tensor, where f(0) = 0; throws for other functions.
Tensor map(const char* name, const Tensor& self, const std::function<Tensor(const Tensor&)>& f);
Tensor pow(const Tensor& self, const Scalar& exponent);
Tensor neg(const Tensor& self);
Tensor conj(const Tensor& self);
/// self times or divided by a number.
Tensor scaled(const Tensor& self, const Scalar& number, bool divide);
Tensor& scale_(Tensor& self, const Scalar& number, bool divide);
Tensor mul(const Tensor& self, const Tensor& other);
Tensor div(const Tensor& self, const Tensor& other);
/// self + alpha other.
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha);
Tensor& add_(Tensor& self, const Tensor& other, const Scalar& alpha);

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
Tensor permute(const Tensor& self, IntArrayRef dims);
Tensor unsqueeze(const Tensor& self, int64_t dim);
Tensor select(const Tensor& self, int64_t dim, int64_t index);
Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length);
Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
Tensor cat(TensorList tensors, int64_t dim);

Tensor sum(const Tensor& self, std::optional<ScalarType> dtype);
Tensor sum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype);

/// Products of matrices; one or both are sparse. `masked`: the gradient of a sparse factor has its entries alone.
Tensor mm(const Tensor& a, const Tensor& b, bool masked);
Tensor bmm(const Tensor& a, const Tensor& b);

}  // namespace sparse
}  // namespace hb
