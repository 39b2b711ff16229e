#pragma once
// What a sparse (COO) tensor consists of.

#include <halfbridge/tensor.h>

namespace hb {

/// Held by the storage of a sparse tensor. Indices (int64, sparse_dim x nnz) and values (nnz x dense dimensions) have
/// no history.
struct SparseParts {
  Tensor indices, values;
  bool coalesced = false;
};

namespace sparse {

inline bool either(const Tensor& a, const Tensor& b) { return a.is_sparse() || b.is_sparse(); }
/// The parts of a tensor that is known to be sparse.
inline SparseParts& parts(const Tensor& t) { return t.impl().physical_storage()->sparse_parts(); }
inline int64_t sparse_dim(const Tensor& t) { return parts(t).indices.size(0); }
inline int64_t nnz(const Tensor& t) { return parts(t).indices.size(1); }

/// Nothing is checked; no history.
Tensor make(const Tensor& indices, const Tensor& values, DimVector sizes, bool coalesced);
/// No entries.
Tensor empty(IntArrayRef sizes, int64_t sparse_dim, const TensorOptions& options);
Tensor empty_like(const Tensor& self, const TensorOptions& options);
/// `self` becomes another record of the parts of `source`.
void replace(const Tensor& self, const Tensor& source);

}  // namespace sparse
}  // namespace hb
