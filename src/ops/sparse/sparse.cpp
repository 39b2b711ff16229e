// Sparse tensors: how they are made, what they consist of, copies.
#include "ops/sparse/sparse.h"

#include <algorithm>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "core/geometry.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/sparse/compressed.h"

namespace hb {
namespace sparse {

using ops::gradients;

SparseParts& parts(const char* name, const Tensor& t) {
  HB_CHECK(t.is_sparse(), "[", name, "] ", name, " expected sparse coordinate tensor layout but got ", t.layout());
  return parts(t);
}

Tensor construct(const Tensor& indices, const Tensor& values, DimVector sizes, bool coalesced) {
  Tensor out = make(indices, values, std::move(sizes), coalesced);
  if (needs_grad(values))
    record("SparseCooTensorWithDimsAndTensorsBackward0", out, {&values}, {SavedTensor::input(parts(out).indices)},
           [](Backward& b, auto& s) { return gradients(gather(b.grad(), s[0])); });
  return out;
}

// --- copies

Tensor clone(const Tensor& self, std::optional<MemoryFormat> format) {
  // Whoever asks for a memory format is about to read memory: throws.
  if (format && *format != MemoryFormat::Preserve) self.impl().settle();
  Tensor out = with_parts(
      self, [](const Tensor& indices) { return indices.clone(); }, parts(self).values.clone());
  if (needs_grad(self)) record("CloneBackward0", out, {&self}, [](Backward& b) { return gradients(b.grad()); });
  return out;
}

Tensor converted(const Tensor& self, const Device& device, ScalarType dtype) {
  Tensor out = with_parts(
      self, [&](const Tensor& indices) { return indices.to(device, false, true); },
      parts(self).values.to(device, dtype, false, true));
  if (needs_grad(self) && is_differentiable_type(dtype))
    record("ToCopyBackward0", out, {&self},
           [from = self.device()](Backward& b) { return gradients(b.grad().to(from)); });
  return out;
}

void copy_into(Tensor& self, const Tensor& src) {
  HB_CHECK(self.layout() == src.layout(),
           "[copy_] copy_() between dense and sparse Tensors is not implemented! "
           "Found self type = ",
           self.toString(), " and src type = ", src.toString(), "; call to_dense() or to_sparse()");
  HB_CHECK(self.sizes() == src.sizes(), "[copy_] expected sparse tensors of one size, got ", self.sizes(), " and ",
           src.sizes());
  replace(self, converted(src.detach(), self.device(), self.scalar_type()));
}

void clear(Tensor& self) { replace(self, sparse::empty_like(self, self.options())); }

namespace {

void check_parts(const char* name, const Tensor& indices, const Tensor& values) {
  HB_CHECK(!either(indices, values), "[", name, "] expected strided indices and values");
  HB_CHECK(indices.scalar_type() == kLong, "[", name, "] indices must be an int64 tensor, got ", indices.scalar_type());
  HB_CHECK(indices.device() == values.device(), "[", name, "] device of indices (", indices.device(),
           ") must match device of values (", values.device(), ")");
  HB_CHECK(indices.dim() == 2, "[", name, "] indices must be sparse_dim x nnz, but got: ", indices.sizes());
  HB_CHECK(values.dim() >= 1, "[", name, "] values must have a dimension of nnz entries, got a 0-d tensor");
  HB_CHECK(values.size(0) == indices.size(1), "[", name,
           "] indices and values must have same nnz, but got nnz from indices: ", indices.size(1),
           ", nnz from values: ", values.size(0));
}

void check_size(const char* name, const Tensor& indices, const Tensor& values, IntArrayRef size) {
  const int64_t sparse = indices.size(0), dense = values.dim() - 1;
  HB_CHECK(static_cast<int64_t>(size.size()) == sparse + dense, "[", name,
           "] 'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
           ", sparse_dim = ", sparse, ", dense_dim = ", dense);
  for (int64_t s : size) HB_CHECK(s >= 0, "[", name, "] expected sizes that are not negative, got ", size);
  for (int64_t d = 0; d < dense; ++d)
    HB_CHECK(values.size(d + 1) == size[sparse + d], "[", name, "] values has incorrect size, expected ",
             IntArrayRef(size.data() + sparse, dense), " for the dense dimensions, got ", values.sizes());
}

/// The least and the greatest index of each dimension.
void check_bounds(const Tensor& indices, IntArrayRef size) {
  if (indices.numel() == 0) return;
  const Tensor ends = stack({indices.amin(1), indices.amax(1)}).cpu();
  const int64_t* least = ends.data_ptr<int64_t>();
  const int64_t* most = least + indices.size(0);
  for (int64_t d = 0; d < indices.size(0); ++d) {
    HB_CHECK(least[d] >= 0, "[sparse_coo_tensor] found negative index ", least[d], " for dim ", d);
    HB_CHECK(most[d] < size[d], "[sparse_coo_tensor] size is inconsistent with indices: for dim ", d, ", size is ",
             size[d], " but found index ", most[d]);
  }
}

DimVector least_size(const Tensor& indices, const Tensor& values) {
  DimVector size;
  const bool some = indices.size(1) > 0;
  const Tensor high = some ? indices.amax(1) : Tensor();
  for (int64_t d = 0; d < indices.size(0); ++d) {
    const int64_t most = some ? high[d].item<int64_t>() : -1;
    HB_CHECK(most < INT64_MAX, "[sparse_coo_tensor] expected indices below ", INT64_MAX, ", got ", most, " for dim ",
             d);
    size.push_back(most + 1);
  }
  for (int64_t s : values.sizes().slice(1)) size.push_back(s);
  return size;
}

Tensor from_parts(const Tensor& indices, const Tensor& values, IntArrayRef size, const TensorOptions& options,
                  std::optional<bool> is_coalesced) {
  HB_CHECK(!options.has_layout() || options.is_sparse(), "[sparse_coo_tensor] expected sparse layout, but got layout ",
           options.layout());
  const Tensor held = options.requires_grad() ? values.detach() : values;
  Tensor out = construct(indices, held, DimVector(size), is_coalesced.value_or(indices.size(1) < 2));
  if (options.requires_grad()) out.requires_grad_(true);
  return out;
}

}  // namespace
}  // namespace sparse

// --- makers

Tensor sparse_coo_tensor(const Tensor& indices, const Tensor& values, IntArrayRef size, const TensorOptions& options,
                         std::optional<bool> is_coalesced) {
  sparse::check_parts("sparse_coo_tensor", indices, values);
  sparse::check_size("sparse_coo_tensor", indices, values, size);
  sparse::check_bounds(indices, size);
  return sparse::from_parts(indices, values, size, options, is_coalesced);
}
Tensor sparse_coo_tensor(const Tensor& indices, const Tensor& values, const TensorOptions& options,
                         std::optional<bool> is_coalesced) {
  sparse::check_parts("sparse_coo_tensor", indices, values);
  const DimVector size = sparse::least_size(indices, values);
  sparse::check_bounds(indices, size);
  return sparse::from_parts(indices, values, size, options, is_coalesced);
}
Tensor sparse_coo_tensor(IntArrayRef size, const TensorOptions& options) {
  return sparse::empty(size, static_cast<int64_t>(size.size()), options);
}
Tensor _sparse_coo_tensor_unsafe(const Tensor& indices, const Tensor& values, IntArrayRef size,
                                 const TensorOptions& options, std::optional<bool> is_coalesced) {
  sparse::check_parts("_sparse_coo_tensor_unsafe", indices, values);
  sparse::check_size("_sparse_coo_tensor_unsafe", indices, values, size);
  return sparse::from_parts(indices, values, size, options, is_coalesced);
}

// --- parts

Tensor sparse::alias_of_part(const Tensor& sparse, const Tensor& part) {
  Tensor out(part.impl().alias(false));
  out.impl().set_shared_version(sparse.impl().shared_version());
  return out;
}
using sparse::alias_of_part;

bool Tensor::is_coalesced() const { return sparse::parts("is_coalesced", *this).coalesced; }
Tensor Tensor::_indices() const { return alias_of_part(*this, sparse::parts("_indices", *this).indices); }
Tensor Tensor::_values() const { return alias_of_part(*this, sparse::parts("_values", *this).values); }
int64_t Tensor::_nnz() const {
  if (sparse::is_compressed(*this)) return sparse::parts(*this).indices.size(0);
  return sparse::parts("_nnz", *this).indices.size(1);
}
int64_t Tensor::sparse_dim() const {
  if (sparse::is_compressed(*this)) return 2;
  return is_sparse() ? sparse::sparse_dim(*this) : 0;
}
int64_t Tensor::dense_dim() const { return dim() - sparse_dim(); }

Tensor Tensor::indices() const {
  const SparseParts& p = sparse::parts("indices", *this);
  HB_CHECK(p.coalesced, "[indices] Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
  return alias_of_part(*this, p.indices);
}

Tensor Tensor::values() const {
  HB_CHECK(layout() != kStrided, "[values] values expected sparse tensor layout but got Strided");
  const SparseParts& p = sparse::parts(*this);
  HB_CHECK(p.coalesced, "[values] Cannot get values on an uncoalesced tensor, please call .coalesce() first");
  Tensor out = alias_of_part(*this, p.values);
  if (needs_grad(*this))
    record("ValuesBackward0", out, {this}, {SavedTensor::input(detach())},
           [](Backward& b, auto& s) { return ops::gradients(sparse::construct_like(s[0], b.grad())); });
  return out;
}

Tensor& Tensor::_coalesced_(bool coalesced) const {
  const SparseParts& p = sparse::parts("_coalesced_", *this);
  // detach() shares the record of the parts: this tensor gets one of its own.
  if (p.coalesced != coalesced) sparse::replace(*this, sparse::make(p.indices, p.values, impl().sizes(), coalesced));
  return const_cast<Tensor&>(*this);
}

// --- other sizes

const Tensor& Tensor::sparse_resize_and_clear_(IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) const {
  sparse::parts("sparse_resize_and_clear_", *this);
  HB_CHECK(!requires_grad(), "[sparse_resize_and_clear_] cannot resize variables that require grad");
  HB_CHECK(static_cast<int64_t>(size.size()) == sparse_dim + dense_dim && sparse_dim >= 0 && dense_dim >= 0,
           "[sparse_resize_and_clear_] 'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ",
           size.size(), ", sparse_dim = ", sparse_dim, ", dense_dim = ", dense_dim);
  sparse::replace(*this, sparse::empty(size, sparse_dim, options()));
  impl().bump_version();
  return *this;
}

const Tensor& Tensor::sparse_resize_(IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) const {
  const SparseParts& p = sparse::parts("sparse_resize_", *this);
  if (p.indices.size(1) == 0) return sparse_resize_and_clear_(size, sparse_dim, dense_dim);
  HB_CHECK(!requires_grad(), "[sparse_resize_] cannot resize variables that require grad");
  HB_CHECK(sparse_dim == this->sparse_dim() && dense_dim == this->dense_dim(),
           "[sparse_resize_] changing the number of sparse or dense dimensions of a non-empty sparse tensor is not "
           "supported; use sparse_resize_and_clear_");
  HB_CHECK(static_cast<int64_t>(size.size()) == dim(), "[sparse_resize_] expected ", dim(), " sizes, got ", size);
  for (int64_t d = 0; d < dim(); ++d)
    HB_CHECK(d < sparse_dim ? size[d] >= this->size(d) : size[d] == this->size(d),
             "[sparse_resize_] shrinking the size of sparse dimensions, or changing that of dense ones (from ", sizes(),
             " to ", size, "), of a non-empty sparse tensor is not supported; use sparse_resize_and_clear_");
  sparse::replace(*this, sparse::make(p.indices, p.values, DimVector(size), p.coalesced));
  impl().bump_version();
  return *this;
}

const Tensor& Tensor::resize_as_sparse_(const Tensor& other) const {
  sparse::parts("resize_as_sparse_", other);
  if (sizes() == other.sizes() && sparse_dim() == other.sparse_dim()) return *this;
  return sparse_resize_(other.sizes(), other.sparse_dim(), other.dense_dim());
}

}  // namespace hb
