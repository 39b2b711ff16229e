// Products added to something: addmm, addmv, addr, baddbmm, addbmm.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "core/value_range.h"
#include "ops/common/inplace.h"
#include "ops/linalg/complex_product.h"
#include "ops/linalg/matrix_product.h"
#include "ops/sparse/sparse.h"

namespace hb {
namespace {

// The sum of a product and beta self, where beta is 0: what self holds does not count, and its gradient is 0.
Tensor without_addend(const Tensor& product, const Tensor& self) {
  if (!needs_grad(self)) return product;
  Tensor nothing = zeros_like(self);
  record("MulBackward0", nothing, {&self}, [](Backward& b) -> variable_list { return {zeros_like(b.grad())}; });
  return product + nothing.to(product.scalar_type());
}

// alpha a b + beta self, self broadcast to the result.
Tensor add_product(const char* name, const char* node, const Tensor& self, const Tensor& a, const Tensor& b,
                   const Scalar& beta, const Scalar& alpha) {
  ops::check_same_dtype(name, a, b);
  ops::check_same_dtype(name, self, a);
  check_factor_fits(name, a.scalar_type(), beta);
  check_factor_fits(name, a.scalar_type(), alpha);
  if (a.is_complex()) {
    const Tensor product = ops::complex_product(a, b) * alpha;
    return named("AddbmmBackward0", beta.equal(0) ? without_addend(product, self) : product + self * beta, self);
  }
  DimVector sizes(a.impl().sizes());
  sizes.back() = b.size(-1);
  Tensor out = empty(sizes, a.options());
  if (beta.toDouble() != 0) {
    NoGradGuard guard;
    out.copy_(self.detach().expand(sizes));
  }
  ops::stack_product_into(out, a.detach(), b.detach(), alpha.toDouble(), beta.toDouble());
  if (needs_grad(self, a, b)) {
    record(node, out, {&self, &a, &b}, {SavedTensor::input(a), SavedTensor::input(b)},
           [alpha, beta](Backward& c, auto& s) -> variable_list {
             const Tensor& g = c.grad();
             return {c.needs(0) ? g * beta : Tensor(),
                     c.needs(1) ? matmul(g, s[1].transpose(-2, -1)) * alpha : Tensor(),
                     c.needs(2) ? matmul(s[0].transpose(-2, -1), g) * alpha : Tensor()};
           });
  }
  return out;
}

}  // namespace

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  HB_AUTOCAST(addmm, half, half, self, mat1, mat2, beta, alpha);
  HB_CHECK(mat1.dim() == 2 && mat2.dim() == 2, "[addmm] expected two matrices, got ", mat1.sizes(), " and ",
           mat2.sizes());
  ops::check_inner("addmm", mat1, mat2);
  if (HB_UNLIKELY(sparse::either(mat1, mat2))) {
    const Tensor product = sparse::mm(mat1, mat2, false) * alpha;
    return beta.equal(0) ? product : self * beta + product;
  }
  if (self.dim() == 1 && self.size(0) == mat2.size(1) && beta.equal(1) && alpha.equal(1)) {
    ops::check_same_dtype("addmm", mat1, mat2);
    ops::check_same_dtype("addmm", self, mat1);
    return ops::affine("AddmmBackward0", mat1, mat2, false, self);
  }
  return add_product("addmm", "AddmmBackward0", self, mat1, mat2, beta, alpha);
}
Tensor& addmm_(Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  return inplace("addmm_", self, [&](const Tensor& x) { return addmm(x, mat1, mat2, beta, alpha); }, nullptr,
                 {&mat1, &mat2});
}

Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  HB_AUTOCAST(addmv, closed, half, self, mat, vec, beta, alpha);
  check_factor_fits("addmv", mat.scalar_type(), beta);
  check_factor_fits("addmv", mat.scalar_type(), alpha);
  HB_CHECK(mat.dim() != 2 || self.dim() != 1 || self.size(0) == mat.size(0) || self.size(0) == 1,
           "[addmv] size mismatch, got input (", self.size(0), "), mat (", mat.size(0), "x", mat.size(1), "), vec (",
           vec.numel(), ")");
  const Tensor product = mv(mat, vec) * alpha;
  return named("AddmvBackward0",
               beta.equal(0) ? without_addend(product, self) : product + (self * beta).to(product.scalar_type()), self);
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  HB_AUTOCAST(addr, closed, half, self, vec1, vec2, beta, alpha);
  const ScalarType t = promote_types(result_type(vec1, vec2), self.scalar_type());
  HB_CHECK(!isIntegralType(t, false) || !beta.isFloatingPoint(),
           "[addr] For integral input tensors, argument beta must not be a floating point number, got ", beta);
  HB_CHECK(!isIntegralType(t, false) || !alpha.isFloatingPoint(),
           "[addr] For integral input tensors, argument alpha must not be a floating point number, got ", alpha);
  check_value_fits("addr", t, beta);
  check_value_fits("addr", t, alpha);
  const auto times = [t](const Tensor& x, const Scalar& factor) {
    if (factor.equal(1)) return x;
    return t == kBool ? x.mul(Scalar(factor.toBool())) : x * factor;
  };
  const bool alike = self.scalar_type() == t && vec1.scalar_type() == t && vec2.scalar_type() == t;
  const bool fits = vec1.dim() == 1 && vec2.dim() == 1 && self.sizes() == IntArrayRef{vec1.size(0), vec2.size(0)};
  if (alike && fits && t != kBool && !is_complex_type(t) && !beta.equal(0)) {  // in one pass
    Tensor out;
    {
      NoGradGuard no_history;
      out = addcmul(times(self, beta), vec1.unsqueeze(1), vec2, alpha);
    }
    if (needs_grad(self, vec1, vec2))
      record("AddrBackward0", out, {&self, &vec1, &vec2}, {SavedTensor::input(vec1), SavedTensor::input(vec2)},
             [alpha, beta, times](Backward& c, auto& s) -> variable_list {
               const Tensor& g = c.grad();
               return {c.needs(0) ? times(g, beta) : Tensor(), c.needs(1) ? times(mv(g, s[1]), alpha) : Tensor(),
                       c.needs(2) ? times(mv(g.t(), s[0]), alpha) : Tensor()};
             });
    return out;
  }
  const Tensor product = times(outer(vec1, vec2), alpha);
  return named("AddrBackward0", beta.equal(0) ? without_addend(product, self) : product + times(self, beta), self);
}

Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
  HB_AUTOCAST(baddbmm, half, half, self, batch1, batch2, beta, alpha);
  HB_CHECK(batch1.dim() == 3 && batch2.dim() == 3, "[baddbmm] expected two stacks of matrices (3 dimensions), got ",
           batch1.sizes(), " and ", batch2.sizes());
  ops::check_stacks("baddbmm", batch1, batch2);
  return add_product("baddbmm", "BaddbmmBackward0", self, batch1, batch2, beta, alpha);
}
Tensor& baddbmm_(Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  return inplace("baddbmm_", self, [&](const Tensor& x) { return baddbmm(x, batch1, batch2, beta, alpha); }, nullptr,
                 {&batch1, &batch2});
}

Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  HB_AUTOCAST(addbmm, half, half, self, batch1, batch2, beta, alpha);
  // Of integral tensors a factor's fraction does not count.
  const auto factor = [whole = isIntegralType(batch1.scalar_type(), true)](const Scalar& s) {
    return whole && s.isFloatingPoint() ? Scalar(s.toLong()) : s;
  };
  const Tensor product = bmm(batch1, batch2).sum(0, false, batch1.scalar_type()) * factor(alpha);
  return named("AddbmmBackward0", beta.equal(0) ? without_addend(product, self) : product + self * factor(beta), self);
}

Tensor& addmv_(Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  return inplace("addmv_", self, [&](const Tensor& x) { return addmv(x, mat, vec, beta, alpha); });
}
Tensor& addr_(Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  return inplace("addr_", self, [&](const Tensor& x) { return addr(x, vec1, vec2, beta, alpha); });
}
Tensor& addbmm_(Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  return inplace("addbmm_", self, [&](const Tensor& x) { return addbmm(x, batch1, batch2, beta, alpha); });
}

}  // namespace hb
