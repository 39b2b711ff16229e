// Views of a part of a tensor, or of several parts.
#include <halfbridge/ops.h>

#include "autograd/named.h"
#include "autograd/parts.h"
#include "autograd/record.h"
#include "core/function_watch.h"
#include "core/geometry.h"
#include "core/warnings.h"
#include "ops/sparse/sparse.h"

namespace hb {

namespace {

using geometry::wrap_dim;

// The gradient of a whole, where `place` puts one part and the rest is zero. Composed, so it can be differentiated.
template <class Place>
Tensor embed(const char* node, const Tensor& grad, const DimVector& whole, Place place) {
  Tensor out = zeros(whole, grad.options());
  place(out).copy_(grad);
  return named(node, out, grad);
}

Tensor embed_part(const Tensor& grad, const DimVector& whole, const Part& p) {
  return embed(p.selected ? "SelectBackwardBackward0" : "SliceBackwardBackward0", grad, whole, [&](const Tensor& t) {
    return p.selected ? t.select(p.dim, p.from) : t.slice(p.dim, p.from, p.to, p.step);
  });
}

Tensor make_part(const char* name, const Tensor& whole, DimVector sizes, DimVector strides, int64_t offset,
                 const Part& part) {
  Tensor view = detail::make_view_tensor(whole, whole.scalar_type(), std::move(sizes), std::move(strides), offset);
  if (!needs_grad(whole)) return view;
  const Tensor* const input = &whole;
  const auto node = std::make_shared<PartNode>(name, whole, part, embed_part);
  detail::collect_edges(*node, input);
  detail::attach(node, view);
  return view;
}

}  // namespace

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  HB_OBSERVED(select, self, dim, index);
  HB_CHECK_INDEX(self.dim() > 0, "[select] select() cannot be applied to a 0-dim tensor.");
  if (HB_UNLIKELY(self.layout() != kStrided)) return sparse::select(self, dim, index);
  const int64_t d = wrap_dim("select", dim, self.dim()), n = self.sizes()[d];
  HB_CHECK_INDEX(index >= -n && index < n, "[select] index ", index, " out of range for tensor of size ", self.sizes(),
                 " at dimension ", d);
  const int64_t at = index < 0 ? index + n : index;
  DimVector sizes(self.sizes()), strides(self.strides());
  const int64_t offset = self.storage_offset() + at * strides[d];
  sizes.erase(d), strides.erase(d);
  return make_part("SelectBackward0", self, std::move(sizes), std::move(strides), offset, {d, at, at + 1, 1, true});
}

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  HB_OBSERVED(slice, self, dim, start, end, step);
  HB_CHECK_INDEX(self.dim() > 0, "[slice] slice() cannot be applied to a 0-dim tensor.");
  HB_CHECK(step > 0, "[slice] slice step must be positive, got ", step);
  const int64_t d = wrap_dim("slice", dim, self.dim()), n = self.sizes()[d];
  int64_t from = start.value_or(0), to = end.value_or(n);
  if (from < 0) from += n;
  if (to < 0) to += n;
  from = std::min(std::max<int64_t>(from, 0), n);
  to = std::min(std::max(to, from), n);
  DimVector sizes(self.sizes()), strides(self.strides());
  const int64_t offset = self.storage_offset() + from * strides[d];
  sizes[d] = (to - from + step - 1) / step;
  strides[d] *= step;
  return make_part("SliceBackward0", self, std::move(sizes), std::move(strides), offset, {d, from, to, step});
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  HB_OBSERVED(narrow, self, dim, start, length);
  HB_CHECK(self.dim() > 0, "[narrow] narrow() cannot be applied to a 0-dim tensor.");
  HB_CHECK(length >= 0, "[narrow] narrow(): length must be non-negative, got ", length);
  const int64_t d = wrap_dim("narrow", dim, self.dim()), n = self.sizes()[d];
  HB_CHECK_INDEX(start >= -n && start <= n, "[narrow] start out of range (expected to be in range of [", -n, ", ", n,
                 "], but got ", start, ")");
  const int64_t from = start < 0 ? start + n : start;
  HB_CHECK(length <= n - from, "[narrow] start (", from, ") + length (", length, ") exceeds dimension size (", n, ").");
  return slice(self, d, from, from + length, 1);
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  HB_OBSERVED(diagonal, self, offset, dim1, dim2);
  const int64_t a = wrap_dim("diagonal", dim1, self.dim()), b = wrap_dim("diagonal", dim2, self.dim());
  HB_CHECK(a != b, "[diagonal] diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  DimVector sizes(self.sizes()), strides(self.strides());
  const int64_t length =
      std::max<int64_t>(offset >= 0 ? std::min(sizes[a], sizes[b] - offset) : std::min(sizes[a] + offset, sizes[b]), 0);
  int64_t start = self.storage_offset();
  if (length > 0) start += offset >= 0 ? offset * strides[b] : -offset * strides[a];
  const int64_t stride = strides[a] + strides[b];
  sizes.erase(std::max(a, b)), sizes.erase(std::min(a, b));
  strides.erase(std::max(a, b)), strides.erase(std::min(a, b));
  sizes.push_back(length), strides.push_back(stride);
  return make_view("DiagonalBackward0", self, std::move(sizes), std::move(strides), start,
                   [whole = self.impl().sizes(), offset, a, b](const Tensor& g) {
                     return embed("DiagonalBackwardBackward0", g, whole,
                                  [&](const Tensor& t) { return t.diagonal(offset, a, b); });
                   });
}

namespace {
// The sum of windows at their places: (…, windows, …, size) into `whole`.
Tensor folded(const Tensor& g, const DimVector& whole, int64_t d, int64_t size, int64_t step) {
  if (whole.empty()) return named("UnfoldBackwardBackward0", g.sum(), g);  // of one element, or of none
  Tensor out = zeros(whole, g.options());
  const int64_t windows = g.size(d);
  if (step >= size) {
    out.unfold(d, size, step).copy_(g);
  } else if (size < windows) {  // elements of one number in their windows, which never meet
    for (int64_t i = 0; i < size; ++i) out.slice(d, i, i + (windows - 1) * step + 1, step).add_(g.select(-1, i));
  } else {
    for (int64_t k = 0; k < windows; ++k) out.narrow(d, k * step, size).add_(g.select(d, k).movedim(-1, d));
  }
  return named("UnfoldBackwardBackward0", out, g);
}
}  // namespace

Tensor method::unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  HB_OBSERVED(unfold, self, dimension, size, step);
  const int64_t d = wrap_dim("unfold", dimension, self.dim()), n = self.dim() ? self.sizes()[d] : 1;
  HB_CHECK(step > 0, "[unfold] step is ", step, " but must be > 0");
  HB_CHECK(size >= 0, "[unfold] size is ", size, " but must be >= 0");
  HB_CHECK(size <= n, "[unfold] maximum size for tensor at dimension ", d, " is ", n, " but size is ", size);
  DimVector sizes(self.sizes()), strides(self.strides());
  const int64_t stride = sizes.empty() ? 1 : strides[d];
  if (!sizes.empty()) sizes[d] = (n - size) / step + 1, strides[d] *= step;
  sizes.push_back(size), strides.push_back(stride);
  return make_view(
      "UnfoldBackward0", self, std::move(sizes), std::move(strides), self.storage_offset(),
      [whole = self.impl().sizes(), d, size, step](const Tensor& g) { return folded(g, whole, d, size, step); });
}

Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  HB_OBSERVED(as_strided, self, size, stride, storage_offset);
  HB_CHECK(size.size() == stride.size(), "[as_strided] mismatch in length of strides and shape: ", stride, " and ",
           size);
  TensorImpl& i = self.impl();
  DimVector sizes(size), strides(stride);
  const int64_t offset = storage_offset.value_or(i.offset());
  for (size_t k = 0; k < sizes.size(); ++k) {
    HB_CHECK(sizes[k] >= 0, "[as_strided] Storage size calculation overflowed with sizes=", size,
             " and strides=", stride);
    HB_CHECK(strides[k] >= 0,
             "[as_strided] as_strided: Negative strides are not supported at the moment, got strides: ", stride);
  }
  HB_CHECK(offset >= 0, "[as_strided] Tensor: invalid storage offset ", offset);
  const int64_t extent = geometry::extent(sizes, strides);  // an empty tensor has none, wherever it claims to lie
  const size_t needed = geometry::bytes(geometry::extent(sizes, strides, offset), i.itemsize());
  HB_CHECK(needed <= i.storage()->nbytes(), "[as_strided] setStorage: sizes ", size, ", strides ", stride,
           ", storage offset ", offset, ", and itemsize ", i.itemsize(), " requiring a storage size of ", needed,
           " are out of bounds for storage of size ", i.storage()->nbytes());
  const DimVector own_sizes = i.sizes(), own_strides = i.strides();
  const int64_t own_offset = i.offset();
  return make_view("AsStridedBackward0", self, sizes, strides, offset, [=](const Tensor& g) {
    // Sum into places of the storage, then read it as self does.
    const int64_t low = std::min(offset, own_offset);
    const int64_t places = std::max(offset + extent, own_offset + geometry::extent(own_sizes, own_strides)) - low;
    const TensorOptions numbers = TensorOptions(kLong).device(g.device());
    const Tensor place = arange(places, numbers).as_strided(sizes, strides, offset - low).reshape(-1);
    Tensor sums = zeros({places}, g.options()).index_add_(0, place, g.reshape(-1));
    if (geometry::may_overlap_itself(own_sizes, own_strides)) {
      // Several elements of self are one place: they share its gradient.
      const Tensor own = arange(places, numbers).as_strided(own_sizes, own_strides, own_offset - low).reshape(-1);
      const TensorOptions counts = g.options().dtype(to_real_type(g.scalar_type()));
      sums = sums / zeros({places}, counts).index_add_(0, own, ones({1}, counts).expand(own.sizes())).clamp_min(1);
    }
    return sums.as_strided(own_sizes, own_strides, own_offset - low);
  });
}

// --- several parts

namespace {
/// Whether the parts of `self` share a node: the gradient of each by itself would be one of the whole.
bool parts_share_node(const Tensor& self) {
  return needs_grad(self) && self.layout() == kStrided && is_differentiable_type(self.scalar_type());
}
/// Views of all of `self`, one behind the other, with a node whose gradient joins theirs. Views they stay: each
/// remembers its base.
void give_one_node(const char* name, const Tensor& self, std::vector<Tensor>& views, std::vector<Part> parts,
                   PartsNode::Join join) {
  const Tensor* const input = &self;
  const auto node = std::make_shared<PartsNode>(name, self, std::move(parts), join);
  detail::collect_edges(*node, input);
  for (Tensor& view : views) detail::attach(node, view);
}
std::vector<Tensor> parts_of_lengths(const char* name, const Tensor& self, int64_t dim, ArrayRef<int64_t> lengths) {
  const int64_t d = wrap_dim("split", dim, self.dim());
  std::vector<Tensor> parts;
  std::vector<Part> places;
  int64_t at = 0;
  const bool together = lengths.size() > 1 && parts_share_node(self);
  for (const int64_t n : lengths) {
    DimVector sizes(self.sizes());
    sizes[d] = n;
    parts.push_back(together ? detail::make_view_tensor(self, self.scalar_type(), std::move(sizes),
                                                        DimVector(self.strides()),
                                                        self.storage_offset() + at * self.strides()[d])
                             : narrow(self, d, at, n));
    places.push_back({d, at, at + n});
    at += n;
  }
  if (together) give_one_node(name, self, parts, std::move(places), cat);
  return parts;
}
}  // namespace

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  HB_OBSERVED(split, self, split_size, dim);
  HB_CHECK(self.dim() > 0, "[split] split expects at least a 1-dimensional tensor");
  HB_CHECK(split_size >= 0, "[split] split expects split_size be non-negative, but got split_size=", split_size);
  const int64_t n = self.size(dim);
  HB_CHECK(split_size > 0 || n == 0,
           "[split] split_size can only be 0 if dimension size is 0, but got dimension size of ", n);
  const int64_t count = split_size == 0 ? 1 : std::max<int64_t>((n + split_size - 1) / split_size, 1);
  std::vector<int64_t> lengths;
  for (int64_t k = 0; k < count; ++k) lengths.push_back(std::min(split_size, n - k * split_size));
  return parts_of_lengths("SplitBackward0", self, dim, lengths);
}

std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef sizes, int64_t dim) {
  HB_OBSERVED(split_with_sizes, self, sizes, dim);
  HB_CHECK(self.dim() > 0, "[split] split expects at least a 1-dimensional tensor");
  int64_t total = 0;
  for (int64_t s : sizes) {
    HB_CHECK(
        s >= 0,
        "[split] split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=", sizes);
    total += s;
  }
  HB_CHECK(total == self.size(dim), "[split] split_with_sizes expects split_sizes to sum exactly to ", self.size(dim),
           " (input tensor's size at dimension ", dim, "), but got split_sizes=", sizes);
  return parts_of_lengths("SplitWithSizesBackward0", self, dim, sizes);
}
std::vector<Tensor> split(const Tensor& self, IntArrayRef sizes, int64_t dim) {
  HB_OBSERVED(split, self, sizes, dim);
  return split_with_sizes(self, sizes, dim);
}

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  HB_OBSERVED(chunk, self, chunks, dim);
  HB_CHECK(self.dim() > 0, "[chunk] chunk expects at least a 1-dimensional tensor");
  HB_CHECK(chunks > 0, "[chunk] chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t n = self.size(dim), each = (n + chunks - 1) / chunks;
  if (n == 0) return std::vector<Tensor>(chunks, self);
  return split(self, each, dim);
}

// LibTorch leaves the views' bookkeeping out of these; here they are the views themselves.
std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size, int64_t dim) {
  return split(self, split_size, dim);
}
std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  return split_with_sizes(self, split_sizes, dim);
}
std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) { return chunk(self, chunks, dim); }

std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim) {
  HB_OBSERVED(tensor_split, self, sections, dim);
  HB_CHECK(self.dim() > 0, "[tensor_split] expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  HB_CHECK(sections > 0, "[tensor_split] number of sections must be larger than 0, got ", sections);
  const int64_t n = self.size(dim);
  std::vector<Tensor> parts;
  parts.reserve(sections);  // more than there is room for: an error at once
  int64_t at = 0;
  for (int64_t k = 0; k < sections; ++k) {
    const int64_t length = n / sections + (k < n % sections);
    parts.push_back(narrow(self, dim, at, length));
    at += length;
  }
  return parts;
}

std::vector<Tensor> tensor_split(const Tensor& self, IntArrayRef indices, int64_t dim) {
  HB_OBSERVED(tensor_split, self, indices, dim);
  HB_CHECK(self.dim() > 0, "[tensor_split] expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  std::vector<Tensor> parts;
  int64_t from = 0;
  for (const int64_t to : indices) parts.push_back(slice(self, dim, from, to)), from = to;
  parts.push_back(slice(self, dim, from));
  return parts;
}

// Splitting along columns, rows and depth: tensor_split with equal parts.
namespace {
std::vector<Tensor> equal_parts(const char* name, const Tensor& self, int64_t sections, int64_t dim, int64_t least) {
  HB_CHECK(self.dim() >= least, "[", name, "] expected a tensor with ", least, " or more dimensions, got ", self.dim());
  HB_CHECK(sections > 0 && self.size(dim) % sections == 0, "[", name, "] expected a number of sections that divides ",
           self.size(dim), ", the size of dimension ", dim, ", got ", sections);
  return tensor_split(self, sections, dim);
}
std::vector<Tensor> parts_at(const char* name, const Tensor& self, IntArrayRef indices, int64_t dim, int64_t least) {
  HB_CHECK(self.dim() >= least, "[", name, "] expected a tensor with ", least, " or more dimensions, got ", self.dim());
  return tensor_split(self, indices, dim);
}
int64_t column_dim(const Tensor& self) { return self.dim() == 1 ? 0 : 1; }
}  // namespace
std::vector<Tensor> hsplit(const Tensor& self, int64_t sections) {
  return equal_parts("hsplit", self, sections, column_dim(self), 1);
}
std::vector<Tensor> hsplit(const Tensor& self, IntArrayRef indices) {
  return parts_at("hsplit", self, indices, column_dim(self), 1);
}
std::vector<Tensor> vsplit(const Tensor& self, int64_t sections) { return equal_parts("vsplit", self, sections, 0, 2); }
std::vector<Tensor> vsplit(const Tensor& self, IntArrayRef indices) { return parts_at("vsplit", self, indices, 0, 2); }
std::vector<Tensor> dsplit(const Tensor& self, int64_t sections) { return equal_parts("dsplit", self, sections, 2, 3); }
std::vector<Tensor> dsplit(const Tensor& self, IntArrayRef indices) { return parts_at("dsplit", self, indices, 2, 3); }

bool method::is_set_to(const Tensor& self, const Tensor& tensor) {
  return self.is_alias_of(tensor) && self.storage_offset() == tensor.storage_offset() &&
         self.sizes().equals(tensor.sizes()) && self.strides().equals(tensor.strides());
}
Tensor Tensor::mT() const {
  if (dim() == 0) {
    HB_WARN_ONCE("Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.");
    return *this;
  }
  HB_CHECK(dim() != 1, "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return transpose(-2, -1);
}
Tensor Tensor::mH() const {
  if (dim() == 0) HB_WARN_ONCE("Tensor.mH is deprecated on 0-D tensors. Consider using x.conj().");
  HB_CHECK(dim() != 1, "tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return adjoint();
}
Tensor Tensor::matrix_H() const {
  if (dim() == 0) {
    HB_WARN_ONCE("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().");
    return conj();
  }
  HB_CHECK(dim() == 2, "tensor.H is only supported on matrices (2-D tensors). Got ", dim(),
           "-D tensor. For batches of matrices there is tensor.mH");
  return adjoint();
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  HB_OBSERVED(unbind, self, dim);
  const int64_t d = wrap_dim("unbind", dim, self.dim(), false);
  std::vector<Tensor> parts;
  std::vector<Part> places;
  const int64_t n = self.sizes()[d];
  const bool together = n > 1 && parts_share_node(self);
  for (int64_t k = 0; k < n; ++k) {
    if (!together) {
      parts.push_back(select(self, d, k));
      continue;
    }
    DimVector sizes(self.sizes()), strides(self.strides());
    const int64_t offset = self.storage_offset() + k * strides[d];
    sizes.erase(d), strides.erase(d);
    places.push_back({d, k, k + 1, 1, true});
    parts.push_back(detail::make_view_tensor(self, self.scalar_type(), std::move(sizes), std::move(strides), offset));
  }
  if (together) give_one_node("UnbindBackward0", self, parts, std::move(places), stack);
  return parts;
}

}  // namespace hb
