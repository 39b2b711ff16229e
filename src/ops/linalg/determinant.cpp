// Determinants, from the diagonal of U.
#include <limits>
#include <tuple>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "ops/linalg/decompositions.h"

namespace hb {
namespace {

struct Diagonal {
  Tensor values;  // (…, n)
  Tensor sign;    // (…): -1 for an odd number of exchanges
  Tensor lu, pivots;
};
Diagonal diagonal_of(const Tensor& a) {
  const auto [lu, pivots, info] = linalg_lu_factor_ex(a.detach(), true, false);
  const Tensor exchanged = pivots != arange(1, a.size(-1) + 1, pivots.options());
  return {lu.diagonal(0, -2, -1), (1 - 2 * exchanged.sum(-1).remainder(2)).to(a.scalar_type()), lu, pivots};
}

/// A^-H, with A's factors unless the gradient is to have one.
Tensor inverse_adjoint(const Tensor& a, const Tensor& lu, const Tensor& pivots) {
  if (GradMode::is_enabled()) return linalg_inv(a).mH();
  return linalg_lu_solve(lu, pivots, eye(a.size(-1), a.options())).mH();
}

Tensor per_matrix(const Tensor& t) { return t.unsqueeze(-1).unsqueeze(-1); }

/// g times d det / d A, conjugated: the matrix of cofactors. Where A is regular it is det^* A^-H.
Tensor det_gradient(const Tensor& g, const Tensor& a, const Tensor& det, const Tensor& lu, const Tensor& pivots) {
  if (!(det == 0).any().item<bool>()) return per_matrix(g * conj(det)) * inverse_adjoint(a, lu, pivots);
  // A = U S V^H: cofactors are the phase of U V^H times U diag(products of the other singular values) V^H.
  auto [u, s, vh] = linalg_svd(a, false);
  const int64_t n = a.size(-1);
  std::vector<Tensor> others;
  for (int64_t i = 0; i < n; ++i) {
    Tensor product = ones_like(s.select(-1, 0));
    for (int64_t k = 0; k < n; ++k)
      if (k != i) product = product * s.select(-1, k);
    others.push_back(product);
  }
  const Tensor phase = conj(linalg_det(u) * linalg_det(vh));
  return per_matrix(g * phase) * (u * stack(others, -1).unsqueeze(-2)).matmul(vh);
}

std::pair<Tensor, Tensor> sign_and_log(const Tensor& a, const Diagonal& d) {
  const Tensor size = abs(d.values);
  const Tensor phases = a.is_complex() ? where(size == 0, zeros_like(d.values), d.values / size) : sign(d.values);
  return {phases.prod(-1) * d.sign, log(size).sum(-1)};
}

}  // namespace

Tensor linalg_det(const Tensor& a) {
  check_matrices("linalg.det", a, true, Refused::halves_by_kernel);
  Tensor out;
  Diagonal d;
  {
    NoGradGuard no_grad;
    d = diagonal_of(a);
    out = d.values.prod(-1) * d.sign;
  }
  if (needs_grad(a))
    record("LinalgDetBackward0", out, {&a},
           {SavedTensor::input(a), SavedTensor::output(out), SavedTensor::input(d.lu), SavedTensor::input(d.pivots)},
           [](Backward& b, auto& s) -> variable_list { return {det_gradient(b.grad(), s[0], s[1], s[2], s[3])}; });
  return out;
}
Tensor det(const Tensor& self) { return linalg_det(self); }

Tensor logdet(const Tensor& self) {
  check_matrices("logdet", self, true);
  Tensor out, phase;
  Diagonal d;
  {
    NoGradGuard no_grad;
    d = diagonal_of(self);
    Tensor size;
    std::tie(phase, size) = sign_and_log(self, d);
    out = self.is_complex() ? log(phase) + size
                            : where(phase < 0, full_like(size, std::numeric_limits<double>::quiet_NaN()), size);
  }
  if (needs_grad(self))
    record(
        "LogdetBackward0", out, {&self},
        {SavedTensor::input(self), SavedTensor::input(d.lu), SavedTensor::input(d.pivots), SavedTensor::input(phase)},
        [](Backward& b, auto& s) -> variable_list {
          // Where there is no logarithm, nothing depends on the matrix.
          const Tensor g = s[0].is_complex() ? b.grad() : b.grad().masked_fill(s[3] < 0, 0);
          return {per_matrix(g) * inverse_adjoint(s[0], s[1], s[2])};
        });
  return out;
}

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& a) {
  check_matrices("linalg.slogdet", a, true);
  Diagonal d;
  Tensor sign, log;
  {
    NoGradGuard no_grad;
    d = diagonal_of(a);
    std::tie(sign, log) = sign_and_log(a, d);
  }
  if (!needs_grad(a)) return {sign, log};
  record_many(
      "LinalgSlogdetBackward0", {&sign, &log}, {&a},
      {SavedTensor::input(a), SavedTensor::output(sign, 0), SavedTensor::input(d.lu), SavedTensor::input(d.pivots)},
      [](Backward& b, const variable_list& s) -> variable_list {
        // A real sign does not change.
        const Tensor turn = s[1].is_complex() ? imag(conj(b.grad(0)) * s[1]) : Tensor();
        const Tensor both = turn.defined() ? complex(b.grad(1), neg(turn)) : b.grad(1);
        return {per_matrix(both) * inverse_adjoint(s[0], s[2], s[3])};
      });
  return {sign, log};
}
std::tuple<Tensor, Tensor> slogdet(const Tensor& self) { return linalg_slogdet(self); }

}  // namespace hb
