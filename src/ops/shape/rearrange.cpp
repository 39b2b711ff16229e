// Copies in another order: repetitions, flips, diagonals, grids. Composed of views, copies and choices.
#include <halfbridge/ops.h>

#include <algorithm>
#include <cmath>

#include "autograd/named.h"
#include "autograd/record.h"
#include "backend/elementwise.h"
#include "backend/moved_rows.h"
#include "core/geometry.h"
#include "core/loop.h"
#include "core/physical.h"
#include "core/recorder.h"
#include "core/warnings.h"
#include "ops/common/inplace.h"
#include "ops/common/layout.h"

namespace hb {

using geometry::wrap_dim;

Tensor method::repeat(const Tensor& self, IntArrayRef repeats) {
  const int64_t n = static_cast<int64_t>(repeats.size()), own = self.dim();
  HB_CHECK(n >= own,
           "[repeat] Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: got ",
           repeats, " for ", self.sizes());
  DimVector split, wide, flat;
  for (int64_t d = 0; d < n; ++d) {
    const int64_t size = d < n - own ? 1 : self.sizes()[d - (n - own)];
    HB_CHECK(repeats[d] >= 0, "[repeat] Trying to create tensor with negative dimension ", repeats[d] * size,
             ": repeats must not be negative, got ", repeats);
    split.push_back(1), split.push_back(size);
    wide.push_back(repeats[d]), wide.push_back(size);
    flat.push_back(repeats[d] * size);
  }
  return named("RepeatBackward0", self.reshape(split).expand(wide).clone(MemoryFormat::Contiguous).view(flat), self);
}

Tensor tile(const Tensor& self, IntArrayRef dims) {
  DimVector repeats(dims);
  while (static_cast<int64_t>(repeats.size()) < self.dim()) repeats.insert(0, 1);
  return self.repeat(repeats);
}

Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) {
  HB_CHECK(repeats >= 0, "[repeat_interleave] Repeats must be non-negative, got ", repeats);
  const Tensor source = dim ? self : self.flatten();
  const int64_t d = wrap_dim("repeat_interleave", dim.value_or(0), source.dim());
  HB_CHECK(!output_size || *output_size == repeats * source.size(d), "[repeat_interleave] expected an output_size of ",
           repeats * source.size(d), ", got ", *output_size);
  DimVector sizes = source.impl().sizes();
  sizes.insert(d + 1, repeats);
  return source.unsqueeze(d + 1).expand(sizes).clone(MemoryFormat::Contiguous).flatten(d, d + 1);
}

namespace {
// The memory of `t`, read backwards along some dimensions. Only to be copied: no tensor of a program has such strides.
Tensor backwards(const Tensor& t, const std::vector<bool>& along) {
  const Physical now(t);
  const TensorImpl& impl = *now;
  DimVector strides = impl.physical_strides();
  int64_t offset = impl.physical_offset();
  for (size_t d = 0; d < strides.size(); ++d) {
    if (!along[d]) continue;
    offset += (impl.sizes()[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  return Tensor(
      make_intrusive<TensorImpl>(impl.physical_storage(), impl.dtype(), impl.sizes(), std::move(strides), offset));
}
}  // namespace

Tensor flip(const Tensor& self, IntArrayRef dims) {
  std::vector<bool> along(std::max<int64_t>(self.dim(), 1), false);
  for (int64_t dim : dims) {
    const int64_t d = wrap_dim("flip", dim, self.dim());
    HB_CHECK(!along[d], "[flip] dim ", d, " appears multiple times in the list of dims");
    along[d] = true;
  }
  Tensor out = empty_like(self);
  if (self.numel()) {
    const Tensor source = backwards(self, along);
    copy_kernel(self.device())(Loop({&out}, {&source}));
  }
  if (needs_grad(self))
    record("FlipBackward0", out, {&self},
           [dims = DimVector(dims)](Backward& b) -> variable_list { return {flip(b.grad(), dims)}; });
  return out;
}
Tensor fliplr(const Tensor& self) {
  HB_CHECK(self.dim() >= 2, "[fliplr] Input must be >= 2-d.");
  return flip(self, 1);
}
Tensor flipud(const Tensor& self) {
  HB_CHECK(self.dim() >= 1, "[flipud] Input must be >= 1-d.");
  return flip(self, 0);
}

namespace {
// `in` without history, so that its dimension d begins at `start[d]` and goes on from its own beginning: the two parts
// of each dimension, in all combinations, are copies.
void copy_turned(const Tensor& out, const Tensor& in, const DimVector& start, int64_t d) {
  while (d < out.dim() && start[d] == 0) ++d;
  if (d == out.dim()) return copy_kernel(out.device())(Loop({&out}, {&in}));
  const int64_t n = in.size(d), first = n - start[d];
  copy_turned(out.narrow(d, 0, first), in.narrow(d, start[d], first), start, d + 1);
  copy_turned(out.narrow(d, first, start[d]), in.narrow(d, 0, start[d]), start, d + 1);
}

// The dimension along which alone many rows, one after the other in memory, are turned; -1 where that is not so.
int64_t only_turned(const Tensor& in, const DimVector& start) {
  const TensorImpl& t = in.impl();
  if (!turned_kernel.available(in.device()) || t.is_deferred() || !t.physically_contiguous()) return -1;
  const auto turned = [](int64_t n) { return n != 0; };
  if (std::count_if(start.begin(), start.end(), turned) != 1) return -1;
  const int64_t d = std::find_if(start.begin(), start.end(), turned) - start.begin();
  const bool many = in.numel() >= 16 * geometry::numel(DimVector(in.sizes().slice(d)));  // for several threads
  return many ? d : -1;
}

void turn(const Tensor& out, const Tensor& in, const DimVector& start) {
  const int64_t d = only_turned(in, start);
  if (d < 0) return copy_turned(out, in, start, 0);
  capture::uses(in), capture::uses(out);
  const auto item = static_cast<int64_t>(in.impl().itemsize());
  const int64_t row = item * geometry::numel(DimVector(in.sizes().slice(d)));
  turned_kernel(in.device())(Turned{in.numel() * item / row, row, start[d] * (row / in.size(d))},
                             out.impl().visible_data(), in.impl().raw_data());
}
}  // namespace

Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  if (dims.empty() && shifts.size() == 1)
    return named("RollBackward0", roll(self.flatten(), shifts, 0).view(self.sizes()), self);
  HB_CHECK(shifts.size() == dims.size() && !dims.empty(),
           "[roll] shifts and dimensions must align. shifts: ", shifts.size(), ", dims: ", dims.size());
  if (self.numel() == 0) return self.clone();
  DimVector start(static_cast<size_t>(self.dim()), 0);
  for (size_t k = 0; k < dims.size(); ++k) {
    const int64_t d = wrap_dim("roll", dims[k], self.dim()), n = self.size(d);
    start[d] = ((start[d] - shifts[k]) % n + n) % n;
  }
  Tensor out = ops::empty_in_layout_of(self, self.sizes());
  {
    NoGradGuard no_history;
    turn(out, self, start);
  }
  if (needs_grad(self))
    record("RollBackward0", out, {&self},
           [shifts = DimVector(shifts), dims = DimVector(dims)](Backward& b) -> variable_list {
             DimVector opposite = shifts;
             for (int64_t& shift : opposite) shift = -shift;
             return {roll(b.grad(), opposite, dims)};
           });
  return out;
}

Tensor rot90(const Tensor& self, int64_t k, IntArrayRef dims) {
  HB_CHECK(dims.size() == 2, "[rot90] expected total rotation dims == 2, but got dims = ", dims.size());
  HB_CHECK(self.dim() >= 2, "[rot90] expected total dims >= 2, but got total dims = ", self.dim());
  const int64_t a = wrap_dim("rot90", dims[0], self.dim()), b = wrap_dim("rot90", dims[1], self.dim());
  HB_CHECK(a != b, "[rot90] expected rotation dims to be different, but got dim0 = ", dims[0], " and dim1 = ", dims[1]);
  switch (((k % 4) + 4) % 4) {
    case 1:
      return named("Rot90Backward0", self.flip(b).transpose(a, b), self);
    case 2:
      return named("Rot90Backward0", self.flip({a, b}), self);
    case 3:
      return named("Rot90Backward0", self.flip(a).transpose(a, b), self);
    default:
      return self.clone(MemoryFormat::Contiguous);
  }
}

// --- diagonals

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t n = self.dim() + 1;
  const int64_t a = wrap_dim("diag_embed", dim1, n), b = wrap_dim("diag_embed", dim2, n);
  HB_CHECK(a != b, "[diag_embed] diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  int64_t side;
  const bool fits = offset > INT64_MIN && !__builtin_add_overflow(self.size(-1), std::abs(offset), &side);
  HB_CHECK(fits, "[diag_embed] expected a diagonal in a matrix of sizes that int64 holds, got offset ", offset);
  DimVector sizes(self.impl().sizes());
  sizes.pop_back();
  sizes.insert(std::min(a, b), side);
  sizes.insert(std::max(a, b), side);
  Tensor out = zeros(sizes, self.options());
  out.diagonal(offset, a, b).copy_(self.detach());
  out = out.variable_data();  // its version is that of a new tensor
  if (needs_grad(self))
    record("DiagEmbedBackward0", out, {&self},
           [=](Backward& grad) -> variable_list { return {grad.grad().diagonal(offset, a, b)}; });
  return out;
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  HB_CHECK(self.dim() == 1 || self.dim() == 2, "[diag] Supports 1D or 2D tensors. Got ", self.dim(), "D");
  return self.dim() == 1 ? diag_embed(self, diagonal) : self.diagonal(diagonal).clone();
}
Tensor diagflat(const Tensor& self, int64_t offset) { return diag_embed(self.flatten(), offset); }

// --- grids

std::vector<int64_t> broadcast_shapes(IntArrayRef a, IntArrayRef b) {
  const Tensor x = empty({}).expand(a), y = empty({}).expand(b);
  const DimVector sizes = broadcast_sizes("broadcast_shapes", {&x, &y});
  return {sizes.begin(), sizes.end()};
}

std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  if (tensors.empty()) return {};
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : tensors) pointers.push_back(&t);
  const DimVector sizes = broadcast_sizes("broadcast_tensors", pointers);
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(t.expand(sizes));
  return out;
}

std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing) {
  HB_CHECK(!tensors.empty(), "[meshgrid] expects a non-empty TensorList");
  HB_CHECK(indexing == "ij" || indexing == "xy",
           "[meshgrid] indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  std::vector<Tensor> axes = tensors.vec();
  const bool swap = indexing == "xy" && axes.size() >= 2;
  if (swap) std::swap(axes[0], axes[1]);
  DimVector sizes;
  for (const Tensor& t : axes) {
    HB_CHECK(t.scalar_type() == axes[0].scalar_type(), "[meshgrid] expects all tensors to have the same dtype, got ",
             t.scalar_type(), " and ", axes[0].scalar_type());
    HB_CHECK(t.dim() <= 1, "[meshgrid] Expected 0D or 1D tensor in the tensor list but got: ", t.sizes());
    sizes.push_back(t.numel());
  }
  std::vector<Tensor> out;
  for (size_t k = 0; k < axes.size(); ++k) {
    DimVector shape(axes.size(), 1);
    shape[k] = sizes[k];
    out.push_back(axes[k].reshape(shape).expand(sizes));
  }
  if (swap) std::swap(out[0], out[1]);
  return out;
}
std::vector<Tensor> meshgrid(TensorList tensors) {
  HB_WARN_ONCE("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.");
  return meshgrid(tensors, "ij");
}

Tensor flatten_dense_tensors(TensorList tensors) {
  HB_CHECK(!tensors.empty(), "[flatten_dense_tensors] expected at least one tensor");
  std::vector<Tensor> flat;
  for (const Tensor& t : tensors) flat.push_back(t.contiguous().view(-1));
  return flat.size() == 1 ? flat[0] : cat(flat);
}
std::vector<Tensor> unflatten_dense_tensors(const Tensor& flat, TensorList tensors) {
  std::vector<Tensor> parts;
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    // Parts without elements have memory of their own, so that one may grow.
    parts.push_back(t.numel() == 0 ? empty(t.sizes(), t.options()) : flat.narrow(0, at, t.numel()).view(t.sizes()));
    at += t.numel();
  }
  return parts;
}

namespace {
// Throws where the table of places fits into no memory, rather than filling it until then.
void check_combinations(int64_t n, int64_t r) {
  const double of = static_cast<double>(n), taken = static_cast<double>(r);
  if (r > n) return;
  const double sets = std::exp(std::lgamma(of + 1) - std::lgamma(taken + 1) - std::lgamma(of - taken + 1));
  HB_CHECK(sets * taken < 0x1p43, "[combinations] Storage size calculation overflowed: about ", sets, " sets of ", r,
           " elements");
}
}  // namespace

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  HB_CHECK(self.dim() == 1, "[combinations] Expect a 1D vector, but got shape ", self.sizes());
  HB_CHECK(r >= 0, "[combinations] Expect a non-negative number, but got ", r);
  if (r == 0) return empty({0}, self.options());
  const int64_t n = self.numel();
  // Each set by its places, which count up from left to right; the last place that can grow does.
  std::vector<int64_t> places, next(static_cast<size_t>(r), 0);
  check_combinations(with_replacement ? n + r - 1 : n, r);
  const auto highest = [&](int64_t k) { return with_replacement ? n - 1 : n - r + k; };
  if (!with_replacement)
    for (int64_t k = 0; k < r; ++k) next[k] = k;
  bool more = highest(0) >= 0;
  while (more) {
    places.insert(places.end(), next.begin(), next.end());
    int64_t k = r - 1;
    while (k >= 0 && next[k] == highest(k)) --k;
    more = k >= 0;
    if (!more) break;
    ++next[k];
    for (int64_t j = k + 1; j < r; ++j) next[j] = with_replacement ? next[k] : next[j - 1] + 1;
  }
  const auto rows = static_cast<int64_t>(places.size()) / r;
  const Tensor at = tensor(places, TensorOptions(kLong).device(self.device()));
  return named("StackBackward0", self.index_select(0, at).reshape({rows, r}), self);
}

Tensor cartesian_prod(TensorList tensors) {
  HB_CHECK(!tensors.empty(), "[cartesian_prod] expects a non-empty TensorList");
  for (const Tensor& t : tensors)
    HB_CHECK(t.dim() == 1, "[cartesian_prod] Expect a 1D vector, but got shape ", t.sizes());
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns;
  for (const Tensor& t : meshgrid(tensors, "ij")) columns.push_back(t.flatten());
  return stack(columns, 1);
}

}  // namespace hb
