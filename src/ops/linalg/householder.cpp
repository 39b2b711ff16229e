// Products of Householder reflections H_i = I - tau_i v_i v_i^T, as LAPACK keeps them: v_i is column i of a matrix
// below its diagonal, with 1 on the diagonal and 0 above.
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "ops/linalg/decompositions.h"

namespace hb {

namespace {

void check_reflections(const char* name, const Tensor& input, const Tensor& tau) {
  check_matrices(name, input, false);
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
  return c - (v * t).matmul(v.mT().matmul(c));
}
Tensor vectors_of(const Tensor& input) { return input.tril(-1) + eye(input.size(-2), input.size(-1), input.options()); }

Tensor householder_product(const char* name, const Tensor& input, const Tensor& tau) {
  check_reflections(name, input, tau);
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
  check_matrices("ormqr", self, false);
  check_matrices("ormqr", input3, false);
  const Tensor &tau = input2, &other = input3;
  HB_CHECK(tau.dim() == self.dim() - 1 && tau.size(-1) <= self.size(-1), "[ormqr] expected a tau of at most ",
           self.size(-1), " factors for the input ", self.sizes(), ", got ", tau.sizes());
  HB_CHECK(self.scalar_type() == other.scalar_type() && self.scalar_type() == tau.scalar_type(),
           "[ormqr] expected tensors of one dtype, got ", self.scalar_type(), ", ", tau.scalar_type(), " and ",
           other.scalar_type());
  HB_CHECK(other.size(left ? -2 : -1) == self.size(-2), "[ormqr] expected other.size(", left ? -2 : -1,
           ") = ", self.size(-2), ", got ", other.sizes());
  // C Q = (Q^T C^T)^T
  if (!left) return ormqr(self, tau, other.mT(), true, !transpose).mT();
  const Tensor vectors = vectors_of(self);
  const int64_t k = tau.size(-1);
  Tensor c = other;
  for (int64_t i = 0; i < k; ++i) c = reflected(vectors, tau, transpose ? i : k - 1 - i, c);
  return c;
}

TensorTuple2 geqrf(const Tensor& self) {
  HB_AUTOCAST(geqrf, fp32, as_is, self);
  check_matrices("geqrf", self, false);
  HB_CHECK(!(GradMode::is_enabled() && self.requires_grad()),
           "[geqrf] the derivative is not implemented; use linalg_qr, or detach() the input");
  NoGradGuard no_grad;
  Tensor a = self.clone(MemoryFormat::Contiguous);
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  Tensor tau = zeros(batch_sizes(a, {k}), a.options());
  for (int64_t i = 0; i + 1 < m && i < k; ++i) {
    // The reflection that turns column i below row i into (beta, 0, …).
    Tensor alpha = a.select(-1, i).select(-1, i), below = a.select(-1, i).narrow(-1, i + 1, m - i - 1);
    const Tensor length = linalg_vector_norm(below, 2, IntArrayRef({-1})), nothing = length == 0;
    const Tensor beta = where(nothing, alpha, -copysign(hypot(alpha, length), alpha));
    const Tensor t = ((beta - alpha) / beta).masked_fill(nothing, 0);
    below.copy_(below / (alpha - beta).masked_fill(nothing, 1).unsqueeze(-1));
    const Tensor v = cat({ones_like(alpha).unsqueeze(-1), below}, -1).unsqueeze(-1);
    if (i + 1 < n) {
      Tensor rest = a.narrow(-2, i, m - i).narrow(-1, i + 1, n - i - 1);
      rest.sub_((v * t.unsqueeze(-1).unsqueeze(-1)).matmul(v.mT().matmul(rest)));
    }
    alpha.copy_(beta);
    tau.select(-1, i).copy_(t);
  }
  return {a, tau};
}

}  // namespace hb
