// Eigenvalues and eigenvectors of general matrices.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "backend/decompositions.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb {
namespace {

TensorTuple2 eig_forward(const Tensor& self) {
  NoGradGuard no_history;
  HB_CHECK(self.dim() >= 2, "linalg.eig: The input tensor A must have at least 2 dimensions.");
  HB_CHECK(self.size(-1) == self.size(-2), "linalg.eig: A must be batches of square matrices, but they are ",
           self.size(-2), " by ", self.size(-1), " matrices");
  const ScalarType t = self.scalar_type();
  HB_CHECK(t == kFloat || t == kDouble || self.is_complex(),
           "linalg.eig: Expected a floating point or complex tensor as input. Got ", t);
  HB_CHECK(isfinite(self).all().item().toBool(), "torch.linalg.eig: input tensor should not contain infs or NaNs.");
  const int64_t n = self.size(-1), count = n == 0 ? 0 : self.numel() / (n * n);
  const Tensor a = self.detach().to(kComplexDouble, false, true).reshape({count, n, n}).contiguous();
  const Tensor values = empty({count, n}, a.options()), vectors = empty({count, n, n}, a.options());
  const Tensor info = zeros({count}, a.options().dtype(kLong));
  if (count > 0) eig_kernel(self.device())(a, !self.is_complex(), values, vectors, info);
  HB_CHECK(!info.any().item().toBool(),
           "linalg.eig: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
           "repeated eigenvalues.");
  return {values.view(self.sizes().slice(0, self.dim() - 1)).to(to_complex_type(t)),
          vectors.view(self.sizes()).to(to_complex_type(t))};
}

/// V^-H X V^H
Tensor turned_back(const Tensor& v, const Tensor& x) { return linalg_solve(v.mH(), x.matmul(v.mH())); }

/// Eigenvectors are defined up to a phase: a loss that depends on it has no gradient.
Tensor eig_gradient(const Tensor& gl, const Tensor& gv, const Tensor& l, const Tensor& v) {
  const Tensor turned = v.mH().matmul(gv);
  const Tensor own = real(turned.diagonal(0, -2, -1)).unsqueeze(-2);
  const Tensor gaps = conj(l.unsqueeze(-2) - l.unsqueeze(-1)) + eye(l.size(-1), l.options());
  const Tensor mixed = (turned - v.mH().matmul(v) * own) / gaps;
  const Tensor others = ones_like(mixed) - eye(l.size(-1), l.options());
  return turned_back(v, mixed * others + diag_embed(gl));
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self) {
  HB_AUTOCAST(linalg_eig, fp32, as_is, self);
  auto [values, vectors] = eig_forward(self);
  if (needs_grad(self))
    record_many("LinalgEigBackward0", {&values, &vectors}, {&self},
                {SavedTensor::output(values, 0), SavedTensor::output(vectors, 1)},
                [](Backward& b, const variable_list& s) -> variable_list {
                  return {eig_gradient(b.grad(0), b.grad(1), s[0], s[1])};
                });
  return {values, vectors};
}

Tensor linalg_eigvals(const Tensor& self) {
  HB_AUTOCAST(linalg_eigvals, fp32, as_is, self);
  auto [values, vectors] = eig_forward(self);
  if (needs_grad(self))
    record("LinalgEigBackward0", values, {&self}, {SavedTensor::input(vectors)},
           [](Backward& b, auto& s) { return ops::gradients(turned_back(s[0], diag_embed(b.grad()))); });
  return values;
}

}  // namespace hb
