// Norms of matrices, and linalg_norm, which chooses between them and the norms of vectors.
#include <cmath>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "core/geometry.h"
#include "ops/linalg/decompositions.h"

namespace hb {
namespace {

/// The two dimensions of a matrix norm, counted from the front.
std::pair<int64_t, int64_t> matrix_dims(const char* name, const Tensor& self, IntArrayRef dim) {
  HB_CHECK(dim.size() == 2, "[", name, "] expected two dimensions for a matrix norm, got ", dim);
  HB_CHECK(self.dim() >= 2, "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.");
  const int64_t rows = geometry::wrap_dim(name, dim[0], self.dim()),
                columns = geometry::wrap_dim(name, dim[1], self.dim());
  HB_CHECK(rows != columns, "linalg.matrix_norm: dims must be different. Got (", dim[0], ", ", dim[1], ")");
  return {rows, columns};
}

/// Sums of absolute values along `summed`, the extreme of them along `other`.
Tensor extreme_of_sums(const Tensor& a, int64_t summed, int64_t other, bool largest, bool keepdim) {
  const Tensor sums = abs(a).sum(IntArrayRef({summed}), true);
  const Tensor out = largest ? sums.amax(IntArrayRef({other}), true) : sums.amin(IntArrayRef({other}), true);
  return keepdim ? out : out.squeeze(IntArrayRef({summed, other}));
}

Tensor matrix_norm(const Tensor& self, double ord, IntArrayRef dim, bool keepdim) {
  check_matrices("linalg.matrix_norm", self, false);
  const auto [rows, columns] = matrix_dims("linalg_norm", self, dim);
  const double size = std::fabs(ord);
  HB_CHECK(size == 1 || size == 2 || std::isinf(size), "linalg.matrix_norm: Order ", ord,
           " not supported. Expected 1, -1, 2, -2, inf or -inf.");
  if (size == 1) return extreme_of_sums(self, rows, columns, ord > 0, keepdim);
  if (size != 2) return extreme_of_sums(self, columns, rows, ord > 0, keepdim);
  const Tensor values = linalg_svdvals(self.movedim({rows, columns}, {-2, -1}));
  Tensor out = ord > 0 ? values.amax(IntArrayRef({-1})) : values.amin(IntArrayRef({-1}));
  if (keepdim) out = out.unsqueeze(std::min(rows, columns)).unsqueeze(std::max(rows, columns));
  return out;
}

}  // namespace

Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  HB_AUTOCAST(linalg_norm, as_is, fp32_dtype, self, ord, dim, keepdim, dtype);
  HB_CHECK(!dim || dim->size() == 1 || dim->size() == 2,
           "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", *dim);
  HB_CHECK(dim || !ord || self.dim() == 1 || self.dim() == 2,
           "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", self.dim(), "D.");
  const bool matrix = ord && (dim ? dim->size() == 2 : self.dim() == 2);
  if (matrix) {
    const Tensor a = dtype ? self.to(*dtype) : self;
    return matrix_norm(a, ord->toDouble(), dim ? *dim : IntArrayRef({0, 1}), keepdim);
  }
  return linalg_vector_norm(self, ord.value_or(2), dim, keepdim, dtype);
}

Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  HB_AUTOCAST(linalg_matrix_norm, as_is, fp32_dtype, self, ord, dim, keepdim, dtype);
  return matrix_norm(dtype ? self.to(*dtype) : self, ord.toDouble(), dim, keepdim);
}
Tensor linalg_matrix_norm(const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  HB_AUTOCAST(linalg_matrix_norm, as_is, fp32_dtype, self, ord, dim, keepdim, dtype);
  if (ord != "fro") check_matrices("linalg.matrix_norm", self, false);
  const auto [rows, columns] = matrix_dims("linalg_matrix_norm", self, dim);
  HB_CHECK(ord == "fro" || ord == "nuc", "linalg.matrix_norm: Order ", ord, " not supported. Expected fro or nuc.");
  if (ord == "fro") return linalg_vector_norm(self, 2, dim, keepdim, dtype);
  const Tensor a = dtype ? self.to(*dtype) : self;
  Tensor out = linalg_svdvals(a.movedim({rows, columns}, {-2, -1})).sum(-1);
  if (keepdim) out = out.unsqueeze(std::min(rows, columns)).unsqueeze(std::max(rows, columns));
  return out;
}
Tensor linalg_norm(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  HB_CHECK(dim || self.dim() <= 2, "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ",
           self.dim(), "D.");
  return linalg_matrix_norm(self, ord, dim ? *dim : IntArrayRef({0, 1}), keepdim, dtype);
}

}  // namespace hb
