// Element-wise functions of sparse tensors.
#include <algorithm>
#include <array>
#include <string_view>

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "ops/common/inplace.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/sparse/compressed.h"

namespace hb::sparse {
namespace {

using ops::gradients;

/// Functions of one operand (and a number) that are 0 at 0.
bool keeps_zeros(std::string_view name) {
  static constexpr auto names = std::to_array<std::string_view>(
      {"abs",   "asin", "asinh",  "atan",  "atanh", "ceil",  "erf",      "erfinv",  "expm1",   "floor_divide",
       "floor", "frac", "isinf",  "isnan", "log1p", "relu",  "round",    "sign",    "signbit", "sin",
       "sinh",  "sqrt", "square", "tan",   "tanh",  "trunc", "isneginf", "isposinf"});
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Places by rows or columns are taken to be listed once.
Tensor listed_once(const Tensor& t) { return is_compressed(t) ? t : t.coalesce(); }

bool is_zero(const Scalar& s) { return s.isComplex() ? s.toComplexDouble() == Complex<double>(0) : s.toDouble() == 0; }

}  // namespace

Tensor map(const char* name, const Tensor& self, const std::function<Tensor(const Tensor&)>& f) {
  if (!keeps_zeros(name))
    HB_NOT_SUPPORTED("[", name, "] expected a strided tensor, got one of layout ", self.layout(),
                     ": the result would not be sparse or is not implemented, call to_dense() first");
  const Tensor c = listed_once(self);
  return construct_like(c, f(c.values()));
}

Tensor pow(const Tensor& self, const Scalar& exponent) {
  HB_CHECK(!is_zero(exponent),
           "[pow] cannot raise to zeroth power on sparse tensor; it would make the result tensor "
           "dense");
  const Tensor c = listed_once(self);
  return construct_like(c, hb::pow(c.values(), exponent));
}

Tensor neg(const Tensor& self) {
  Tensor out = with_values(self, hb::neg(parts(self).values));
  if (needs_grad(self)) record("NegBackward0", out, {&self}, [](Backward& b) { return gradients(hb::neg(b.grad())); });
  return out;
}

Tensor conj(const Tensor& self) {
  Tensor out = with_values(self, hb::conj(parts(self).values));
  if (needs_grad(self))
    record("ConjBackward0", out, {&self}, [](Backward& b) { return gradients(hb::conj(b.grad())); });
  return out;
}

Tensor scaled(const Tensor& self, const Scalar& number, bool divide) {
  const Tensor& values = parts(self).values;
  Tensor out = with_values(self, divide ? hb::div(values, number) : hb::mul(values, number));
  if (needs_grad(self))
    record(divide ? "DivBackward0" : "MulBackward0", out, {&self}, [number, divide](Backward& b) {
      const Scalar by = ops::conj(number);
      return gradients(divide ? b.grad() / by : b.grad() * by);
    });
  return out;
}

Tensor& scale_(Tensor& self, const Scalar& number, bool divide) {
  // Other tensors may hold the same values: those of a transpose, or the tensor that it was made of.
  return inplace(divide ? "div_" : "mul_", self, [&](const Tensor& old) { return scaled(old, number, divide); });
}

// --- products

namespace {

/// Entries of `self` times the values of `other` there.
Tensor times_values(const Tensor& self, const Tensor& other) {
  const SparseParts& p = parts(self);
  return with_values(self, hb::mul(p.values, gather(other, p.indices)));
}

/// `other`, strided, with as many dimensions as `self`.
Tensor aligned(const Tensor& self, const Tensor& other) {
  HB_CHECK(other.dim() <= self.dim(), "[mul] expected a strided operand that broadcasts to the sparse one's shape ",
           self.sizes(), ", got ", other.sizes());
  DimVector sizes(self.dim() - other.dim(), 1);
  for (int64_t s : other.sizes()) sizes.push_back(s);
  for (int64_t d = 0; d < self.dim(); ++d)
    HB_CHECK(sizes[d] == 1 || sizes[d] == self.size(d),
             "[mul] expected a strided operand that broadcasts to the sparse one's shape ", self.sizes(), ", got ",
             other.sizes());
  return other.reshape(sizes);
}

Tensor product(const Tensor& a, const Tensor& b) {
  if (is_compressed(a) || is_compressed(b)) {
    const Layout layout = a.layout() == kStrided ? b.layout() : a.layout();
    return in_layout(product(a.layout() == kStrided ? a : coordinates(a), b.layout() == kStrided ? b : coordinates(b)),
                     layout);
  }
  if (!b.is_sparse()) return times_values(a, aligned(a, b));
  if (!a.is_sparse()) return times_values(b, aligned(b, a));
  HB_CHECK(a.sizes() == b.sizes() && sparse_dim(a) == sparse_dim(b),
           "[mul] expects sparse inputs with equal dimensionality, number of sparse dimensions, and shape, got ",
           a.sizes(), " (", a.sparse_dim(), " sparse dimensions) and ", b.sizes(), " (", b.sparse_dim(), ")");
  // The entries that both have, in the order of the operand that is not coalesced.
  const bool swap = parts(a).coalesced && !parts(b).coalesced;
  const Tensor &listed = swap ? b : a, other = (swap ? a : b).coalesce();
  const SparseParts& p = parts(listed);
  const DimVector places(IntArrayRef(a.impl().sizes().data(), sparse_dim(a)));
  const Tensor common =
      gather(make(parts(other).indices, ones({nnz(other)}, p.indices.options().dtype(kBool)), places, true), p.indices);
  const Tensor kept = nonzero(common).reshape({-1});
  const Tensor indices = p.indices.index_select(1, kept);
  return make(indices, p.values.index_select(0, kept) * gather(other, indices), a.impl().sizes(), p.coalesced);
}

/// gradient (of any layout) summed to a strided operand that was broadcast.
Tensor reduced_to(const Tensor& g, IntArrayRef sizes) {
  if (g.layout() == kStrided || g.sizes() == sizes) return g;
  return sum_to(g.to_dense(), sizes);
}

}  // namespace

Tensor mul(const Tensor& self, const Tensor& other) {
  for (const auto* pair : {&self, &other}) {
    const Tensor& number = pair == &self ? other : self;
    if (pair->layout() != kStrided && number.layout() == kStrided && number.dim() == 0 && !needs_grad(number))
      return scaled(pair->to(ops::promoted({self, other})), number.item(), false);
  }
  Tensor out = product(self.detach(), other.detach());
  if (needs_grad(self, other))
    record("MulBackward0", out, {&self, &other}, {SavedTensor::input(self), SavedTensor::input(other)},
           [](Backward& b, auto& s) {
             const auto gradient = [&](int i) {
               if (!b.needs(i)) return Tensor();
               const Tensor g = reduced_to(b.grad() * hb::conj(s[1 - i]), s[i].sizes());
               return is_compressed(g) && s[i].layout() == kStrided ? g.to_dense() : g;
             };
             return gradients(gradient(0), gradient(1));
           });
  return out;
}

Tensor div(const Tensor& self, const Tensor& other) {
  HB_CHECK(self.layout() != kStrided && other.layout() == kStrided && other.dim() == 0,
           "[div] Sparse division requires a scalar or zero-dim dense tensor divisor (got shape ", other.sizes(),
           " for divisor)");
  if (needs_grad(other)) HB_NOT_SUPPORTED("[div] the divisor of a sparse tensor has no gradient here; use to_dense()");
  return scaled(self.to(ops::promoted({self, other})), other.item(), true);
}

// --- sums

namespace {

void check_sum(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  HB_CHECK(other.is_sparse(), "[add] add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  HB_CHECK(self.sizes() == other.sizes(),
           self.is_sparse() ? "[add] expected sizes of 'self' and 'other' to match, but "
                            : "[add] expected 'self' and 'other' to have same size "
                              "(dense-sparse addition does not broadcast), but ",
           self.sizes(), " != ", other.sizes());
  HB_CHECK(!self.is_sparse() || sparse_dim(self) == sparse_dim(other),
           "[add] expected 'self' and 'other' to have same density, got ", self.sparse_dim(), " and ",
           other.sparse_dim(), " sparse dimensions");
  HB_CHECK(alpha.isIntegral(true) || alpha.equal(1) || is_differentiable_type(ops::promoted({self, other})),
           "[add] For integral input tensors, argument alpha must not be a floating point number.");
}

/// Entries of both; where both are coalesced the result is too.
Tensor joined(const Tensor& a, const Tensor& b, const Scalar& alpha, ScalarType t) {
  const SparseParts &p = parts(a), &q = parts(b);
  const Tensor scaled = alpha.equal(1) ? q.values.to(t) : q.values.to(t) * alpha;
  const Tensor out =
      make(hb::cat({p.indices, q.indices}, 1), hb::cat({p.values.to(t), scaled}, 0), a.impl().sizes(), false);
  return p.coalesced && q.coalesced ? out.coalesce() : out;
}

/// Adds the entries of `b` to strided memory.
void add_entries(Tensor& self, const Tensor& b, const Scalar& alpha) {
  const SparseParts& p = parts(b);
  const DimVector& sizes = b.impl().sizes();
  const int64_t n = p.indices.size(0), width = dense_numel(sizes, n);
  Tensor rows = self.view({positions(sizes, n), width});
  rows.index_add_(0, keys_of(p.indices, sizes), p.values.to(self.scalar_type()).reshape({nnz(b), width}), alpha);
}

}  // namespace

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (is_compressed(self) || is_compressed(other)) return add_compressed(self, other, alpha);
  check_sum(self, other, alpha);
  const ScalarType t = ops::promoted({self, other});
  Tensor out;
  if (self.is_sparse()) {
    out = joined(self, other, alpha, t);
  } else {
    out = self.detach().to(t).clone(MemoryFormat::Contiguous);
    add_entries(out, other, alpha);
  }
  if (needs_grad(self, other))
    record("AddBackward0", out, {&self, &other}, [alpha](Backward& b) {
      return gradients(b.needs(0) ? b.grad() : Tensor(), b.needs(1) ? b.grad() * ops::conj(alpha) : Tensor());
    });
  return out;
}

Tensor& add_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  const auto compute = [&](const Tensor& old) { return sparse::add(old, other, alpha); };
  if (is_compressed(self) || is_compressed(other)) return inplace("add_", self, compute, nullptr, {&other});
  check_sum(self, other, alpha);
  if (self.is_sparse() || !self.is_contiguous() || self.scalar_type() != ops::promoted({self, other}))
    return inplace("add_", self, compute, nullptr, {&other});
  return inplace("add_", self, compute, [&](Tensor& t) { add_entries(t, other, alpha); }, {&other});
}

}  // namespace hb::sparse
