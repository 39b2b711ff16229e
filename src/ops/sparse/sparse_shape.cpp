// Sparse tensors in other shapes: dimensions in another order, parts, several as one.
#include <algorithm>

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/geometry.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/sparse/compressed.h"

namespace hb::sparse {
namespace {

using geometry::wrap_dim;
using ops::gradients;

std::vector<Tensor> rows_of(const Tensor& indices) { return indices.unbind(0); }
Tensor from_rows(const std::vector<Tensor>& rows, const Tensor& like) {
  return rows.empty() ? hb::empty({0, like.size(1)}, like.options()) : hb::stack(rows, 0);
}

}  // namespace

Tensor permute(const Tensor& self, IntArrayRef dims) {
  if (is_compressed(self)) {
    HB_CHECK(dims.size() == 2, "[permute] expected 2 dimensions, got ", dims);
    return wrap_dim("permute", dims[0], 2) == 0 ? self : transpose_compressed(self, dims[0], dims[1]);
  }
  const SparseParts& p = parts(self);
  const int64_t n = self.dim(), sparse = sparse_dim(self);
  HB_CHECK(static_cast<int64_t>(dims.size()) == n, "[permute] expected ", n, " dimensions, got ", dims);
  DimVector order(n), inverse(n, -1), sizes(n), of_sparse, of_values(1, 0);
  for (int64_t d = 0; d < n; ++d) {
    order[d] = wrap_dim("permute", dims[d], n);
    HB_CHECK(inverse[order[d]] < 0, "[permute] duplicate dims are not allowed, got ", dims);
    HB_CHECK((order[d] < sparse) == (d < sparse),
             "[permute] sparse transpose: transposed dimensions must be sparse, "
             "or both dense; got dims ",
             dims, " with sparse_dim ", sparse);
    inverse[order[d]] = d, sizes[d] = self.size(order[d]);
    if (d < sparse)
      of_sparse.push_back(order[d]);
    else
      of_values.push_back(order[d] - sparse + 1);
  }
  std::vector<Tensor> rows;
  for (int64_t d : of_sparse) rows.push_back(p.indices[d]);
  const bool in_order = p.coalesced && std::is_sorted(of_sparse.begin(), of_sparse.end());
  Tensor out = make(from_rows(rows, p.indices), p.values.permute(of_values), sizes, in_order);
  if (needs_grad(self))
    record("PermuteBackward0", out, {&self},
           [inverse](Backward& b) { return gradients(hb::permute(b.grad(), inverse)); });
  return out;
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  if (is_compressed(self)) return transpose_compressed(self, dim0, dim1);
  DimVector order(self.dim());
  for (int64_t d = 0; d < self.dim(); ++d) order[d] = d;
  std::swap(order[wrap_dim("transpose", dim0, self.dim())], order[wrap_dim("transpose", dim1, self.dim())]);
  return sparse::permute(self, order);
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  const SparseParts& p = parts(self);
  const int64_t d = wrap_dim("unsqueeze", dim, self.dim() + 1), sparse = sparse_dim(self);
  DimVector sizes(self.impl().sizes());
  sizes.insert(d, 1);
  Tensor out;
  if (d <= sparse) {
    std::vector<Tensor> rows = rows_of(p.indices);
    rows.insert(rows.begin() + d, zeros({nnz(self)}, p.indices.options()));
    out = make(from_rows(rows, p.indices), p.values, sizes, p.coalesced);
  } else {
    out = make(p.indices, p.values.unsqueeze(d - sparse + 1), sizes, p.coalesced);
  }
  if (needs_grad(self))
    record("UnsqueezeBackward0", out, {&self}, [d](Backward& b) { return gradients(b.grad().select(d, 0)); });
  return out;
}

// --- parts

namespace {

/// Entries `kept` (places) with dimension `dim` renumbered as `row`, or dropped where `row` is undefined.
Tensor with_row(const Tensor& self, int64_t dim, const Tensor& kept, const Tensor& row, const DimVector& sizes) {
  const SparseParts& p = parts(self);
  std::vector<Tensor> rows = rows_of(p.indices.index_select(1, kept));
  if (row.defined())
    rows[dim] = row;
  else
    rows.erase(rows.begin() + dim);
  const Tensor like = hb::empty({0, kept.numel()}, p.indices.options());
  return make(from_rows(rows, like), p.values.index_select(0, kept), sizes, kept.numel() < 2);
}

/// A tensor of `size` in dimension dim with the entries of g, sparse, in rows that `row_of` gives.
Tensor put_back(const Tensor& g, int64_t dim, int64_t size, const std::function<Tensor(const Tensor&)>& row_of) {
  const SparseParts& p = parts(g);
  DimVector sizes(g.impl().sizes());
  sizes[dim] = size;
  std::vector<Tensor> rows = rows_of(p.indices);
  rows[dim] = row_of(rows[dim]);
  return make(from_rows(rows, p.indices), p.values, sizes, false);
}

}  // namespace

Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  const SparseParts& p = parts(self);
  const int64_t d = wrap_dim("narrow_copy", dim, self.dim()), sparse = sparse_dim(self), size = self.size(d);
  const int64_t from = start < 0 ? start + size : start;
  HB_CHECK_INDEX(length >= 0 && from >= 0 && length <= size - from, "[narrow_copy] Invalid range to narrow: ", length,
                 " from ", start, " on, of dimension ", d, " of size ", size);
  DimVector sizes(self.impl().sizes());
  sizes[d] = length;
  Tensor out;
  if (d < sparse) {
    const Tensor row = p.indices[d];
    const Tensor kept = hb::nonzero(logical_and(row >= from, row < from + length)).reshape({-1});
    out = with_row(self, d, kept, row.index_select(0, kept) - from, sizes);
    parts(out).coalesced = p.coalesced;
  } else {
    out = make(p.indices, p.values.narrow_copy(d - sparse + 1, from, length), sizes, p.coalesced);
  }
  if (needs_grad(self))
    record("NarrowCopyBackward0", out, {&self}, [d, from, size](Backward& b) {
      const Tensor& g = b.grad();
      if (g.is_sparse() && d < sparse_dim(g))
        return gradients(put_back(g, d, size, [from](const Tensor& row) { return row + from; }));
      DimVector whole(g.impl().sizes());
      const int64_t length = whole[d];
      whole[d] = size;
      Tensor out = zeros(whole, TensorOptions(g.scalar_type()).device(g.device()));
      return gradients(out.slice_scatter(g.to_dense(), d, from, from + length));
    });
  return out;
}

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  if (is_compressed(self)) {
    Tensor out = sparse::select(self.to_sparse(2), dim, index);
    parts(out).coalesced = self.is_sparse_csr();
    return out;
  }
  const SparseParts& p = parts(self);
  const int64_t d = wrap_dim("select", dim, self.dim()), sparse = sparse_dim(self), size = self.size(d);
  HB_CHECK_INDEX(index >= -size && index < size, "[select] index ", index, " out of range for tensor of size ",
                 self.sizes(), " at dimension ", d);
  const int64_t at = index < 0 ? index + size : index;
  DimVector sizes(self.impl().sizes());
  sizes.erase(d);
  if (sparse == 1 && d == 0)
    return hb::index_select(self, 0, scalar_tensor(at, p.indices.options()).reshape({1})).to_dense().squeeze(0);
  Tensor out;
  if (d < sparse) {
    out = with_row(self, d, hb::nonzero(p.indices[d].eq(at)).reshape({-1}), {}, sizes);
  } else {
    out = make(p.indices, p.values.select(d - sparse + 1, at), sizes, p.coalesced);
  }
  if (needs_grad(self))
    record("SelectBackward0", out, {&self}, [d, at, size, sparse](Backward& b) {
      const Tensor g = b.grad().unsqueeze(d);
      if (g.is_sparse() && d < sparse)
        return gradients(put_back(g, d, size, [at](const Tensor& row) { return row + at; }));
      DimVector whole(g.impl().sizes());
      whole[d] = size;
      return gradients(
          zeros(whole, TensorOptions(g.scalar_type()).device(g.device())).slice_scatter(g.to_dense(), d, at, at + 1));
    });
  return out;
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  const SparseParts& p = parts(self);
  const int64_t d = wrap_dim("index_select", dim, self.dim()), sparse = sparse_dim(self), size = self.size(d);
  HB_CHECK_INDEX(index.dim() == 1 && (index.scalar_type() == kLong || index.scalar_type() == kInt),
                 "[index_select] expected a vector of int32 or int64 as index, got ", index.scalar_type(), " of shape ",
                 index.sizes());
  const Tensor given = index.to(kLong), at = where(given < 0, given + size, given);
  HB_CHECK_INDEX(!hb::any(logical_or(at < 0, at >= size)).item<bool>(),
                 "[index_select] index contains values out of range for tensor of size ", self.sizes(),
                 " at dimension ", d);
  DimVector sizes(self.impl().sizes());
  sizes[d] = at.numel();
  Tensor out;
  if (d < sparse) {
    // For each position in `at` the entries of that row: row r has the entries first[r]… of `order`.
    const Grouping g = group_keys(p.indices[d], size);
    const Tensor sorted = p.indices[d].index_select(0, g.order);
    const Tensor first = searchsorted(sorted, at), counts = searchsorted(sorted, at + 1) - first;
    const Tensor row = arange(at.numel(), at.options()).repeat_interleave(counts);
    const Tensor before = counts.cumsum(0) - counts;
    const Tensor place = arange(row.numel(), row.options()) + (first - before).index_select(0, row);
    out = with_row(self, d, g.order.index_select(0, place), row, sizes);
  } else {
    out = make(p.indices, p.values.index_select(d - sparse + 1, at), sizes, false);
  }
  if (needs_grad(self))
    record("IndexSelectBackward0", out, {&self}, {SavedTensor::input(at)}, [d, size](Backward& b, auto& s) {
      const Tensor& g = b.grad();
      if (g.is_sparse() && d < sparse_dim(g))
        return gradients(put_back(g, d, size, [&](const Tensor& row) { return s[0].index_select(0, row); }));
      DimVector whole(g.impl().sizes());
      whole[d] = size;
      return gradients(
          zeros(whole, TensorOptions(g.scalar_type()).device(g.device())).index_add(d, s[0], g.to_dense()));
    });
  return out;
}

// --- several as one

namespace {

void check_alike(TensorList tensors, int64_t dim) {
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Tensor& t = tensors[k];
    HB_CHECK(t.is_sparse(), "[cat] Concatenating sparse tensors, but a dense tensor was found at position ", k, ".");
    HB_CHECK(t.dim() == tensors[0].dim() && sparse_dim(t) == sparse_dim(tensors[0]),
             "[cat] All tensors must have the same shape and number of sparse dimensions, got ", tensors[0].sizes(),
             " and ", t.sizes(), " at position ", k);
    for (int64_t d = 0; d < t.dim(); ++d)
      HB_CHECK(d == dim || t.size(d) == tensors[0].size(d), "[cat] Sizes of tensors must match except in dimension ",
               dim, ", got ", tensors[0].sizes(), " and ", t.sizes(), " at position ", k);
  }
}

/// `t` as a part of a tensor of `sizes` that begins at `at` of dimension dim.
Tensor placed(const Tensor& t, int64_t dim, int64_t at, const DimVector& sizes) {
  const SparseParts& p = parts(t);
  const int64_t sparse = sparse_dim(t);
  if (dim < sparse) {
    std::vector<Tensor> rows = rows_of(p.indices);
    rows[dim] = rows[dim] + at;
    return make(from_rows(rows, p.indices), p.values, sizes, false);
  }
  DimVector shape(p.values.impl().sizes());
  shape[dim - sparse + 1] = sizes[dim];
  Tensor values = zeros(shape, p.values.options());
  values.narrow(dim - sparse + 1, at, t.size(dim)).copy_(p.values);
  return make(p.indices, values, sizes, false);
}

}  // namespace

Tensor cat(TensorList tensors, int64_t dim) {
  const int64_t d = wrap_dim("cat", dim, tensors[0].dim());
  check_alike(tensors, d);
  DimVector sizes(tensors[0].impl().sizes()), starts;
  sizes[d] = 0;
  std::vector<const Tensor*> inputs;
  for (const Tensor& t : tensors) {
    starts.push_back(sizes[d]);
    HB_CHECK(!__builtin_add_overflow(sizes[d], t.size(d), &sizes[d]), "[cat] the sizes in dimension ", d,
             " add up to more than int64 counts");
    inputs.push_back(&t);
  }
  std::vector<Tensor> indices, values;
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Tensor part = placed(tensors[k].detach(), d, starts[k], sizes);
    indices.push_back(parts(part).indices), values.push_back(parts(part).values);
  }
  Tensor out = make(hb::cat(indices, 1), hb::cat(values, 0), sizes, false);
  if (!needs_grad_list(tensors)) return out;
  starts.push_back(sizes[d]);
  record_many("CatBackward0", {&out}, inputs, {}, [d, starts](Backward& b, const variable_list&) {
    variable_list grads(starts.size() - 1);
    for (size_t k = 0; k < grads.size(); ++k)
      if (b.needs(k)) grads[k] = b.grad().narrow_copy(d, starts[k], starts[k + 1] - starts[k]);
    return grads;
  });
  return out;
}

}  // namespace hb::sparse
