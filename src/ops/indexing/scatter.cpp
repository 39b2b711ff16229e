// An index for every element: gather and scatter in all their forms.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "core/empty_contiguous.h"
#include "core/geometry.h"
#include "core/physical.h"
#include "core/value_range.h"
#include "ops/common/inplace.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/indexing/scatter.h"
#include "ops/sparse/sparse.h"

namespace hb {
namespace {

using ops::check_same;
using ops::check_shapes;
using ops::element_index;
using ops::gradients;
using ops::put_elements;

/// The same into self itself, which takes part in no graph.
void put_into(const char* name, Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, PutOp op) {
  const int64_t d = geometry::wrap_dim(name, dim, self.dim());
  check_same(name, self, src);
  check_shapes(name, self, d, index, &src);
  scatter_kernel(self.device())(name, self, physical(element_index(name, index)), physical(src), d, op);
}

/// That number for each place of an index into t.
Tensor repeated(const Scalar& value, const Tensor& t, const Tensor& index) {
  if (t.defined()) check_value_fits("scatter", t.scalar_type(), value);
  return full({}, value, t.options()).expand(index.sizes());
}

/// The part of the source that an index of this shape reads.
Tensor padded(const Tensor& part, const DimVector& sizes) {
  if (part.impl().sizes() == sizes) return part;
  Tensor out = zeros(IntArrayRef(sizes.data(), sizes.size()), part.options()), view = out;
  for (size_t k = 0; k < sizes.size(); ++k) view = view.narrow(static_cast<int64_t>(k), 0, part.sizes()[k]);
  view.copy_(part);
  return out;
}

/// One entry for each element that was taken.
Tensor gather_sparse_gradient(const Tensor& g, const DimVector& sizes, int64_t dim, const Tensor& index) {
  const int64_t n = index.dim();
  if (sizes.empty())
    return sparse::construct(empty({0, g.numel()}, index.options()), g.reshape({-1}), sizes, g.numel() < 2);
  if (n == 0) return sparse::construct(index.reshape({1, 1}), g.reshape({1}), sizes, true);
  std::vector<Tensor> rows;
  for (int64_t d = 0; d < n; ++d) {
    DimVector line(n, 1);
    line[d] = index.size(d);
    const Tensor place = d == dim ? index : arange(index.size(d), index.options()).reshape(line).expand(index.sizes());
    rows.push_back(place.reshape({-1}));
  }
  return sparse::construct(stack(rows, 0), g.reshape({-1}), sizes, false);
}

}  // namespace

void ops::check_shapes(const char* name, const Tensor& self, int64_t d, const Tensor& index, const Tensor* src) {
  if (index.numel() == 0) return;
  const auto ndim = [](const Tensor& t) { return std::max<int64_t>(t.dim(), 1); };
  const auto size = [](const Tensor& t, int64_t k) { return t.dim() ? t.sizes()[k] : 1; };
  HB_CHECK(ndim(self) == ndim(index), "[", name,
           "] Index tensor must have the same number of dimensions as input tensor, got ", index.sizes(), " for ",
           self.sizes());
  HB_CHECK(!src || ndim(*src) == ndim(index), "[", name,
           "] Index tensor must have the same number of dimensions as src tensor, got ", index.sizes(), " for ",
           src ? src->sizes() : IntArrayRef());
  for (int64_t k = 0; k < ndim(index); ++k) {
    HB_CHECK(k == d || size(index, k) <= size(self, k), "[", name, "] Expected index ", index.sizes(),
             " to be no larger than self ", self.sizes(), " apart from dimension ", d);
    HB_CHECK(!src || size(index, k) <= size(*src, k), "[", name, "] Expected index ", index.sizes(),
             " to be no larger size than src ", src ? src->sizes() : IntArrayRef());
  }
}

Tensor ops::element_index(const char* name, const Tensor& index) {
  HB_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt || index.numel() == 0, "[", name,
           "] Expected dtype int32/int64 for index, got ", toString(index.scalar_type()));
  return index.to(kLong);
}

void ops::check_same(const char* name, const Tensor& self, const Tensor& src) {
  HB_CHECK(self.scalar_type() == src.scalar_type(), "[", name, "] Expected self.dtype to be equal to src.dtype, got ",
           toString(self.scalar_type()), " and ", toString(src.scalar_type()));
}

Tensor ops::put_elements(const char* name, const Tensor& self, int64_t d, const Tensor& index, const Tensor& src,
                         PutOp op) {
  NoGradGuard no_history;
  Tensor out = self.clone(MemoryFormat::Contiguous);
  scatter_kernel(self.device())(name, out, physical(index), physical(src), d, op);
  return out;
}

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad) {
  HB_FUNCTION(gather, self, dim, index, sparse_grad);
  const int64_t d = geometry::wrap_dim("gather", dim, self.dim());
  check_shapes("gather", self, d, index, nullptr);
  const Tensor at = element_index("gather", index);
  Tensor out = empty_contiguous(at.impl().sizes(), self.scalar_type(), self.device());
  gather_kernel(self.device())("gather", out, physical(self), physical(at), d);
  if (needs_grad(self))
    record("GatherBackward0", out, {&self}, {SavedTensor::input(at)},
           [d, sparse_grad, sizes = self.impl().sizes()](Backward& b, auto& s) {
             if (sparse_grad) return gradients(gather_sparse_gradient(b.grad(), sizes, d, s[0]));
             return gradients(
                 zeros(IntArrayRef(sizes.data(), sizes.size()), b.grad().options()).scatter_add_(d, s[0], b.grad()));
           });
  return out;
}

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  HB_FUNCTION(scatter, self, dim, index, src);
  const int64_t d = geometry::wrap_dim("scatter", dim, self.dim());
  check_same("scatter", self, src);
  check_shapes("scatter", self, d, index, &src);
  const Tensor at = element_index("scatter", index);
  Tensor out = put_elements("scatter", self, d, at, src, PutOp::assign);
  if (needs_grad(self, src))
    record("ScatterBackward0", out, {&self, &src}, {SavedTensor::input(at)},
           [d, sizes = src.impl().sizes()](Backward& b, auto& s) {
             return gradients(b.needs(0) ? scatter(b.grad(), d, s[0], Scalar(0)) : Tensor(),
                              b.needs(1) ? padded(gather(b.grad(), d, s[0]), sizes) : Tensor());
           });
  return out;
}

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  HB_FUNCTION(scatter, self, dim, index, value);
  const int64_t d = geometry::wrap_dim("scatter", dim, self.dim());
  check_shapes("scatter", self, d, index, nullptr);
  const Tensor at = element_index("scatter", index);
  const Tensor src = repeated(value, self, at);
  Tensor out = put_elements("scatter", self, d, at, src, PutOp::assign);
  if (needs_grad(self))
    record("ScatterBackward1", out, {&self}, {SavedTensor::input(at)},
           [d](Backward& b, auto& s) { return gradients(scatter(b.grad(), d, s[0], Scalar(0))); });
  return out;
}

Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  HB_AUTOCAST(scatter_add, as_is, widest, self, dim, index, src);
  const int64_t d = geometry::wrap_dim("scatter_add", dim, self.dim());
  check_same("scatter_add", self, src);
  check_shapes("scatter_add", self, d, index, &src);
  const Tensor at = element_index("scatter_add", index);
  Tensor out = put_elements("scatter_add", self, d, at, src, PutOp::add);
  if (needs_grad(self, src))
    record("ScatterAddBackward0", out, {&self, &src}, {SavedTensor::input(at)},
           [d, sizes = src.impl().sizes()](Backward& b, auto& s) {
             return gradients(b.grad(), b.needs(1) ? padded(gather(b.grad(), d, s[0]), sizes) : Tensor());
           });
  return out;
}

Tensor& scatter_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  HB_ONE_DEVICE(scatter_, self, index, src);
  return inplace(
      "scatter_", self, [&](const Tensor& old) { return scatter(old, dim, index, src); },
      [&](Tensor& t) { put_into("scatter_", t, dim, index, src, PutOp::assign); }, {&src});
}
Tensor& scatter_(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  HB_ONE_DEVICE(scatter_, self, index);
  return inplace(
      "scatter_", self, [&](const Tensor& old) { return scatter(old, dim, index, value); },
      [&](Tensor& t) { put_into("scatter_", t, dim, index, repeated(value, t, index), PutOp::assign); });
}
Tensor& scatter_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
  HB_CHECK(reduce == "add" || reduce == "multiply", "[scatter_] reduce argument must be either add or multiply, got ",
           reduce);
  return inplace("scatter_", self,
                 [&](const Tensor& old) { return scatter_reduce(old, dim, index, src, reduce, true); }, nullptr,
                 {&src});
}
Tensor& scatter_(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, std::string_view reduce) {
  return scatter_(self, dim, index, repeated(value, self, index), reduce);
}
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
  Tensor out = self.clone();
  return scatter_(out, dim, index, src, reduce);
}
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, std::string_view reduce) {
  Tensor out = self.clone();
  return scatter_(out, dim, index, value, reduce);
}
Tensor& scatter_add_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  HB_ONE_DEVICE(scatter_add_, self, index, src);
  return inplace(
      "scatter_add_", self, [&](const Tensor& old) { return scatter_add(old, dim, index, src); },
      [&](Tensor& t) { put_into("scatter_add_", t, dim, index, src, PutOp::add); }, {&src});
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  HB_FUNCTION(take_along_dim, self, indices, dim);
  HB_CHECK(indices.scalar_type() == kLong, "[take_along_dim] dtype of indices should be Long, got ",
           toString(indices.scalar_type()));
  if (!dim) return gather(self.reshape(-1), 0, indices.reshape(-1));
  HB_CHECK(self.dim() == indices.dim(),
           "[take_along_dim] input and indices should have the same number of dimensions, got ", self.dim(), " and ",
           indices.dim());
  const int64_t d = geometry::wrap_dim("take_along_dim", *dim, self.dim(), /*wrap_scalar=*/false);
  // Broadcast in every dimension but d.
  std::vector<int64_t> a(self.sizes().vec()), b(indices.sizes().vec());
  a[d] = b[d] = 1;
  std::vector<int64_t> both = broadcast_shapes(a, b), x = both, at = both;
  x[d] = self.size(d), at[d] = indices.size(d);
  // As LibTorch: places count modulo the size, where a dimension is given.
  const Tensor places = self.size(d) > 0 ? indices.remainder(self.size(d)) : indices;
  return gather(self.expand(x), d, places.expand(at));
}

Tensor& scatter_reduce_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                        bool include_self) {
  HB_ONE_DEVICE(scatter_reduce_, self, index, src);
  return inplace("scatter_reduce_", self,
                 [&](const Tensor& x) { return scatter_reduce(x, dim, index, src, reduce, include_self); });
}

}  // namespace hb
