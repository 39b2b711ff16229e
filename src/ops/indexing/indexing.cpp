// index and index_put_ with index tensors and masks, which pick elements.
#include <algorithm>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "core/geometry.h"
#include "core/loop.h"
#include "ops/common/inplace.h"
#include "ops/common/layout.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/indexing/index_op.h"
#include "ops/reduction/reduce_op.h"

namespace hb {
namespace {

using IndexList = std::vector<std::optional<Tensor>>;
using ops::gradients;

/// Masks turned into positions, all indices broadcast together, negative ones wrapped.
struct Advanced {
  std::vector<int64_t> dims;    // indexed dimensions of self, ascending
  std::vector<int64_t> shape;   // common shape of the indices
  std::vector<Tensor> indices;  // one per dimension, as given
  Tensor linear;                // (numel of shape) position in the flattened indexed dimensions
  bool adjacent = true;
};

/// Dimensions and indices alone.
Advanced expand_masks(const Tensor& self, const IndexList& list) {
  Advanced a;
  for (size_t k = 0, dim = 0; k < list.size(); ++k, ++dim) {
    if (!list[k] || !list[k]->defined()) continue;
    HB_CHECK(list[k]->is_cpu() || list[k]->device() == self.device(),
             "[index] indices should be either on cpu or on the same device as the indexed tensor (", self.device(),
             ")");
    const Tensor t = list[k]->device() == self.device() ? *list[k] : list[k]->to(self.device());
    const auto at = static_cast<int64_t>(dim);
    HB_CHECK_INDEX(at < self.dim(), "[index] too many indices for tensor of dimension ", self.dim());
    if (t.scalar_type() != kBool && t.scalar_type() != kByte) {
      HB_CHECK_INDEX(t.scalar_type() == kLong || t.scalar_type() == kInt,
                     "[index] tensors used as indices must be long, int, byte or "
                     "bool tensors, got ",
                     toString(t.scalar_type()));
      a.dims.push_back(at), a.indices.push_back(t.scalar_type() == kLong ? t : t.to(kLong));
      continue;
    }
    if (t.scalar_type() == kByte)
      detail::warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
    for (int64_t d = 0; d < t.dim(); ++d)
      HB_CHECK_INDEX(at + d < self.dim() && t.size(d) == self.size(at + d), "[index] The shape of the mask ", t.sizes(),
                     " at index ", d, " does not match the shape of the indexed tensor ", self.sizes(), " at index ",
                     at + d);
    const Tensor places = t.nonzero();
    for (int64_t d = 0; d < t.dim(); ++d) a.dims.push_back(at + d), a.indices.push_back(places.select(1, d));
    dim += t.dim() - 1;
  }
  return a;
}

/// picks: elements are to be picked, for which the linear positions may not be needed; they are undefined then.
Advanced prepare(const Tensor& self, const IndexList& list, bool picks = false) {
  NoGradGuard no_history;
  Advanced a = expand_masks(self, list);
  for (size_t k = 1; k < a.dims.size(); ++k) a.adjacent &= a.dims[k] == a.dims[k - 1] + 1;
  for (const Tensor& t : a.indices) {
    const auto fits = [&](int64_t back) {
      const auto at = [&](IntArrayRef s) { return back <= int64_t(s.size()) ? s[s.size() - back] : 1; };
      return at(a.shape) == at(t.sizes()) || at(a.shape) == 1 || at(t.sizes()) == 1;
    };
    for (int64_t back = 1; back <= t.dim(); ++back)
      HB_CHECK_INDEX(fits(back),
                     "[index] shape mismatch: indexing tensors could not be broadcast together with shapes ",
                     IntArrayRef(a.shape), ", ", t.sizes());
    if (t.sizes() != IntArrayRef(a.shape)) a.shape = broadcast_shapes(a.shape, t.sizes());
  }
  if (picks && self.numel() > 0 && ops::picks_places(self, a.indices)) return a;
  for (size_t k = 0; k < a.indices.size(); ++k) {
    const int64_t n = self.size(a.dims[k]);
    const bool alike = k == 0 || (a.linear.sizes() == a.indices[k].sizes() && a.linear.is_contiguous());
    const Tensor index = ops::in_range("index", a.indices[k], n, a.dims[k], alike ? a.linear : Tensor());
    a.linear = alike ? index : index.add(a.linear, n);
  }
  if (a.linear.sizes() != IntArrayRef(a.shape)) a.linear = a.linear.expand(a.shape);
  if (a.linear.dim() != 1) a.linear = a.linear.reshape(-1);
  return a;
}

/// self with the indexed dimensions in one: (before, indexed, after); where they are not adjacent they come first.
struct Flattened {
  std::vector<int64_t> permutation;  // empty: as it is
  std::vector<int64_t> before, after;
  int64_t indexed = 1;

  Flattened(const Tensor& self, const Advanced& a) {
    const auto is_indexed = [&](int64_t d) { return std::find(a.dims.begin(), a.dims.end(), d) != a.dims.end(); };
    if (!a.adjacent) {
      permutation = a.dims;
      for (int64_t d = 0; d < self.dim(); ++d)
        if (!is_indexed(d)) permutation.push_back(d);
    }
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (is_indexed(d))
        indexed *= self.size(d);
      else
        (a.adjacent && d < a.dims[0] ? before : after).push_back(self.size(d));
    }
  }
  int64_t dim() const { return static_cast<int64_t>(before.size()); }
  Tensor flat(const Tensor& self) const {
    std::vector<int64_t> shape = before;
    shape.push_back(indexed);
    shape.insert(shape.end(), after.begin(), after.end());
    if (permutation.empty() && self.sizes() == IntArrayRef(shape)) return self;
    return (permutation.empty() ? self : self.permute(permutation)).reshape(shape);
  }
  /// The way back of flat().
  Tensor restore(const Tensor& flat, const Tensor& self) const {
    if (permutation.empty()) return flat.reshape(self.sizes());
    std::vector<int64_t> shape, inverse(permutation.size());
    for (size_t k = 0; k < permutation.size(); ++k)
      shape.push_back(self.size(permutation[k])), inverse[permutation[k]] = static_cast<int64_t>(k);
    return flat.reshape(shape).permute(inverse);
  }
  /// A value for the result's shape, as rows of flat().
  Tensor rows(const Tensor& value, const Advanced& a) const {
    std::vector<int64_t> shape = before;
    shape.push_back(a.linear.numel());
    shape.insert(shape.end(), after.begin(), after.end());
    return value.expand(result_shape(a)).reshape(shape);
  }
  std::vector<int64_t> result_shape(const Advanced& a) const {
    std::vector<int64_t> shape = before;
    shape.insert(shape.end(), a.shape.begin(), a.shape.end());
    shape.insert(shape.end(), after.begin(), after.end());
    return shape;
  }
};

/// In what order LibTorch's loop over self and the indices lays the result out.
DimVector result_strides(const Tensor& self, const Advanced& a, const Flattened& f) {
  const DimVector shape(f.result_shape(a));
  const size_t before = f.before.size(), taken = a.shape.size();
  std::vector<DimVector> operands(1, DimVector(shape.size(), 0));
  for (size_t d = 0, at = 0; d < static_cast<size_t>(self.dim()); ++d) {
    if (std::find(a.dims.begin(), a.dims.end(), static_cast<int64_t>(d)) != a.dims.end()) continue;
    operands[0][at < before ? at : at + taken] = self.stride(static_cast<int64_t>(d));
    ++at;
  }
  for (const Tensor& index : a.indices) {
    operands.emplace_back(shape.size(), 0);
    for (size_t back = 1; back <= static_cast<size_t>(index.dim()); ++back)
      if (index.size(-static_cast<int64_t>(back)) == a.shape[taken - back])
        operands.back()[before + taken - back] = index.stride(-static_cast<int64_t>(back));
  }
  return geometry::dense_strides_like(shape, operands);
}

/// self[…][indices][…] of flattened dimensions.
Tensor picked_rows(const Tensor& self, const Advanced& a, const Flattened& f) {
  if (a.linear.defined()) return index_select(f.flat(self), f.dim(), a.linear);
  IndexedSizes of;
  for (const int64_t d : a.dims) of.add(self.size(d), d);
  return ops::pick_places("index", f.flat(self), f.dim(), a.indices, of);
}

bool any_given(const IndexList& list) {
  return std::any_of(list.begin(), list.end(), [](const auto& i) { return i && i->defined(); });
}

/// The mask of a list that is one mask of all the leading dimensions; else null.
const Tensor* single_mask(const Tensor& self, const IndexList& list) {
  if (list.empty() || !list[0] || !list[0]->defined() || list[0]->scalar_type() != kBool) return nullptr;
  for (size_t k = 1; k < list.size(); ++k)
    if (list[k] && list[k]->defined()) return nullptr;
  const Tensor& mask = *list[0];
  if (mask.dim() == 0 || mask.dim() > self.dim()) return nullptr;
  for (int64_t d = 0; d < mask.dim(); ++d)
    if (mask.size(d) != self.size(d)) return nullptr;
  return &mask;
}

Tensor put_without_history(const Tensor& self, const Advanced& a, const Flattened& f, const Tensor& value,
                           bool accumulate) {
  NoGradGuard no_history;
  return f.restore(ops::with_rows_put("index_put_", f.flat(self), f.dim(), a.linear, f.rows(value, a),
                                      accumulate ? PutOp::add : PutOp::assign),
                   self);
}

void check_value(const Tensor& self, const Tensor& value, const std::vector<int64_t>& wanted) {
  HB_CHECK(self.scalar_type() == value.scalar_type(),
           "[index_put_] Index put requires the source and destination dtypes match, got ",
           toString(self.scalar_type()), " for the destination and ", toString(value.scalar_type()),
           " for the source.");
  const std::vector<int64_t> sizes = value.sizes().vec();
  bool fits = sizes.size() <= wanted.size();
  for (size_t k = 0; fits && k < sizes.size(); ++k) {
    const int64_t w = wanted[wanted.size() - sizes.size() + k];
    fits = sizes[k] == w || sizes[k] == 1;
  }
  HB_CHECK(fits, "[index_put_] shape mismatch: value tensor of shape ", value.sizes(),
           " cannot be broadcast to indexing result of shape ", IntArrayRef(wanted));
}

}  // namespace

Tensor ops::without_leading_ones(Tensor value, size_t dims) {
  while (value.dim() > static_cast<int64_t>(dims) && value.size(0) == 1) value = value.select(0, 0);
  return value;
}

Tensor index(const Tensor& self, const std::vector<std::optional<Tensor>>& indices) {
  if (!any_given(indices)) return self.alias();
  // Without a gradient, which is faster with the places that are known then.
  if (const Tensor* mask = needs_grad(self) ? nullptr : single_mask(self, indices);
      mask && mask->dim() == self.dim() && mask->device() == self.device())
    return masked_select(self, *mask);
  const Advanced a = prepare(self, indices, !needs_grad(self));
  const Flattened f(self, a);
  const std::vector<int64_t> shape = f.result_shape(a);
  Tensor picked = picked_rows(self, a, f);
  if (picked.sizes() != IntArrayRef(shape)) picked = picked.reshape(shape);
  const bool contiguous = self.is_contiguous() && a.shape.size() < 2;
  return named("IndexBackward0", contiguous ? picked : ops::in_strides(picked, result_strides(self, a, f)), self);
}

Tensor index_put(const Tensor& self, const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                 bool accumulate) {
  HB_AUTOCAST(index_put, as_is, widest, self, indices, value, accumulate);
  if (HB_UNLIKELY(value.device() != self.device()) && value.dim() == 0)
    return index_put(self, indices, value.to(self.device()), accumulate);
  const Tensor* mask = accumulate || value.numel() != 1 ? nullptr : single_mask(self, indices);
  if (mask && value.scalar_type() == self.scalar_type()) {
    Tensor whole = *mask;
    while (whole.dim() < self.dim()) whole = whole.unsqueeze(-1);
    const Tensor out = masked_fill(self, whole, value.reshape(IntArrayRef()));
    return named("IndexPutBackward0", ops::in_strides(out, ops::strides_of_clone(self)), self);
  }
  const Advanced a = prepare(self, indices);
  const Flattened f(self, a);
  const std::vector<int64_t> wanted = f.result_shape(a);
  const Tensor v = ops::without_leading_ones(value, wanted.size());
  check_value(self, v, wanted);
  Tensor out = ops::in_strides(put_without_history(self, a, f, v, accumulate), ops::strides_of_clone(self));
  if (needs_grad(self, v))
    record("IndexPutBackward0", out, {&self, &v}, [indices, accumulate, wanted](Backward& b) {
      Tensor gx = b.grad(), gv;
      if (b.needs(0) && !accumulate) gx = index_put(gx, indices, zeros(IntArrayRef(), gx.options()), false);
      if (b.needs(1)) gv = index(b.grad(), indices);
      return gradients(std::move(gx), std::move(gv));
    });
  return out;
}

Tensor& index_put_(Tensor& self, const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                   bool accumulate) {
  if (!any_given(indices)) return accumulate ? self.add_(value) : self.copy_(value);
  if (HB_UNLIKELY(value.device() != self.device()) && value.dim() == 0)
    return index_put_(self, indices, value.to(self.device()), accumulate);
  HB_ONE_DEVICE(index_put_, self, value);
  const auto direct = [&](Tensor& t) {
    const Tensor* mask = accumulate || value.numel() != 1 ? nullptr : single_mask(t, indices);
    if (mask && value.scalar_type() == t.scalar_type()) {
      Tensor whole = *mask;
      while (whole.dim() < t.dim()) whole = whole.unsqueeze(-1);
      masked_fill_(t, whole, value.reshape(IntArrayRef()));
      return;
    }
    const Advanced a = prepare(t, indices);
    const Flattened f(t, a);
    const std::vector<int64_t> wanted = f.result_shape(a);
    const Tensor v = ops::without_leading_ones(value, wanted.size());
    check_value(t, v, wanted);
    if (t.is_contiguous() && f.permutation.empty()) {
      Tensor flat = f.flat(t);
      ops::put_rows_into("index_put_", flat, f.dim(), a.linear, f.rows(v, a), accumulate ? PutOp::add : PutOp::assign);
    } else {
      const Tensor result = put_without_history(t, a, f, v, accumulate);
      copy_kernel(t.device())(Loop({&t}, {&result}));
    }
  };
  return inplace("index_put_", self, [&](const Tensor& old) { return index_put(old, indices, value, accumulate); },
                 direct, {&value});
}

Tensor Tensor::index(const std::vector<std::optional<Tensor>>& indices) const { return hb::index(*this, indices); }
Tensor& Tensor::index_put_(const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                           bool accumulate) const {
  return hb::index_put_(const_cast<Tensor&>(*this), indices, value, accumulate);
}

}  // namespace hb
