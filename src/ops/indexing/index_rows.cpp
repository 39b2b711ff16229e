// Whole rows by index: index_select, index_add, index_copy, index_fill; elements of the flattened tensor: take, put_.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "core/empty_contiguous.h"
#include "core/geometry.h"
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

Tensor in_range(const char* name, const Tensor& index, int64_t size, int64_t dim) {
  if (index.numel() == 0) return index;
  const Tensor given = index.contiguous();
  Tensor out = empty_contiguous(given.impl().sizes(), kLong, given.device());
  wrap_index_kernel(out.device())(out, given, size, name, dim);
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

/// A source for the rows of self at `count` indices.
void check_source(const char* name, const Tensor& self, int64_t dim, int64_t count, const Tensor& source) {
  HB_CHECK(self.scalar_type() == source.scalar_type(), "[", name,
           "] self and source must have the same scalar type, got ", toString(self.scalar_type()), " and ",
           toString(source.scalar_type()));
  DimVector wanted = self.impl().sizes();
  if (!wanted.empty()) wanted[dim] = count;
  const bool fits =
      source.impl().sizes() == wanted || (source.numel() == 1 && count == 1 && geometry::numel(wanted) == 1);
  HB_CHECK(fits || source.dim() == 0 || dim >= source.dim() || source.size(dim) == count, "[", name,
           "] Number of indices (", count, ") should be equal to source.size(dim), got source ", source.sizes());
  HB_CHECK(fits, "[", name,
           "] source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = ",
           self.sizes(), " source.shape = ", source.sizes());
}

}  // namespace

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  HB_FUNCTION(index_select, self, dim, index);
  if (HB_UNLIKELY(self.is_sparse())) return sparse::index_select(self, dim, index);
  const int64_t d = geometry::wrap_dim("index_select", dim, self.dim());
  const Tensor at = row_index("index_select", index);
  const Tensor x = self.is_contiguous() ? self : self.detach().contiguous();
  DimVector sizes = self.impl().sizes();
  if (!sizes.empty()) sizes[d] = at.numel();
  Tensor out = empty_contiguous(sizes, self.scalar_type(), self.device());
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
  check_source("index_add", self, d, at.numel(), source);
  check_value_fits("index_add", self.scalar_type(), alpha);
  const bool plain = alpha.equal(1);
  Tensor scaled = source.detach();
  if (!plain) scaled = scaled * factor_of(self, alpha);
  Tensor out = ops::with_rows_put("index_add", self, d, at, scaled.to(self.scalar_type()), PutOp::add);
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
  check_source("index_copy", self, d, at.numel(), source);
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
  const int64_t n = self.dim() ? self.sizes()[d] : 1;
  const Tensor at = ops::wrapped_index(row_index("index_fill", index), n);
  DimVector shape = self.impl().sizes();
  if (!shape.empty()) shape[d] = at.numel();
  const Tensor rows = full(IntArrayRef(shape.data(), shape.size()), value, self.options());
  Tensor out =
      ops::in_strides(ops::with_rows_put("index_fill", self, d, at, rows, PutOp::assign), ops::strides_of_clone(self));
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
    check_source("index_add_", t, d, at.numel(), source);
    check_value_fits("index_add_", t.scalar_type(), alpha);
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
    check_source("index_copy_", t, d, at.numel(), source);
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

// --- the flattened tensor

namespace {
constexpr int64_t kFlattened = -1;  // the dimension of an index into all elements
}

Tensor take(const Tensor& self, const Tensor& index) {
  HB_FUNCTION(take, self, index);
  HB_CHECK(index.scalar_type() == kLong, "[take] Expected a long tensor for index, but got ",
           toString(index.scalar_type()));
  const Tensor at = ops::in_range("take", index.reshape(-1), self.numel(), kFlattened);
  return named("TakeBackward0", index_select(self.reshape(-1), 0, at).reshape(index.sizes()), self);
}

namespace {
/// Contiguous.
Tensor put_flat(const Tensor& self, const Tensor& at, const Tensor& source, bool accumulate) {
  const Tensor flat = self.reshape(-1), values = source.reshape(-1);
  return (accumulate ? index_add(flat, 0, at, values) : index_copy(flat, 0, at, values)).reshape(self.sizes());
}
}  // namespace

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  HB_ONE_DEVICE(put, self, index, source);
  HB_CHECK(index.scalar_type() == kLong, "[put] Expected a long tensor for index, but got ",
           toString(index.scalar_type()));
  HB_CHECK(index.numel() == source.numel(),
           "[put] Expected source and index to have the same number of elements, but got source.numel() = ",
           source.numel(), ", index.numel() = ", index.numel());
  const Tensor at = ops::in_range("put", index.reshape(-1), self.numel(), kFlattened);
  Tensor out = ops::in_strides(put_flat(self.detach(), at, source.detach(), accumulate), ops::strides_of_clone(self));
  if (needs_grad(self, source))
    record("PutBackward0", out, {&self, &source}, {SavedTensor::input(at)},
           [accumulate, shape = source.impl().sizes()](Backward& b, auto& s) {
             const Tensor& g = b.grad();
             return gradients(!b.needs(0)  ? Tensor()
                              : accumulate ? g
                                           : put(g, s[0], zeros({s[0].numel()}, g.options())),
                              b.needs(1) ? take(g, s[0]).reshape(IntArrayRef(shape.data(), shape.size())) : Tensor());
           });
  return out;
}
Tensor& put_(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  return inplace("put_", self, [&](const Tensor& old) { return put(old, index, source, accumulate); }, nullptr,
                 {&source});
}

}  // namespace hb
