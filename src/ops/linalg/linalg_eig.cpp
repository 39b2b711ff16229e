// Eigenvalues and eigenvectors of general and of hermitian matrices.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record_some.h"
#include "backend/decompositions.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/linalg/decompositions.h"

namespace hb {
namespace {

/// Values and, where `wanted`, vectors, without history.
TensorTuple2 eig_forward(const Tensor& self, bool wanted) {
  NoGradGuard no_history;
  check_matrices("linalg.eig", self, true, Refused::halves_by_kernel);
  check_finite("torch.linalg.eig", self, "input tensor should not contain infs or NaNs.");
  const ScalarType dtype = to_complex_type(self.scalar_type());
  const int64_t n = self.size(-1);
  const Tensor values = empty(batch_sizes(self, {n}), self.options().dtype(dtype)), info = no_info(self);
  const Tensor vectors = wanted ? by_columns(self, n, n, dtype) : Tensor();
  if (self.numel() > 0)
    eig_kernel(self.device())(as_stack(self), as_rows(values), wanted ? as_stack(vectors) : vectors, info);
  check_info("linalg.eig", info, HB_NO_CONVERGENCE("eigenvalues"));
  return {values, vectors};
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
  auto [values, vectors] = eig_forward(self, true);
  if (needs_grad(self))
    record_some("LinalgEigBackward0", {&values, &vectors}, {&self},
                {SavedTensor::output(values, 0), SavedTensor::output(vectors, 1)},
                [of_complex = self.is_complex()](Backward& b, const variable_list& s) -> variable_list {
                  const Tensor &gl = b.grad(0), &gv = b.grad(1);
                  if (!gl.defined() && !gv.defined()) return {gl};
                  const Tensor g = gv.defined() ? eig_gradient(gl.defined() ? gl : zeros_like(s[0]), gv, s[0], s[1])
                                                : turned_back(s[1], diag_embed(gl));
                  return {of_complex ? g : real(g)};
                });
  return {values, vectors};
}

Tensor linalg_eigvals(const Tensor& self) {
  HB_AUTOCAST(linalg_eigvals, fp32, as_is, self);
  auto [values, vectors] = eig_forward(self, needs_grad(self));
  if (needs_grad(self))
    record("LinalgEigBackward0", values, {&self}, {SavedTensor::input(vectors)},
           [of_complex = self.is_complex()](Backward& b, auto& s) {
             const Tensor g = turned_back(s[0], diag_embed(b.grad()));
             return ops::gradients(of_complex ? g : real(g));
           });
  return values;
}

namespace {

/// Values and, where `wanted`, vectors, without history.
TensorTuple2 eigh_forward(const Tensor& a, std::string_view uplo, bool wanted) {
  check_matrices("linalg.eigh", a, true, Refused::by_kernel);
  HB_CHECK(uplo == "L" || uplo == "U" || uplo == "l" || uplo == "u",
           "Expected UPLO argument to be 'L' or 'U', but got ", uplo);
  NoGradGuard no_grad;
  const int64_t n = a.size(-1);
  const Tensor values = empty(batch_sizes(a, {n}), a.options().dtype(to_real_type(a.scalar_type()))), info = no_info(a);
  const Tensor vectors = wanted ? by_columns(a, n, n) : Tensor();
  if (a.numel() > 0)
    eigh_kernel(a.device())(as_stack(a), uplo == "U" || uplo == "u", as_rows(values),
                            wanted ? as_stack(vectors) : vectors, info);
  check_info("linalg.eigh", info, HB_NO_CONVERGENCE("eigenvalues"));
  return {values, vectors};
}

/// Only hermitian changes of A are meant: the gradient is hermitian.
Tensor eigh_gradient(const Tensor& gl, const Tensor& gv, const Tensor& l, const Tensor& v) {
  const Tensor gaps = l.unsqueeze(-2) - l.unsqueeze(-1) + eye(l.size(-1), l.options());
  Tensor turned = v.mH().matmul(gv);
  turned = (turned - turned.mH()) * 0.5;
  if (v.is_complex()) {
    const Tensor phase = imag(turned.diagonal(0, -2, -1));
    HB_CHECK(allclose(phase, zeros_like(phase), 1e-2, 1e-2),
             "linalg_eigh_backward: The eigenvectors in the complex case are specified up to multiplication by e^{i "
             "phi}. The specified loss function depends on this quantity, so it is ill-defined.");
    turned = turned - diag_embed(turned.diagonal(0, -2, -1));
  }
  return v.matmul(turned / gaps + diag_embed(gl)).matmul(v.mH());
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& a, std::string_view uplo) {
  HB_AUTOCAST(linalg_eigh, fp32, as_is, a, uplo);
  auto [values, vectors] = eigh_forward(a, uplo, true);
  if (needs_grad(a))
    record_some("LinalgEighBackward0", {&values, &vectors}, {&a},
                {SavedTensor::output(values, 0), SavedTensor::output(vectors, 1)},
                [](Backward& b, const variable_list& s) -> variable_list {
                  const Tensor &gl = b.grad(0), &gv = b.grad(1);
                  if (!gv.defined()) return {gl.defined() ? (s[1] * gl.unsqueeze(-2)).matmul(s[1].mH()) : gl};
                  return {eigh_gradient(gl.defined() ? gl : zeros_like(s[0]), gv, s[0], s[1])};
                });
  return {values, vectors};
}

Tensor linalg_eigvalsh(const Tensor& a, std::string_view uplo) {
  HB_AUTOCAST(linalg_eigvalsh, fp32, as_is, a, uplo);
  if (needs_grad(a)) return std::get<0>(linalg_eigh(a, uplo));
  return std::get<0>(eigh_forward(a, uplo, false));
}

}  // namespace hb
