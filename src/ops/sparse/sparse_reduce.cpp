// Sums and softmax of sparse tensors. They are composed of the values of the coalesced tensor.
#include <limits>

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/geometry.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/sparse/compressed.h"

namespace hb {
namespace sparse {
namespace {

struct Reduced {
  DimVector sparse, dense, sizes;  // dimensions that are summed, and what is left
  std::vector<bool> dropped;
};

Reduced reduced_dims(const Tensor& self, IntArrayRef dims) {
  Reduced r;
  r.dropped.assign(self.dim(), false);
  for (int64_t d : dims) {
    const int64_t w = geometry::wrap_dim("sparse.sum", d, self.dim());
    HB_CHECK(!r.dropped[w], "[sparse.sum] dim ", w, " appears multiple times in the list of dims");
    r.dropped[w] = true;
  }
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!r.dropped[d]) r.sizes.push_back(self.size(d));
    if (r.dropped[d] && d < sparse_dim(self)) r.sparse.push_back(d);
    if (r.dropped[d] && d >= sparse_dim(self)) r.dense.push_back(d - sparse_dim(self) + 1);
  }
  return r;
}

Tensor sum_dims(const Tensor& self, IntArrayRef dims) {
  const Tensor c = self.coalesce();
  const Reduced r = reduced_dims(c, dims);
  Tensor values = c.values();
  if (!r.dense.empty()) values = values.sum(IntArrayRef(r.dense));
  if (static_cast<int64_t>(r.sparse.size()) == sparse_dim(c)) return values.sum(IntArrayRef({0}));
  const Tensor& indices = parts(c).indices;
  if (r.sparse.empty()) return construct(indices, values, r.sizes, true);
  std::vector<Tensor> rows;
  for (int64_t d = 0; d < sparse_dim(c); ++d)
    if (!r.dropped[d]) rows.push_back(indices[d]);
  return construct(hb::stack(rows, 0), values, r.sizes, false).coalesce();
}

}  // namespace

Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) {
  Tensor out = parts(self).values.sum(dtype);
  if (needs_grad(self))
    record("SumBackward0", out, {&self},
           [sizes = self.impl().sizes()](Backward& b) { return ops::gradients(b.grad().expand(sizes)); });
  return out;
}

Tensor sum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  if (!dim.has_value() || dim->empty()) {
    Tensor all = sparse::sum(self, dtype);
    return keepdim ? all.reshape(DimVector(self.dim(), 1)) : all;
  }
  if (is_compressed(self)) return sum_compressed(self, *dim, keepdim, dtype);
  const bool integral = is_integral_type(self.scalar_type(), true);
  const ScalarType t = dtype.value_or(integral ? kLong : self.scalar_type());
  Tensor out = sum_dims(t == self.scalar_type() ? self : self.to(t), *dim);
  if (!keepdim) return out;
  const Reduced r = reduced_dims(self, *dim);
  for (int64_t d = 0; d < self.dim(); ++d)
    if (r.dropped[d]) out = out.unsqueeze(d);
  return out;
}

namespace {

/// (Log-)softmax of 1-d or wider `values` over the entries of each group.
Tensor grouped_softmax(const Tensor& values, const Grouping& g, bool log) {
  DimVector shape(values.impl().sizes());
  shape[0] = g.count;
  DimVector column(values.dim(), 1);
  column[0] = values.size(0);
  const Tensor place = g.group.reshape(column).expand(values.sizes());
  const double lowest = -std::numeric_limits<double>::infinity();
  const Tensor high = full(shape, lowest, values.options()).scatter_reduce(0, place, values.detach(), "amax");
  const Tensor shifted = values - high.index_select(0, g.group), powers = shifted.exp();
  const Tensor sums = zeros(shape, values.options()).index_add(0, g.group, powers);
  return log ? shifted - sums.log().index_select(0, g.group) : powers / sums.index_select(0, g.group);
}

Tensor softmax(const char* name, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, bool log) {
  parts(name, self);
  const Tensor c = (dtype ? self.to(*dtype) : self).coalesce();
  const int64_t d = geometry::wrap_dim(name, dim, c.dim()), sparse = sparse_dim(c);
  const Tensor values = c.values(), &indices = parts(c).indices;
  HB_CHECK(is_floating_type(values.scalar_type()), "[", name, "] expected a floating dtype, got ",
           values.scalar_type());
  if (d >= sparse) {
    const int64_t of_values = d - sparse + 1;
    return construct(indices, log ? values.log_softmax(of_values) : values.softmax(of_values), c.impl().sizes(), true);
  }
  // Entries that agree in every other sparse dimension are one group.
  DimVector sizes(c.impl().sizes());
  sizes[d] = 1;
  const Grouping g = group_keys(keys_of(indices, sizes), positions(sizes, sparse));
  return construct(indices, values.size(0) ? grouped_softmax(values, g, log) : values, c.impl().sizes(), true);
}

}  // namespace
}  // namespace sparse

Tensor _sparse_sum(const Tensor& input) {
  sparse::parts("_sparse_sum", input);
  return input.coalesce().values().sum();
}
Tensor _sparse_sum(const Tensor& input, ScalarType dtype) {
  sparse::parts("_sparse_sum", input);
  return input.coalesce().values().sum(dtype);
}
Tensor _sparse_sum(const Tensor& input, IntArrayRef dim) {
  sparse::parts("_sparse_sum", input);
  return sparse::sum_dims(input, dim);
}
Tensor _sparse_sum(const Tensor& input, IntArrayRef dim, ScalarType dtype) {
  sparse::parts("_sparse_sum", input);
  return sparse::sum_dims(input.to(dtype), dim);
}

Tensor _sparse_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return sparse::softmax("_sparse_softmax", self, dim, dtype, false);
}
Tensor _sparse_log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return sparse::softmax("_sparse_log_softmax", self, dim, dtype, true);
}

}  // namespace hb
