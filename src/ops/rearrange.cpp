// Copies in another arrangement: repeat, flip, roll, triangles, diagonals.
#include <numeric>

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/geometry.h"
#include "core/inplace.h"
#include "ops/elementwise_op.h"

namespace hb {
namespace {

using ops::gradients;

}  // namespace

Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  HB_CHECK(static_cast<int64_t>(repeats.size()) >= self.dim(), "[repeat] Number of dimensions of repeat dims can not be smaller than number "
           "of dimensions of tensor, got ", repeats, " for ", self.sizes());
  // (r0, s0, r1, s1, ...) expanded, then joined by pairs.
  std::vector<int64_t> paired, spread, result;
  const size_t lead = repeats.size() - static_cast<size_t>(self.dim());
  for (size_t d = 0; d < repeats.size(); ++d) {
    HB_CHECK(repeats[d] >= 0, "[repeat] expected counts that are not negative, got ", repeats);
    const int64_t n = d < lead ? 1 : self.sizes()[d - lead];
    paired.push_back(1), paired.push_back(n);
    spread.push_back(repeats[d]), spread.push_back(n);
    result.push_back(repeats[d] * n);
  }
  return self.reshape(paired).expand(spread).clone(MemoryFormat::Contiguous).reshape(result);
}

Tensor tile(const Tensor& self, IntArrayRef dims) {
  std::vector<int64_t> counts(std::max<int64_t>(0, self.dim() - static_cast<int64_t>(dims.size())), 1);
  counts.insert(counts.end(), dims.begin(), dims.end());
  return repeat(self, counts);
}

Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim) {
  HB_CHECK(repeats >= 0, "[repeat_interleave] repeats can not be negative, got ", repeats);
  const Tensor x = dim ? self : self.reshape(-1);
  const int64_t d = geometry::wrap_dim("repeat_interleave", dim.value_or(0), x.dim());
  const Tensor y = x.dim() ? x : x.reshape(1);
  std::vector<int64_t> spread = y.unsqueeze(d + 1).sizes().vec(), result = y.sizes().vec();
  spread[d + 1] = repeats, result[d] *= repeats;
  return y.unsqueeze(d + 1).expand(spread).clone(MemoryFormat::Contiguous).reshape(result);
}

Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim) {
  const Tensor x = dim ? self : self.reshape(-1);
  const int64_t d = geometry::wrap_dim("repeat_interleave", dim.value_or(0), x.dim()), n = x.size(d);
  HB_CHECK(repeats.scalar_type() == kLong || repeats.scalar_type() == kInt, "[repeat_interleave] repeats has to be Long or Int tensor, got ",
           toString(repeats.scalar_type()));
  HB_CHECK(repeats.dim() <= 1 && (repeats.numel() == 1 || repeats.numel() == n), "[repeat_interleave] repeats must have the same size as "
           "input along dim, but got ", repeats.sizes(), " for size ", n);
  const Tensor counts = repeats.to(kLong).reshape(-1).expand(n).contiguous();
  const auto* c = counts.data_ptr<int64_t>();
  std::vector<int64_t> places;
  for (int64_t i = 0; i < n; ++i) {
    HB_CHECK(c[i] >= 0, "[repeat_interleave] repeats can not be negative, got ", c[i]);
    places.insert(places.end(), c[i], i);
  }
  Tensor index = empty({static_cast<int64_t>(places.size())}, kLong);
  std::copy(places.begin(), places.end(), index.data_ptr<int64_t>());
  return index_select(x, d, index);
}

// --- turned and shifted

Tensor flip(const Tensor& self, IntArrayRef dims) {
  std::vector<bool> seen(std::max<int64_t>(self.dim(), 1));
  Tensor out = self.detach().clone(MemoryFormat::Contiguous);
  for (int64_t dim : dims) {
    const int64_t d = geometry::wrap_dim("flip", dim, self.dim());
    HB_CHECK(!seen[d], "[flip] dim ", d, " appears multiple times in the list of dims");
    seen[d] = true;
    if (self.dim() == 0) continue;
    const int64_t n = self.size(d);
    if (n > 1) out = index_select(out, d, rsub(arange(n, kLong), n - 1));
  }
  if (needs_grad(self))
    record("FlipBackward0", out, {&self}, [list = dims.vec()](Backward& b) { return gradients(flip(b.grad(), list)); });
  return out;
}
Tensor fliplr(const Tensor& self) {
  HB_CHECK(self.dim() >= 2, "[fliplr] Input must be >= 2-d, got ", self.sizes());
  return flip(self, {1});
}
Tensor flipud(const Tensor& self) {
  HB_CHECK(self.dim() >= 1, "[flipud] Input must be >= 1-d");
  return flip(self, {0});
}

Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  HB_CHECK(!shifts.empty(), "[roll] `shifts` required");
  if (dims.empty() && shifts.size() == 1) return roll(self.reshape(-1), shifts, 0).reshape(self.sizes());
  HB_CHECK(shifts.size() == dims.size(), "[roll] shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  Tensor out = self;
  for (size_t k = 0; k < shifts.size(); ++k) {
    const int64_t d = geometry::wrap_dim("roll", dims[k], self.dim()), n = self.dim() ? self.size(d) : 1;
    if (n <= 1) continue;
    const int64_t first = ((-shifts[k]) % n + n) % n;
    if (first) out = cat({out.narrow(d, first, n - first), out.narrow(d, 0, first)}, d);
  }
  return out.is_same(self) ? self.clone() : out;
}

Tensor rot90(const Tensor& self, int64_t k, IntArrayRef dims) {
  HB_CHECK(dims.size() == 2, "[rot90] expected total rotation dims == 2, but got dims = ", dims.size());
  HB_CHECK(self.dim() >= 2, "[rot90] expected total dims >= 2, but got total dims = ", self.dim());
  const int64_t a = geometry::wrap_dim("rot90", dims[0], self.dim()), b = geometry::wrap_dim("rot90", dims[1], self.dim());
  HB_CHECK(a != b, "[rot90] expected rotation dims to be different, but got dim0 = ", dims[0], " and dim1 = ", dims[1]);
  switch ((k % 4 + 4) % 4) {
    case 1: return flip(self, {b}).transpose(a, b);
    case 2: return flip(self, {a, b});
    case 3: return flip(self, {a}).transpose(a, b);
    default: return self.clone(MemoryFormat::Contiguous);
  }
}

// --- triangles and diagonals

namespace {

/// True where the element belongs to the lower triangle up to `diagonal`.
Tensor lower(const Tensor& self, int64_t diagonal) {
  const Tensor row = arange(self.size(-2), kLong).unsqueeze(1), column = arange(self.size(-1), kLong);
  return column - row <= diagonal;
}

Tensor triangle(const char* name, const Tensor& self, int64_t diagonal, bool upper) {
  HB_CHECK(self.dim() >= 2, "[", name, "] input tensor must have at least 2 dimensions, got ", self.sizes());
  const Tensor keep = upper ? logical_not(lower(self, diagonal - 1)) : lower(self, diagonal);
  return where(keep, self, Scalar(false)).contiguous();
}

}  // namespace

Tensor tril(const Tensor& self, int64_t diagonal) { return triangle("tril", self, diagonal, false); }
Tensor triu(const Tensor& self, int64_t diagonal) { return triangle("triu", self, diagonal, true); }
Tensor& tril_(Tensor& self, int64_t diagonal) {
  return inplace("tril_", self, [&](const Tensor& old) { return tril(old, diagonal); });
}
Tensor& triu_(Tensor& self, int64_t diagonal) {
  return inplace("triu_", self, [&](const Tensor& old) { return triu(old, diagonal); });
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t dims = self.dim() + 1;
  const int64_t a = geometry::wrap_dim("diag_embed", dim1, dims), b = geometry::wrap_dim("diag_embed", dim2, dims);
  HB_CHECK(a != b, "[diag_embed] diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  HB_CHECK(self.dim() > 0, "[diag_embed] expected at least one dimension");
  const int64_t n = self.size(-1) + std::abs(offset);
  std::vector<int64_t> shape = self.sizes().vec();
  shape.pop_back();
  shape.insert(shape.begin() + std::min(a, b), n);
  shape.insert(shape.begin() + std::max(a, b), n);
  Tensor out = zeros(shape, self.options());
  {
    NoGradGuard no_history;
    out.diagonal(offset, a, b).copy_(self);
    out = Tensor(out.impl().alias(false));
  }
  if (needs_grad(self))
    record("DiagEmbedBackward0", out, {&self}, [=](Backward& g) { return gradients(g.grad().diagonal(offset, a, b)); });
  return out;
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  HB_CHECK(self.dim() == 1 || self.dim() == 2, "[diag] Supports 1D or 2D tensors. Got ", self.dim(), "D");
  return self.dim() == 1 ? diag_embed(self, diagonal) : self.diagonal(diagonal).clone();
}
Tensor diagflat(const Tensor& self, int64_t offset) { return diag(self.contiguous().reshape(-1), offset); }

}  // namespace hb
