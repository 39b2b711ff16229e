// Products of Householder reflections H_i = I - tau_i v_i v_i^H, as LAPACK keeps them: v_i is column i of a matrix
// below its diagonal, with 1 on the diagonal and 0 above.
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "backend/decompositions.h"
#include "ops/linalg/decompositions.h"

namespace hb {

namespace {

void check_reflections(const char* name, const Tensor& input, const Tensor& tau) {
  check_matrices(name, input, false, Refused::by_kernel);
  HB_CHECK(input.size(-2) >= input.size(-1), name,
           ": input.shape[-2] must be greater than or equal to input.shape[-1], got ", input.sizes());
  HB_CHECK(tau.dim() == input.dim() - 1, name, ": expected a tau with one dimension less than the input, got ",
           tau.sizes(), " for ", input.sizes());
  HB_CHECK(tau.size(-1) <= input.size(-1), name,
           ": input.shape[-1] must be greater than or equal to tau.shape[-1], got ", input.sizes(), " and ",
           tau.sizes());
  HB_CHECK(input.scalar_type() == tau.scalar_type(), name, ": expected input and tau of one dtype, got ",
           input.scalar_type(), " and ", tau.scalar_type());
}

/// H_i c.
Tensor reflected(const Tensor& vectors, const Tensor& tau, int64_t i, const Tensor& c) {
  const Tensor v = vectors.narrow(-1, i, 1), t = tau.narrow(-1, i, 1).unsqueeze(-1);
  return c - (v * t).matmul(v.mH().matmul(c));
}
Tensor vectors_of(const Tensor& input) { return input.tril(-1) + eye(input.size(-2), input.size(-1), input.options()); }

Tensor householder_product(const char* name, const Tensor& input, const Tensor& tau) {
  check_reflections(name, input, tau);
  if (!needs_grad(input, tau)) {
    NoGradGuard no_grad;
    const Tensor q = by_columns(input, input.size(-2), input.size(-1));
    if (q.numel() > 0) householder_kernel(input.device())(as_stack(input), as_rows(tau).contiguous(), as_stack(q));
    return q;
  }
  const Tensor vectors = vectors_of(input);
  Tensor q = eye(input.size(-2), input.size(-1), input.options()).expand(input.sizes());
  for (int64_t i = tau.size(-1) - 1; i >= 0; --i) q = reflected(vectors, tau, i, q);
  return q;
}

}  // namespace

Tensor linalg_householder_product(const Tensor& input, const Tensor& tau) {
  HB_AUTOCAST(linalg_householder_product, fp32, as_is, input, tau);
  return householder_product("linalg.householder_product", input, tau);
}
Tensor orgqr(const Tensor& self, const Tensor& input2) {
  HB_AUTOCAST(orgqr, fp32, as_is, self, input2);
  return householder_product("orgqr", self, input2);
}

Tensor ormqr(const Tensor& self, const Tensor& input2, const Tensor& input3, bool left, bool transpose) {
  HB_AUTOCAST(ormqr, fp32, as_is, self, input2, input3, left, transpose);
  check_matrices("ormqr", self, false, Refused::by_kernel);
  check_matrices("ormqr", input3, false, Refused::by_kernel);
  const Tensor &tau = input2, &other = input3;
  HB_CHECK(tau.dim() == self.dim() - 1 && tau.size(-1) <= self.size(-1), "[ormqr] expected a tau of at most ",
           self.size(-1), " factors for the input ", self.sizes(), ", got ", tau.sizes());
  HB_CHECK(self.scalar_type() == other.scalar_type() && self.scalar_type() == tau.scalar_type(),
           "[ormqr] expected tensors of one dtype, got ", self.scalar_type(), ", ", tau.scalar_type(), " and ",
           other.scalar_type());
  HB_CHECK(other.size(left ? -2 : -1) == self.size(-2), "[ormqr] expected other.size(", left ? -2 : -1,
           ") = ", self.size(-2), ", got ", other.sizes());
  if (!needs_grad(self, tau, other)) {
    NoGradGuard no_grad;
    const Tensor c = with_batch_of(other, self), out = by_columns(c, c.size(-2), c.size(-1));
    if (out.numel() > 0)
      ormqr_kernel(self.device())(as_stack(self), as_rows(tau).contiguous(), as_stack(c), as_stack(out), left,
                                  transpose);
    return out;
  }
  // C Q = (Q^H C^H)^H
  if (!left) return ormqr(self, tau, other.mH(), true, !transpose).mH();
  const Tensor vectors = vectors_of(self);
  const int64_t k = tau.size(-1);
  Tensor c = other;
  const Tensor factors = transpose ? conj(tau) : tau;
  for (int64_t i = 0; i < k; ++i) c = reflected(vectors, factors, transpose ? i : k - 1 - i, c);
  return c;
}

TensorTuple2 geqrf(const Tensor& self) {
  HB_AUTOCAST(geqrf, fp32, as_is, self);
  check_matrices("geqrf", self, false, Refused::by_kernel);
  HB_CHECK(!(GradMode::is_enabled() && self.requires_grad()),
           "[geqrf] the derivative is not implemented; use linalg_qr, or detach() the input");
  NoGradGuard no_grad;
  const int64_t m = self.size(-2), n = self.size(-1);
  Tensor a = by_columns(self, m, n), tau = empty(batch_sizes(self, {std::min(m, n)}), self.options());
  if (self.numel() > 0) geqrf_kernel(self.device())(as_stack(self), as_stack(a), as_rows(tau));
  return {a, tau};
}

}  // namespace hb
