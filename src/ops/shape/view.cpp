// Views: the same memory under another geometry.
#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/function_watch.h"
#include "core/geometry.h"
#include "ops/sparse/sparse.h"

namespace hb {

namespace {

using geometry::wrap_dim;

Tensor with_geometry(const char* name, const Tensor& self, DimVector sizes, DimVector strides) {
  const DimVector old = self.impl().sizes();
  const int64_t offset = self.impl().offset();
  return make_view(name, self, std::move(sizes), std::move(strides), offset,
                   [old](const Tensor& g) { return g.reshape(old); });
}

/// Of a new tensor that nobody else sees, contiguous: no view, to programs.
Tensor unsafe_view(const Tensor& fresh, DimVector sizes) {
  Tensor out(fresh.impl().alias(false));
  DimVector strides = geometry::contiguous_strides(sizes);
  out.impl().set_geometry(std::move(sizes), std::move(strides), fresh.impl().offset());
  if (needs_grad(fresh))
    record("UnsafeViewBackward0", out, {&fresh},
           [old = fresh.impl().sizes()](Backward& b) -> variable_list { return {b.grad().reshape(old)}; });
  return out;
}

}  // namespace

Tensor alias(const Tensor& self) {
  HB_OBSERVED(alias, self);
  return with_geometry("AliasBackward0", self, self.impl().sizes(), self.impl().strides());
}

Tensor method::view(const Tensor& self, IntArrayRef size) {
  HB_OBSERVED(view, self, size);
  TensorImpl& i = self.impl();
  DimVector sizes = geometry::infer_size("view", size, i.numel()), strides;
  HB_CHECK(
      geometry::view_strides(i.sizes(), i.strides(), sizes, strides),
      "[view] view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
      "contiguous subspaces). Use .reshape(...) instead. Got size ",
      self.sizes(), ", strides ", self.strides(), " and wanted ", size);
  return with_geometry("ViewBackward0", self, std::move(sizes), std::move(strides));
}

Tensor method::view(const Tensor& self, ScalarType dtype) {
  HB_OBSERVED(view, self, dtype);
  if (dtype == self.scalar_type()) return alias(self);
  Tensor v(self.detach().getIntrusivePtr()->alias(true));
  TensorImpl& i = v.impl();
  const int64_t from = static_cast<int64_t>(i.itemsize()), to = static_cast<int64_t>(element_size(dtype));
  if (from != to) {
    const auto resized = [&](const char* what, int64_t elements) {
      HB_CHECK(elements * from % to == 0, "[view] expected ", what, " divisible by ", to / from, " to view ",
               self.scalar_type(), " as ", dtype, ", got ", elements);
      return elements * from / to;
    };
    HB_CHECK(self.dim() > 0, "[view] self.dim() cannot be 0 to view ", self.scalar_type(), " as ", dtype,
             " (different element sizes)");
    DimVector sizes = i.sizes(), strides = i.strides();
    HB_CHECK(strides.back() == 1, "[view] self.stride(-1) must be 1 to view ", self.scalar_type(), " as ", dtype,
             " (different element sizes), but got ", strides.back());
    sizes.back() = resized("self.size(-1)", sizes.back());
    for (size_t d = 0; d + 1 < strides.size(); ++d) strides[d] = resized("strides", strides[d]);
    i.set_geometry(std::move(sizes), std::move(strides), resized("self.storage_offset()", i.offset()));
  }
  i.set_storage(self.impl().storage(), dtype);
  return v;
}

Tensor method::view_as(const Tensor& self, const Tensor& other) {
  HB_OBSERVED(view_as, self, other);
  return self.view(other.sizes());
}

Tensor reshape(const Tensor& self, IntArrayRef shape) {
  HB_OBSERVED(reshape, self, shape);
  TensorImpl& i = self.impl();
  DimVector sizes = geometry::infer_size("reshape", shape, i.numel()), strides;
  if (geometry::view_strides(i.sizes(), i.strides(), sizes, strides))
    return with_geometry("ViewBackward0", self, std::move(sizes), std::move(strides));
  return unsafe_view(clone(self, MemoryFormat::Contiguous), std::move(sizes));
}
Tensor method::reshape_as(const Tensor& self, const Tensor& other) {
  HB_OBSERVED(reshape_as, self, other);
  return reshape(self, other.sizes());
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t start = wrap_dim("flatten", start_dim, self.dim()), end = wrap_dim("flatten", end_dim, self.dim());
  if (!self.defined()) return self;  // it counts as one of one dimension
  HB_OBSERVED(flatten, self, start_dim, end_dim);
  HB_CHECK(start <= end, "[flatten] flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) return reshape(self, {1});
  if (start == end) return self;
  DimVector sizes;
  int64_t merged = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d < start || d > end) {
      sizes.push_back(self.sizes()[d]);
      continue;
    }
    merged *= self.sizes()[d];
    if (d == end) sizes.push_back(merged);
  }
  return reshape(self, sizes);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  HB_OBSERVED(unflatten, self, dim, sizes);
  const int64_t d = wrap_dim("unflatten", dim, self.dim());
  HB_CHECK(!sizes.empty(), "[unflatten] sizes must be non-empty");
  int64_t product = 1;
  bool unknown = false;  // inferred, or beyond int64: infer_size decides
  for (const int64_t s : sizes) unknown |= s < 0 || __builtin_mul_overflow(product, s, &product);
  HB_CHECK(unknown || product == self.size(d), "[unflatten] unflatten: Provided sizes ", sizes,
           " don't multiply up to the size of dim ", d, " (", self.size(d), ") in the input tensor");
  const DimVector inner = geometry::infer_size("unflatten", sizes, self.size(d));
  DimVector all;
  for (int64_t k = 0; k < self.dim(); ++k) {
    if (k != d)
      all.push_back(self.sizes()[k]);
    else
      for (int64_t s : inner) all.push_back(s);
  }
  return self.view(all);
}

Tensor ravel(const Tensor& self) { return self.contiguous().view(-1); }

// --- dimensions of size one

namespace {
Tensor squeeze_where(const char* node, const Tensor& self, const std::vector<bool>& drop) {
  DimVector sizes, strides;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (drop[d] && self.sizes()[d] == 1) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  return with_geometry(node, self, std::move(sizes), std::move(strides));
}

Tensor squeeze_dims(const char* node, const Tensor& self, IntArrayRef dims) {
  std::vector<bool> drop(self.dim(), false);
  for (int64_t d : dims) {
    const int64_t w = wrap_dim("squeeze", d, self.dim());
    if (self.dim() == 0) continue;
    HB_CHECK(!drop[w], "[squeeze] dim ", w, " appears multiple times in the list of dims");
    drop[w] = true;
  }
  return squeeze_where(node, self, drop);
}
}  // namespace

Tensor squeeze(const Tensor& self) {
  HB_OBSERVED(squeeze, self);
  return squeeze_where("SqueezeBackward0", self, std::vector<bool>(self.dim(), true));
}
Tensor squeeze(const Tensor& self, int64_t dim) {
  HB_OBSERVED(squeeze, self, dim);
  return squeeze_dims("SqueezeBackward1", self, IntArrayRef(dim));
}
Tensor squeeze(const Tensor& self, IntArrayRef dims) {
  HB_OBSERVED(squeeze, self, dims);
  return squeeze_dims("SqueezeBackward2", self, dims);
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  HB_OBSERVED(unsqueeze, self, dim);
  if (HB_UNLIKELY(self.is_sparse())) return sparse::unsqueeze(self, dim);
  const int64_t d = wrap_dim("unsqueeze", dim, self.dim() + 1);
  DimVector sizes(self.sizes()), strides(self.strides());
  const int64_t stride = d < self.dim() ? sizes[d] * strides[d] : 1;
  sizes.insert(d, 1);
  strides.insert(d, stride);
  return with_geometry("UnsqueezeBackward0", self, std::move(sizes), std::move(strides));
}

// --- order of dimensions

Tensor permute(const Tensor& self, IntArrayRef dims) {
  HB_OBSERVED(permute, self, dims);
  if (HB_UNLIKELY(self.layout() != kStrided)) return sparse::permute(self, dims);
  const int64_t n = self.dim();
  HB_CHECK(static_cast<int64_t>(dims.size()) == n,
           "[permute] number of dimensions in the tensor input does not match the "
           "length of the desired ordering of dimensions i.e. input.dim() = ",
           n, " is not equal to len(dims) = ", dims.size());
  DimVector sizes(n), strides(n), inverse(n, -1);
  for (int64_t k = 0; k < n; ++k) {
    const int64_t d = wrap_dim("permute", dims[k], n);
    HB_CHECK(inverse[d] == -1, "[permute] duplicate dims are not allowed, got ", dims);
    inverse[d] = k;
    sizes[k] = self.sizes()[d], strides[k] = self.strides()[d];
  }
  return make_view("PermuteBackward0", self, std::move(sizes), std::move(strides), self.storage_offset(),
                   [inverse](const Tensor& g) { return g.permute(inverse); });
}

namespace {
Tensor transposed(const char* node, const Tensor& self, int64_t dim0, int64_t dim1) {
  if (HB_UNLIKELY(self.layout() != kStrided)) return sparse::transpose(self, dim0, dim1);
  const int64_t a = wrap_dim("transpose", dim0, self.dim()), b = wrap_dim("transpose", dim1, self.dim());
  DimVector sizes(self.sizes()), strides(self.strides());
  if (a != b) std::swap(sizes[a], sizes[b]), std::swap(strides[a], strides[b]);
  return make_view(node, self, std::move(sizes), std::move(strides), self.storage_offset(),
                   [a, b](const Tensor& g) { return g.transpose(a, b); });
}
}  // namespace
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  HB_OBSERVED(transpose, self, dim0, dim1);
  return transposed("TransposeBackward0", self, dim0, dim1);
}
Tensor swapaxes(const Tensor& self, int64_t a, int64_t b) { return transpose(self, a, b); }
Tensor swapdims(const Tensor& self, int64_t a, int64_t b) { return transpose(self, a, b); }
Tensor t(const Tensor& self) {
  HB_OBSERVED(t, self);
  HB_CHECK(self.dim() <= 2, "[t] t() expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D");
  return self.dim() < 2 ? alias(self) : transposed("TBackward0", self, 0, 1);
}

Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  HB_OBSERVED(movedim, self, source, destination);
  HB_CHECK(source.size() == destination.size(), "[movedim] Invalid source or destination dims: source (", source,
           " dims) should contain the same number of dims as destination (", destination, " dims)");
  const int64_t n = self.dim();
  DimVector order(std::max<int64_t>(n, 1), -1);  // a scalar takes 0 and -1 for dimensions
  std::vector<bool> moved(order.size(), false);
  for (size_t k = 0; k < source.size(); ++k) {
    const int64_t s = wrap_dim("movedim", source[k], n), d = wrap_dim("movedim", destination[k], n);
    HB_CHECK(!moved[s], "[movedim] repeated dim in `source` (", source, ")");
    HB_CHECK(order[d] == -1, "[movedim] repeated dim in `destination` (", destination, ")");
    order[d] = s, moved[s] = true;
  }
  int64_t next = 0;
  for (int64_t& o : order) {
    if (o != -1) continue;
    while (moved[next]) ++next;
    o = next++;
  }
  order.resize(n);
  return permute(self, order);
}
Tensor movedim(const Tensor& self, int64_t source, int64_t destination) {
  return movedim(self, IntArrayRef(source), IntArrayRef(destination));
}
Tensor moveaxis(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  return movedim(self, source, destination);
}
Tensor moveaxis(const Tensor& self, int64_t source, int64_t destination) { return movedim(self, source, destination); }

Tensor adjoint(const Tensor& self) {
  HB_OBSERVED(adjoint, self);
  HB_CHECK(self.dim() != 1, "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return conj(self.dim() == 0 ? self : self.transpose(-2, -1));
}

Tensor atleast_1d(const Tensor& self) { return self.dim() == 0 ? self.reshape({1}) : self; }
Tensor atleast_2d(const Tensor& self) {
  if (self.dim() == 0) return self.reshape({1, 1});
  return self.dim() == 1 ? self.unsqueeze(0) : self;
}
Tensor atleast_3d(const Tensor& self) {
  if (self.dim() == 0) return self.reshape({1, 1, 1});
  if (self.dim() == 1) return self.unsqueeze(0).unsqueeze(-1);
  return self.dim() == 2 ? self.unsqueeze(-1) : self;
}
namespace {
std::vector<Tensor> each(TensorList tensors, Tensor (*function)(const Tensor&)) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(function(t));
  return out;
}
}  // namespace
std::vector<Tensor> atleast_1d(TensorList tensors) { return each(tensors, atleast_1d); }
std::vector<Tensor> atleast_2d(TensorList tensors) { return each(tensors, atleast_2d); }
std::vector<Tensor> atleast_3d(TensorList tensors) { return each(tensors, atleast_3d); }

// --- broadcasting

Tensor method::expand(const Tensor& self, IntArrayRef size, bool implicit) {
  HB_OBSERVED(expand, self, size, implicit);
  const int64_t n = static_cast<int64_t>(size.size()), own = self.dim();
  HB_CHECK(n >= own, "[expand] the number of sizes provided (", n,
           ") must be greater or equal to the number of dimensions in "
           "the tensor (",
           own, ")");
  DimVector sizes(n), strides(n);
  for (int64_t k = 0; k < n; ++k) {
    const int64_t d = k - (n - own);
    const int64_t have = d >= 0 ? self.sizes()[d] : 1;
    HB_CHECK(size[k] != -1 || d >= 0,
             "[expand] The expanded size of the tensor (-1) isn't allowed in a leading, "
             "non-existing dimension ",
             k);
    sizes[k] = size[k] == -1 ? have : size[k];
    HB_CHECK(sizes[k] == have || (have == 1 && sizes[k] >= 0), "[expand] The expanded size of the tensor (", size[k],
             ") must match the existing size (", have, ") at non-singleton dimension ", k, ".  Target sizes: ", size,
             ".  Tensor sizes: ", self.sizes());
    strides[k] = sizes[k] == have && d >= 0 ? self.strides()[d] : 0;
  }
  // The engine sums the gradient over what was broadcast.
  return make_view("ExpandBackward0", self, std::move(sizes), std::move(strides), self.storage_offset(),
                   [](const Tensor& g) { return g; });
}
Tensor method::expand_as(const Tensor& self, const Tensor& other) {
  HB_OBSERVED(expand_as, self, other);
  return self.expand(other.sizes());
}
Tensor broadcast_to(const Tensor& self, IntArrayRef size) {
  HB_OBSERVED(broadcast_to, self, size);
  return self.expand(size);
}

}  // namespace hb
