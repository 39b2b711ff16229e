#pragma once
// What a sparse tensor consists of: by coordinates (COO), or by rows or columns (CSR, CSC).

#include <halfbridge/tensor.h>

namespace hb {

/// Held by the storage of a sparse tensor. No part has history. Values are (nnz, dense dimensions…).
/// By coordinates: indices are int64, (sparse_dim, nnz).
/// By rows: indices are the columns of the entries, (nnz), and row r has the entries compressed[r] to compressed[r +
/// 1]; both are int64 or both int32. By columns: the same with rows and columns exchanged.
struct SparseParts {
  Tensor indices, values;
  bool coalesced = false;
  Layout layout = kSparse;
  Tensor compressed;
};

namespace sparse {

/// Layouts that tensors have whose storage holds parts.
inline bool is_made_of_parts(Layout l) { return l == kSparse || l == kSparseCsr || l == kSparseCsc; }
/// Either layout is a sparse one.
inline bool either(const Tensor& a, const Tensor& b) { return a.layout() != kStrided || b.layout() != kStrided; }
/// The parts of a tensor that is known to be sparse.
inline SparseParts& parts(const Tensor& t) { return t.impl().physical_storage()->sparse_parts(); }
inline int64_t sparse_dim(const Tensor& t) { return parts(t).indices.size(0); }
inline int64_t nnz(const Tensor& t) { return parts(t).indices.size(1); }

/// Nothing is checked; no history.
Tensor make(const Tensor& indices, const Tensor& values, DimVector sizes, bool coalesced);
/// The same by rows or columns.
Tensor make_compressed(Layout layout, const Tensor& compressed, const Tensor& plain, const Tensor& values,
                       DimVector sizes);
/// No entries; by rows or columns where the options say so, else by coordinates.
Tensor empty(IntArrayRef sizes, int64_t sparse_dim, const TensorOptions& options);
Tensor empty_like(const Tensor& self, const TensorOptions& options);
/// `self` becomes another record of the parts of `source`.
void replace(const Tensor& self, const Tensor& source);

}  // namespace sparse
}  // namespace hb
