// tensor.index({...}): integers, slices, None, Ellipsis and bools make views. What remains are index tensors, which
// indexing.cpp takes.
#include <halfbridge/ops.h>

#include "ops/indexing/index_op.h"

namespace hb {
namespace {

using IndexList = std::vector<std::optional<Tensor>>;

int64_t dims_taken(const TensorIndex& i) {
  if (i.is_integer() || i.is_slice()) return 1;
  if (!i.is_tensor()) return 0;
  if (!i.tensor().defined()) return 1;
  const ScalarType t = i.tensor().scalar_type();
  return t == kBool || t == kByte ? i.tensor().dim() : 1;
}

struct Viewed {
  Tensor view;
  IndexList tensors;  // one entry per dimension of the view, or per mask of several, up to the last that is given
  bool advanced = false;
};

void put_tensor(Viewed& v, int64_t slot, Tensor index) {
  v.tensors.resize(slot + 1);
  v.tensors[slot] = std::move(index);
  v.advanced = true;
}

Viewed apply_views(const Tensor& self, ArrayRef<TensorIndex> indices) {
  int64_t given = 0;
  for (const TensorIndex& i : indices) given += dims_taken(i);
  HB_CHECK_INDEX(
      given == 0 || self.dim() > 0,
      "[index] invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
      "convert a 0-dim tensor to a number");
  HB_CHECK_INDEX(given <= self.dim(), "[index] too many indices for tensor of dimension ", self.dim(), " (got ", given,
                 ")");
  Viewed v{self, {}, false};
  const TensorOptions integers = self.options().dtype(kLong);
  int64_t dim = 0, slot = 0, source = 0;  // of the view, of the list, of self
  for (const TensorIndex& i : indices) {
    switch (i.type()) {
      case TensorIndex::Type::SymInt: {
        const int64_t n = v.view.size(dim);
        HB_CHECK_INDEX(i.integer() >= -n && i.integer() < n, "[index] index ", i.integer(),
                       " is out of bounds for dimension ", source, " with size ", n);
        v.view = v.view.select(dim, i.integer());
        ++source;
        break;
      }
      case TensorIndex::Type::Slice: {
        const bool whole = i.slice().start() == 0 && i.slice().stop() == subscripts::INDEX_MAX && i.slice().step() == 1;
        if (!whole) v.view = v.view.slice(dim, i.slice().start(), i.slice().stop(), i.slice().step());
        ++dim, ++slot, ++source;
        break;
      }
      case TensorIndex::Type::Ellipsis:
        dim += self.dim() - given, slot += self.dim() - given, source += self.dim() - given;
        break;
      case TensorIndex::Type::None:
        v.view = v.view.unsqueeze(dim++);
        ++slot;
        break;
      case TensorIndex::Type::Boolean:
        // A dimension of one element, taken or not.
        v.view = v.view.unsqueeze(dim++);
        put_tensor(v, slot++, i.boolean() ? zeros({1}, integers) : empty({0}, integers));
        break;
      case TensorIndex::Type::Tensor: {
        if (!i.tensor().defined()) {  // the whole dimension
          ++dim, ++slot, ++source;
          break;
        }
        const ScalarType t = i.tensor().scalar_type();
        if (i.tensor().dim() == 0 && is_integral_type(t, false) && t != kByte) {
          v.view = v.view.select(dim, i.tensor().item().toLong());
          ++source;
        } else if (i.tensor().dim() == 0 && (t == kBool || t == kByte)) {
          v.view = v.view.unsqueeze(dim++);
          put_tensor(v, slot++, i.tensor().item().toBool() ? zeros({1}, integers) : empty({0}, integers));
        } else {
          const int64_t taken = dims_taken(i);
          put_tensor(v, slot++, i.tensor());
          dim += taken, source += taken;
        }
      }
    }
  }
  return v;
}

Tensor& put_into(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value) {
  HB_CHECK(!indices.empty(), "[index_put_] Passing an empty index list to Tensor::index_put_() is not valid syntax");
  Viewed v = apply_views(self, indices);
  if (!v.advanced) {
    v.view.copy_(ops::without_leading_ones(value, static_cast<size_t>(v.view.dim())));
    return const_cast<Tensor&>(self);
  }
  // One value under masks is filled in, whatever its dtype; anything else must have the destination's.
  bool fills = value.numel() == 1;
  for (const auto& index : v.tensors) fills = fills && (!index || !index->defined() || index->scalar_type() == kBool);
  index_put_(v.view, v.tensors, fills ? value.to(self.scalar_type()) : value);
  return const_cast<Tensor&>(self);
}

}  // namespace

Tensor index_items(const Tensor& self, ArrayRef<TensorIndex> indices) {
  HB_CHECK(!indices.empty(), "[index] Passing an empty index list to Tensor::index() is not valid syntax");
  const Viewed v = apply_views(self, indices);
  if (!v.advanced) return v.view.is_same(self) ? self.alias() : v.view;
  return index(v.view, v.tensors);
}

Tensor Tensor::operator[](const Tensor& i) const {
  HB_CHECK_INDEX(is_integral_type(i.scalar_type(), false) && i.dim() == 0,
                 "[operator[]] Can only index with tensors that are scalars "
                 "(zero-dim) of integers, got shape ",
                 i.sizes());
  return select(0, i.item().toLong());
}

Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Tensor& value) const {
  return put_into(*this, indices, value);
}
Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Scalar& value) const {
  return put_into(*this, indices, full(IntArrayRef(), value, options()));
}

}  // namespace hb
