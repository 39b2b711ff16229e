// The lower and the upper triangle of matrices, and their places.
#include <halfbridge/ops.h>

#include <algorithm>

#include "autograd/record.h"
#include "backend/triangle.h"
#include "core/geometry.h"

namespace hb {

namespace {
// (rows, columns), true where column - row > diagonal.
Tensor above(const Tensor& self, int64_t diagonal) {
  HB_CHECK(self.dim() >= 2, "[tril] input tensor must have at least 2 dimensions, got ", self.dim());
  const TensorOptions options = TensorOptions().dtype(kLong).device(self.device());
  const Tensor row = arange(self.size(-2), options).unsqueeze(1), column = arange(self.size(-1), options);
  return column.gt(row.add(std::clamp(diagonal, -self.size(-2), self.size(-1))));
}
}  // namespace

namespace {
Tensor masked(const Tensor& self, int64_t diagonal, bool lower) {
  return lower ? self.masked_fill(above(self, diagonal), 0)
               : self.masked_fill(above(self, diagonal - 1).logical_not(), 0);
}

Triangle triangle_of(const Tensor& self, int64_t diagonal, bool lower) {
  const int64_t rows = self.size(-2), columns = self.size(-1), each = rows * columns;
  return {each ? self.numel() / each : 0,
          rows,
          columns,
          std::clamp(diagonal, -rows - 1, columns + 1),
          static_cast<int64_t>(self.impl().itemsize()),
          lower};
}

Tensor triangle(const char* node, const Tensor& self, int64_t diagonal, bool lower) {
  if (self.dim() < 2 || self.layout() != kStrided || !triangle_kernel.available(self.device()))
    return masked(self, diagonal, lower);
  const Tensor x = self.contiguous();
  Tensor out = empty(x.sizes(), x.options());
  triangle_kernel(x.device())(triangle_of(x, diagonal, lower), out.impl().visible_data(), x.impl().visible_data());
  if (needs_grad(self))
    record(node, out, {&self},
           [=](Backward& b) -> variable_list { return {lower ? tril(b.grad(), diagonal) : triu(b.grad(), diagonal)}; });
  return out;
}
}  // namespace

Tensor tril(const Tensor& self, int64_t diagonal) { return triangle("TrilBackward0", self, diagonal, true); }
Tensor triu(const Tensor& self, int64_t diagonal) { return triangle("TriuBackward0", self, diagonal, false); }
Tensor& tril_(Tensor& self, int64_t diagonal) { return self.masked_fill_(above(self, diagonal), 0); }
Tensor& triu_(Tensor& self, int64_t diagonal) { return self.masked_fill_(above(self, diagonal - 1).logical_not(), 0); }

namespace {
Tensor triangle_indices(int64_t row, int64_t col, const TensorOptions& options, bool lower, int64_t offset) {
  HB_CHECK(row >= 0, "[tril_indices] row must be non-negative, got ", row);
  HB_CHECK(col >= 0, "[tril_indices] col must be non-negative, got ", col);
  offset = std::clamp(offset, -row, col);  // beyond, nothing changes
  const ScalarType dtype = options.dtype_opt().value_or(kLong);
  if (geometry::numel(DimVector(IntArrayRef{row, col})) == 0) return empty({2, 0}, options.dtype(dtype));
  if (triangle_places_kernel.available(options.device())) {
    const Triangle t{1, row, col, offset, 0, lower};
    const int64_t count = t.before(row);
    const Tensor out = empty({2, count}, TensorOptions(kLong).device(options.device()));
    auto* rows = static_cast<int64_t*>(out.impl().visible_data());
    if (count) triangle_places_kernel(out.device())(t, rows, rows + count);
    return out.to(dtype);
  }
  const Tensor all = ones({row, col}, TensorOptions(kBool).device(options.device_opt()));
  const Tensor mask = lower ? above(all, offset).logical_not() : above(all, offset - 1);
  return mask.nonzero().t().contiguous().to(dtype);
}
}  // namespace

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
  return triangle_indices(row, col, options, true, offset);
}
Tensor triu_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) {
  return triangle_indices(row, col, options, false, offset);
}

}  // namespace hb
