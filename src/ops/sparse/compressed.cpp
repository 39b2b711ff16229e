// Matrices by rows or columns: how they are made and checked, what they consist of, conversions.
#include "ops/sparse/compressed.h"

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "backend/sparse.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb {
namespace sparse {
namespace {

using ops::gradients;

bool by_rows(Layout layout) { return layout == kSparseCsr; }

/// Numbers of entries of each row (column, by columns), from where each begins.
Tensor counts_of(const Tensor& compressed) {
  const Tensor at = compressed.to(kLong);
  return at.slice(0, 1) - at.slice(0, 0, at.numel() - 1);
}
/// Row numbers of entries.
Tensor expanded(const Tensor& compressed) {
  const Tensor counts = counts_of(compressed);
  return arange(counts.numel(), counts.options()).repeat_interleave(counts);
}

void check_layout(const char* name, Layout layout) {
  if (layout == Layout::SparseBsr || layout == Layout::SparseBsc)
    HB_NOT_SUPPORTED("[", name, "] layout ", layout, " is not supported: layouts of blocks do not exist");
  HB_CHECK(detail::is_compressed(layout), "[", name, "] expected sparse compressed tensor layout but got ", layout);
}

void check_kinds(const char* name, const Tensor& compressed, const Tensor& plain, const Tensor& values) {
  for (const Tensor* t : {&compressed, &plain, &values}) {
    HB_CHECK(t->defined(), "[", name, "] expected indices and values, got an undefined tensor");
    HB_CHECK(t->layout() == kStrided, "[", name, "] expected strided indices and values, got layout ", t->layout());
  }
  for (const Tensor* t : {&compressed, &plain})
    HB_CHECK(t->scalar_type() == kLong || t->scalar_type() == kInt, "[", name,
             "] expected indices of int64 or int32, got ", t->scalar_type());
  HB_CHECK(compressed.device() == values.device() && plain.device() == values.device(), "[", name,
           "] device of indices (", compressed.device(), ", ", plain.device(), ") must match device of values (",
           values.device(), ")");
  if (compressed.dim() != 1 || plain.dim() != 1 || values.dim() != 1)
    HB_NOT_SUPPORTED("[", name, "] expected one matrix of numbers (indices and values of one dimension), got shapes ",
                     compressed.sizes(), ", ", plain.sizes(), " and ", values.sizes(),
                     "; stacks and dense dimensions are not supported");
}

void check_sizes(const char* name, Layout layout, const Tensor& compressed, const Tensor& plain, const Tensor& values,
                 IntArrayRef size) {
  HB_CHECK(size.size() == 2 && size[0] >= 0 && size[1] >= 0, "[", name, "] expected a size of two dimensions, got ",
           size);
  const int64_t lines = size[by_rows(layout) ? 0 : 1];
  HB_CHECK(compressed.numel() == lines + 1, "[", name, "] expected ", lines + 1,
           " compressed indices for a matrix of size ", size, ", got ", compressed.numel());
  HB_CHECK(plain.numel() == values.size(0), "[", name, "] expected as many plain indices as values, got ",
           plain.numel(), " and ", values.size(0));
}

/// That the indices address entries and columns that exist, found by one read of the device.
void check_places(const char* name, const Tensor& compressed, const Tensor& plain, int64_t columns) {
  const Tensor at = compressed.to(kLong), listed = plain.to(kLong);  // no number of this matrix is too large for it
  const Tensor found =
      hb::cat({at.slice(0, 0, 1) != 0, at.slice(0, at.numel() - 1) != listed.numel(),
               (counts_of(at) < 0).any().reshape({1}), logical_or(listed < 0, listed >= columns).any().reshape({1})})
          .cpu();
  const auto* fault = found.const_data_ptr<bool>();
  HB_CHECK(!fault[0], "[", name, "] expected compressed indices that begin with 0");
  HB_CHECK(!fault[1], "[", name, "] expected compressed indices that end with the number of entries, ", plain.numel());
  HB_CHECK(!fault[2], "[", name, "] expected compressed indices that do not descend");
  HB_CHECK(!fault[3], "[", name, "] expected plain indices from 0 to ", columns - 1);
}

Tensor from_parts(const char* name, Layout layout, const Tensor& compressed, const Tensor& given, const Tensor& values,
                  IntArrayRef size, const TensorOptions& options) {
  check_layout(name, layout);
  HB_CHECK(!options.has_layout() || options.layout() == layout, "[", name, "] expected layout ", layout, ", got ",
           options.layout());
  HB_CHECK(!options.has_dtype() || options.dtype() == values.dtype(), "[", name, "] dtype of values (",
           values.scalar_type(), ") must match dtype of sparse tensor (", options.dtype(), ")");
  check_kinds(name, compressed, given, values);
  const Tensor plain = given.to(compressed.scalar_type());
  check_sizes(name, layout, compressed, plain, values, size);
  check_places(name, compressed, plain, size[by_rows(layout) ? 1 : 0]);
  const Tensor out = make_compressed(layout, compressed, plain, values, DimVector(size));
  return options.requires_grad() ? out.requires_grad_(true) : construct_like(out, values);
}

/// As many rows as there are, and as many columns as are addressed.
DimVector least_size(const char* name, Layout layout, const Tensor& compressed, const Tensor& plain,
                     const Tensor& values) {
  check_kinds(name, compressed, plain, values);
  HB_CHECK(compressed.numel() > 0, "[", name, "] expected at least one compressed index");
  const int64_t lines = compressed.numel() - 1;
  const int64_t most = plain.numel() ? plain.max().item<int64_t>() : -1;
  HB_CHECK(most < INT64_MAX, "[", name, "] expected indices below ", INT64_MAX, ", got ", most);
  const int64_t others = most + 1;
  return by_rows(layout) ? DimVector(IntArrayRef({lines, others})) : DimVector(IntArrayRef({others, lines}));
}

SparseParts& parts_of(const char* name, const Tensor& t, Layout layout) {
  HB_CHECK(t.layout() == layout, "[", name, "] ", name, " expected sparse ", by_rows(layout) ? "row" : "column",
           " compressed tensor layout but got ", t.layout());
  return parts(t);
}

/// `self` by rows or columns.
Tensor compressed_form(const char* name, const char* node, const Tensor& self, Layout layout,
                       std::optional<int64_t> dense_dim) {
  if (dense_dim.value_or(0) != 0 || self.dim() != 2)
    HB_NOT_SUPPORTED("[", name, "] expected a matrix and dense_dim 0, got shape ", self.sizes(), " and dense_dim ",
                     dense_dim.value_or(0), "; stacks and dense dimensions are not supported");
  if (self.layout() == layout) return self;
  const Tensor plain = self.detach();
  Tensor out = in_layout(plain.layout() == kStrided ? plain.to_sparse(2) : coordinates(plain), layout);
  if (needs_grad(self))
    record(node, out, {&self}, [from = self.layout()](Backward& b) { return gradients(converted_to(b.grad(), from)); });
  return out;
}

}  // namespace

Tensor coordinates(const Tensor& t) {
  if (!is_compressed(t)) return t.detach();
  const SparseParts& p = parts(t);
  const Tensor lines = expanded(p.compressed), listed = p.indices.to(kLong);
  const Tensor indices = by_rows(p.layout) ? hb::stack({lines, listed}, 0) : hb::stack({listed, lines}, 0);
  return make(indices, p.values, t.impl().sizes(), by_rows(p.layout));
}

Tensor in_layout(const Tensor& given, Layout layout) {
  if (layout == kSparse) return given;
  const Tensor sorted = (by_rows(layout) ? given : sparse::transpose(given, 0, 1)).coalesce();
  const SparseParts& p = parts(sorted);
  HB_CHECK(p.indices.size(0) == 2 && sorted.dim() == 2,
           "[to_sparse] expected a matrix of two sparse dimensions for layout ", layout, ", got shape ", given.sizes());
  const Tensor indices = p.indices.contiguous();
  const int64_t rows = sorted.size(0), n = indices.size(1);
  Tensor first = hb::empty({rows + 1}, indices.options());
  const auto* row = static_cast<const int64_t*>(indices.impl().visible_data());
  sparse_rows_kernel(indices.device())("to_sparse", row, row + n, n, rows, sorted.size(1),
                                       static_cast<int64_t*>(first.impl().visible_data()));
  return make_compressed(layout, first, indices[1], p.values, given.impl().sizes());
}

Tensor converted_to(const Tensor& t, Layout layout) {
  if (layout == kStrided) return t.to_dense();
  if (layout == kSparse) return t.layout() == kSparse ? t : t.to_sparse(2);
  return by_rows(layout) ? t.to_sparse_csr() : t.to_sparse_csc();
}

Tensor with_values(const Tensor& self, const Tensor& values) {
  return with_parts(
      self, [](const Tensor& indices) { return indices; }, values);
}

Tensor construct_like(const Tensor& self, const Tensor& values) {
  if (self.is_sparse()) return construct(parts(self).indices, values, self.impl().sizes(), parts(self).coalesced);
  Tensor out = with_values(self, values);
  if (needs_grad(values))
    record("SparseCompressedTensorBackward0", out, {&values}, {SavedTensor::input(out.detach())},
           [](Backward& b, auto& s) { return gradients(gather(b.grad(), parts(coordinates(s[0])).indices)); });
  return out;
}

}  // namespace sparse

// --- makers

namespace {
constexpr const char* kCompressed = "sparse_compressed_tensor";
Layout asked_layout(const TensorOptions& options) {
  HB_CHECK(options.has_layout(), "[", kCompressed, "] expected sparse compressed tensor layout but got none");
  sparse::check_layout(kCompressed, options.layout());
  return options.layout();
}
}  // namespace

Tensor sparse_compressed_tensor(const Tensor& compressed_indices, const Tensor& plain_indices, const Tensor& values,
                                IntArrayRef size, const TensorOptions& options) {
  return sparse::from_parts(kCompressed, asked_layout(options), compressed_indices, plain_indices, values, size,
                            options);
}
Tensor sparse_compressed_tensor(const Tensor& compressed_indices, const Tensor& plain_indices, const Tensor& values,
                                const TensorOptions& options) {
  const Layout layout = asked_layout(options);
  const DimVector size = sparse::least_size(kCompressed, layout, compressed_indices, plain_indices, values);
  return sparse::from_parts(kCompressed, layout, compressed_indices, plain_indices, values, size, options);
}
Tensor _sparse_compressed_tensor_unsafe(const Tensor& compressed_indices, const Tensor& plain_indices,
                                        const Tensor& values, IntArrayRef size, const TensorOptions& options) {
  return sparse_compressed_tensor(compressed_indices, plain_indices, values, size, options);
}
#define HB_COMPRESSED_MAKERS(name, unsafe_name, Layout)                                                            \
  Tensor name(const Tensor& compressed, const Tensor& plain, const Tensor& values, IntArrayRef size,               \
              const TensorOptions& options) {                                                                      \
    return sparse::from_parts(#name, Layout, compressed, plain, values, size, options);                            \
  }                                                                                                                \
  Tensor name(const Tensor& compressed, const Tensor& plain, const Tensor& values, const TensorOptions& options) { \
    return name(compressed, plain, values, sparse::least_size(#name, Layout, compressed, plain, values), options); \
  }                                                                                                                \
  Tensor unsafe_name(const Tensor& compressed, const Tensor& plain, const Tensor& values, IntArrayRef size,        \
                     const TensorOptions& options) {                                                               \
    return sparse::from_parts(#unsafe_name, Layout, compressed, plain, values, size, options);                     \
  }
HB_COMPRESSED_MAKERS(sparse_csr_tensor, _sparse_csr_tensor_unsafe, kSparseCsr)
HB_COMPRESSED_MAKERS(sparse_csc_tensor, _sparse_csc_tensor_unsafe, kSparseCsc)
#undef HB_COMPRESSED_MAKERS

// --- indices

Tensor _convert_indices_from_coo_to_csr(const Tensor& self, int64_t size, bool out_int32) {
  HB_CHECK(self.defined(), "[_convert_indices_from_coo_to_csr] expected row numbers, got an undefined tensor");
  HB_CHECK(self.dim() == 1 && is_integral_type(self.scalar_type(), false) && size >= 0,
           "[_convert_indices_from_coo_to_csr] expected a vector of row numbers and a number of rows, got ",
           self.scalar_type(), " of shape ", self.sizes(), " and ", size);
  return searchsorted(self.contiguous(), arange(size + 1, self.options()), out_int32);
}

Tensor _convert_indices_from_csr_to_coo(const Tensor& crow_indices, const Tensor& col_indices, bool out_int32,
                                        bool transpose) {
  HB_CHECK(crow_indices.dim() == 1 && col_indices.dim() == 1 && crow_indices.numel() > 0,
           "[_convert_indices_from_csr_to_coo] expected two vectors, the first of at least one element, got shapes ",
           crow_indices.sizes(), " and ", col_indices.sizes());
  const ScalarType dtype = out_int32 ? kInt : kLong;
  const Tensor rows = sparse::expanded(crow_indices).to(dtype), columns = col_indices.to(dtype);
  return transpose ? hb::stack({columns, rows}, 0) : hb::stack({rows, columns}, 0);
}

Tensor Tensor::crow_indices() const {
  return sparse::alias_of_part(*this, sparse::parts_of("crow_indices", *this, kSparseCsr).compressed);
}
Tensor Tensor::col_indices() const {
  return sparse::alias_of_part(*this, sparse::parts_of("col_indices", *this, kSparseCsr).indices);
}
Tensor Tensor::ccol_indices() const {
  return sparse::alias_of_part(*this, sparse::parts_of("ccol_indices", *this, kSparseCsc).compressed);
}
Tensor Tensor::row_indices() const {
  return sparse::alias_of_part(*this, sparse::parts_of("row_indices", *this, kSparseCsc).indices);
}

// --- conversions

Tensor Tensor::to_sparse_csr(std::optional<int64_t> dense_dim) const {
  return sparse::compressed_form("to_sparse_csr", "ToSparseCsrBackward0", *this, kSparseCsr, dense_dim);
}
Tensor Tensor::to_sparse_csc(std::optional<int64_t> dense_dim) const {
  return sparse::compressed_form("to_sparse_csc", "ToSparseCscBackward0", *this, kSparseCsc, dense_dim);
}

}  // namespace hb
