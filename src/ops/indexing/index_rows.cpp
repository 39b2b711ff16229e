// Whole rows by index: index_select, index_add, index_copy, index_fill.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "core/empty_contiguous.h"
#include "core/geometry.h"
#include "core/offered_memory.h"
#include "core/value_range.h"
#include "ops/common/inplace.h"
#include "ops/common/layout.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/indexing/index_op.h"
#include "ops/reduction/reduce_op.h"
#include "ops/sparse/sparse.h"

namespace hb {
namespace ops {

Tensor index_tensor(const char* name, const Tensor& index) {
  HB_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt, "[", name,
           "] Expected dtype int32 or int64 for index, got ", toString(index.scalar_type()));
  return (index.scalar_type() == kLong ? index : index.to(kLong)).contiguous();
}

Tensor in_range(const char* name, const Tensor& index, int64_t size, int64_t dim, const Tensor& before) {
  if (index.numel() == 0) return index;
  const Tensor given = index.contiguous();
  Tensor out = empty_contiguous(given.impl().sizes(), kLong, given.device());
  wrap_index_kernel(out.device())(out, given, before, size, name, dim);
  return out;
}

Tensor wrapped_index(const Tensor& index, int64_t size) { return in_range(nullptr, index, size, 0); }

Tensor with_rows_put(const char* name, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                     PutOp op) {
  NoGradGuard no_history;
  Tensor out = self.clone(MemoryFormat::Contiguous);
  put_rows_kernel(self.device())(name, out, index, src.contiguous(), lines_of(out, dim), op);
  return out;
}

void put_rows_into(const char* name, Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, PutOp op) {
  if (self.is_contiguous())
    return put_rows_kernel(self.device())(name, self, index, src.contiguous(), lines_of(self, dim), op);
  const Tensor result = with_rows_put(name, self, dim, index, src, op);
  copy_kernel(self.device())(Loop({&self}, {&result}));
}

}  // namespace ops

namespace {

using ops::gradients;

Tensor row_index(const char* name, const Tensor& index) {
  HB_CHECK_INDEX(index.dim() <= 1, "[", name, "] Index is supposed to be a vector, got shape ", index.sizes());
  return ops::index_tensor(name, index);
}

Tensor long_row_index(const char* name, const Tensor& index) {
  HB_CHECK(index.scalar_type() == kLong, "[", name, "] Expected a long tensor for index, but got ",
           toString(index.scalar_type()));
  return row_index(name, index);
}

/// Of integral tensors a factor's fraction does not count.
Scalar factor_of(const Tensor& self, const Scalar& alpha) {
  return alpha.isFloatingPoint() && isIntegralType(self.scalar_type(), true) ? Scalar(alpha.toLong()) : alpha;
}

void check_types(const char* name, const Tensor& self, const Tensor& source) {
  HB_CHECK(self.scalar_type() == source.scalar_type(), "[", name,
           "] self and source must have the same scalar type, got ", toString(self.scalar_type()), " and ",
           toString(source.scalar_type()));
}
void check_count(const char* name, int64_t count, int64_t rows, const Tensor& source) {
  HB_CHECK(count == rows, "[", name, "] Number of indices (", count,
           ") should be equal to source.size(dim), got source ", source.sizes());
}
DimVector without(int64_t dim, DimVector sizes) {
  if (!sizes.empty()) sizes.erase(dim);
  return sizes;
}

/// A source to copy to `count` rows of self. A row of one element may be without dimensions.
void check_copied(const char* name, const Tensor& self, int64_t dim, int64_t count, const Tensor& source) {
  check_types(name, self, source);
  HB_CHECK(source.dim() == self.dim() || source.dim() == 0 || self.dim() == 0, "[", name,
           "] When source and destination are not scalars, their dimensionality must match. Source dimensionality (",
           source.dim(), "), destination dimensionality (", self.dim(), ")");
  check_count(name, count, source.dim() == 0 ? 1 : source.sizes()[dim], source);
  HB_CHECK(without(dim, self.impl().sizes()) == without(dim, source.impl().sizes()), "[", name,
           "] source tensor shape must match self tensor shape, excluding the specified dimension. Source/destination "
           "tensor must have same slice shapes, got self.shape = ",
           self.sizes(), " source.shape = ", source.sizes());
}

/// Each element is read and written once, whichever rows they are.
Tensor with_rows_filled(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  const TensorOptions flags = TensorOptions(kBool).device(self.device());
  DimVector along(self.dim(), 1);
  if (self.dim() > 0) along[dim] = self.sizes()[dim];
  Tensor rows = zeros({geometry::numel(along)}, flags);
  ops::put_rows_into("index_fill", rows, 0, index, ones({index.numel()}, flags), PutOp::assign);
  return where(rows.view(IntArrayRef(along.data(), along.size())), full({}, value, self.options()), self);
}

/// Refused even where the number is real or no place is filled, as in LibTorch.
void check_fills(ScalarType self, bool complex) {
  HB_CHECK(!complex || is_complex_type(self),
           "[index_fill] index_fill_(): Converting complex Scalar to non-complex type is not supported: self is ",
           self);
}

/// Where index_add adds nothing, without a look at the index: as in LibTorch not so for vectors.
bool has_no_places(const Tensor& self) { return self.numel() == 0 && self.dim() > 1; }

}  // namespace

void ops::check_reduced_rows(const char* name, const Tensor& self, int64_t dim, int64_t count, const Tensor& source) {
  check_types(name, self, source);
  HB_CHECK(dim == 0 || dim < source.dim(), "[", name, "] Indexing dim ", dim,
           " is out of bounds of the source tensor with shape ", source.sizes());
  check_count(name, count, source.dim() == 0 ? 1 : source.sizes()[dim], source);
  const bool rows = self.dim() > 0 && source.dim() > 0;
  const DimVector mine = self.impl().sizes(), given = source.impl().sizes();
  HB_CHECK(rows ? without(dim, mine) == without(dim, given) : mine == given, "[", name,
           "] source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = ",
           self.sizes(), " source.shape = ", source.sizes());
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  HB_FUNCTION(index_select, self, dim, index);
  if (HB_UNLIKELY(self.is_sparse())) return sparse::index_select(self, dim, index);
  const int64_t d = geometry::wrap_dim("index_select", dim, self.dim());
  const Tensor at = row_index("index_select", index);
  HB_CHECK(self.dim() > 0 || at.numel() == 1,
           "[index_select] index_select(): Index to scalar can have only 1 value, got ", at.numel(), " value(s)");
  const Tensor x = self.is_contiguous() ? self : self.detach().contiguous();
  DimVector sizes = self.impl().sizes();
  if (!sizes.empty()) sizes[d] = at.numel();
  Tensor out = empty_result(sizes, self.scalar_type(), self.device());
  select_rows_kernel(self.device())("index_select", out, x, at, ops::lines_of(x, d));
  if (needs_grad(self))
    record("IndexSelectBackward0", out, {&self}, {SavedTensor::input(at)},
           [whole = self.impl().sizes(), d](Backward& b, auto& s) {
             return gradients(
                 zeros(IntArrayRef(whole.data(), whole.size()), b.grad().options()).index_add_(d, s[0], b.grad()));
           });
  return out;
}

Tensor index_select_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, const Tensor& index) {
  return zeros(sizes, grad.options()).index_add(dim, index, grad);
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  HB_FUNCTION(index_add, self, dim, index, source, alpha);
  const int64_t d = geometry::wrap_dim("index_add", dim, self.dim());
  const Tensor at = row_index("index_add", index);
  ops::check_reduced_rows("index_add", self, d, at.numel(), source);
  check_value_fits("index_add", self.scalar_type(), alpha);
  const bool plain = alpha.equal(1);
  Tensor scaled = source.detach();
  if (!plain) scaled = scaled * factor_of(self, alpha);
  Tensor out = has_no_places(self)
                   ? self.detach().clone(MemoryFormat::Contiguous)
                   : ops::with_rows_put("index_add", self, d, at, scaled.to(self.scalar_type()), PutOp::add);
  if (needs_grad(self, source))
    record("IndexAddBackward0", out, {&self, &source}, {SavedTensor::input(at)},
           [d, alpha, plain, shape = source.impl().sizes()](Backward& b, auto& s) {
             Tensor gs;
             if (b.needs(1)) {
               gs = index_select(b.grad(), d, s[0]).reshape(IntArrayRef(shape.data(), shape.size()));
               if (!plain) gs = gs * alpha;
             }
             return gradients(b.grad(), std::move(gs));
           });
  return out;
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  HB_AUTOCAST(index_copy, widest, as_is, self, dim, index, source);
  const int64_t d = geometry::wrap_dim("index_copy", dim, self.dim());
  const Tensor at = long_row_index("index_copy", index);
  check_copied("index_copy", self, d, at.numel(), source);
  Tensor out = ops::with_rows_put("index_copy", self, d, at, source.detach(), PutOp::assign);
  if (needs_grad(self, source))
    record("IndexCopyBackward0", out, {&self, &source}, {SavedTensor::input(at)},
           [d, shape = source.impl().sizes()](Backward& b, auto& s) {
             return gradients(b.needs(0) ? index_fill(b.grad(), d, s[0], 0) : Tensor(),
                              b.needs(1)
                                  ? index_select(b.grad(), d, s[0]).reshape(IntArrayRef(shape.data(), shape.size()))
                                  : Tensor());
           });
  return out;
}

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  HB_FUNCTION(index_fill, self, dim, index, value);
  const int64_t d = geometry::wrap_dim("index_fill", dim, self.dim());
  HB_CHECK_INDEX(index.scalar_type() == kLong, "[index_fill] Expected dtype int64 for index, got ",
                 index.scalar_type());
  check_fills(self.scalar_type(), value.isComplex());
  const Tensor given = row_index("index_fill", index);
  DimVector shape = self.impl().sizes();
  if (shape.empty()) shape.push_back(1);
  const int64_t n = shape[d];
  shape[d] = given.numel();
  const bool nothing = geometry::numel(shape) == 0;  // then no place is out of bounds
  const Tensor at = nothing ? given : ops::wrapped_index(given, n);
  Tensor out = self.detach();
  if (nothing) {
    out = out.clone();
  } else {
    check_value_fits("index_fill", self.scalar_type(), value);
    out = ops::in_strides(with_rows_filled(out, d, at, value), ops::strides_of_clone(self));
  }
  if (needs_grad(self))
    record("IndexFillBackward0", out, {&self}, {SavedTensor::input(at)},
           [d](Backward& b, auto& s) { return gradients(index_fill(b.grad(), d, s[0], 0)); });
  return out;
}

Tensor& index_add_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  HB_ONE_DEVICE(index_add_, self, index, source);
  const auto direct = [&](Tensor& t) {
    const int64_t d = geometry::wrap_dim("index_add_", dim, t.dim());
    const Tensor at = row_index("index_add_", index);
    ops::check_reduced_rows("index_add_", t, d, at.numel(), source);
    check_value_fits("index_add_", t.scalar_type(), alpha);
    if (has_no_places(t)) return;
    ops::put_rows_into("index_add_", t, d, at,
                       alpha.equal(1) ? source : (source * factor_of(t, alpha)).to(t.scalar_type()), PutOp::add);
  };
  return inplace("index_add_", self, [&](const Tensor& old) { return index_add(old, dim, index, source, alpha); },
                 direct, {&source});
}
Tensor& index_copy_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  HB_ONE_DEVICE(index_copy_, self, index, source);
  const auto direct = [&](Tensor& t) {
    const int64_t d = geometry::wrap_dim("index_copy_", dim, t.dim());
    const Tensor at = long_row_index("index_copy_", index);
    check_copied("index_copy_", t, d, at.numel(), source);
    ops::put_rows_into("index_copy_", t, d, at, source, PutOp::assign);
  };
  return inplace("index_copy_", self, [&](const Tensor& old) { return index_copy(old, dim, index, source); }, direct,
                 {&source});
}
Tensor& index_fill_(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return inplace("index_fill_", self, [&](const Tensor& old) { return index_fill(old, dim, index, value); });
}

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  HB_FUNCTION(index_fill, self, dim, index, value);
  HB_CHECK(value.dim() == 0, "[index_fill] Only supports 0-dimensional value tensor, but got tensor with ", value.dim(),
           " dimension(s)");
  check_fills(self.scalar_type(), value.is_complex());
  const Tensor places = index_fill(zeros(self.sizes(), self.options().dtype(kBool)), dim, index, 1);
  const Tensor out = ops::in_strides(masked_fill(self, places, value), ops::strides_of_clone(self));
  return named("IndexFillBackward1", out, self);
}
Tensor& index_fill_(Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  return inplace("index_fill_", self, [&](const Tensor& old) { return index_fill(old, dim, index, value); }, nullptr,
                 {&value});
}

// --- rows repeated

Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) {
  HB_ONE_DEVICE(repeat_interleave, self, repeats);
  const Tensor x = dim ? self : self.reshape(-1);
  const int64_t d = geometry::wrap_dim("repeat_interleave", dim.value_or(0), x.dim()), n = x.size(d);
  HB_CHECK(repeats.scalar_type() == kLong || repeats.scalar_type() == kInt,
           "[repeat_interleave] repeats has to be Long or Int tensor, got ", toString(repeats.scalar_type()));
  HB_CHECK(repeats.dim() <= 1 && (repeats.numel() == 1 || repeats.numel() == n),
           "[repeat_interleave] repeats must have the same size as "
           "input along dim, but got ",
           repeats.sizes(), " for size ", n);
  const Tensor counts = repeats.to(kLong).reshape(-1).expand(n).contiguous();
  const Tensor index = repeated_places_kernel(counts.device())(counts);
  HB_CHECK(!output_size || *output_size == index.numel(), "[repeat_interleave] expected an output_size of ",
           index.numel(), ", got ", *output_size);
  return index_select(x, d, index);
}

}  // namespace hb
