#pragma once
// Matrices by rows or columns (CSR, CSC). Functions without a form of their own compute by coordinates and return.

#include "ops/sparse/sparse.h"

namespace hb::sparse {

inline bool is_compressed(const Tensor& t) { return detail::is_compressed(t.layout()); }

/// By coordinates, without history: a matrix by rows or columns as it lies, any other tensor of a sparse layout itself.
Tensor coordinates(const Tensor& t);
/// A matrix by coordinates in another sparse layout, without history.
Tensor in_layout(const Tensor& coordinates, Layout layout);
/// A product of matrices of which one is by rows or columns, as then a sparse result is, without history.
Tensor product_of_compressed(const Tensor& a, const Tensor& b);
/// The same matrix in any layout, with history.
Tensor converted_to(const Tensor& t, Layout layout);
/// `self` with f of each of its indices, and with other values, without history.
template <class F>
Tensor with_parts(const Tensor& self, const F& f, const Tensor& values) {
  const SparseParts& p = parts(self);
  if (p.layout == kSparse) return make(f(p.indices), values, self.impl().sizes(), p.coalesced);
  return make_compressed(p.layout, f(p.compressed), f(p.indices), values, self.impl().sizes());
}
/// The same entries with other values: without history, and with that of the values.
Tensor with_values(const Tensor& self, const Tensor& values);
Tensor construct_like(const Tensor& self, const Tensor& values);

// --- forms of functions, of which at least one operand is by rows or columns

Tensor add_compressed(const Tensor& self, const Tensor& other, const Scalar& alpha);
Tensor transpose_compressed(const Tensor& self, int64_t dim0, int64_t dim1);
Tensor sum_compressed(const Tensor& self, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype);
Tensor mask_compressed(const Tensor& self, const Tensor& mask);
Tensor to_dense_compressed(const Tensor& self, std::optional<ScalarType> dtype, bool masked_grad);

}  // namespace hb::sparse
