// Cholesky factors, and what is solved with them.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "backend/decompositions.h"
#include "core/warnings.h"
#include "ops/linalg/decompositions.h"

namespace hb {
namespace {

/// L^-H (lower half of L^H g, its diagonal halved, made hermitian) L^-1
Tensor cholesky_gradient(const Tensor& l, const Tensor& g) {
  Tensor half = l.mH().matmul(g).tril();
  half = half - diag_embed(half.diagonal(0, -2, -1)) * 0.5;
  const Tensor left = linalg_solve_triangular(l.mH(), (half + half.mH()) * 0.5, true);
  return linalg_solve_triangular(l, left, false, /*left=*/false);
}

std::pair<Tensor, Tensor> cholesky_of(const Tensor& a, bool upper, bool check) {
  check_matrices("linalg.cholesky", a, true);
  Tensor factor = by_columns(a, a.size(-1), a.size(-1)), info = no_info(a);
  if (a.numel() > 0) {
    NoGradGuard no_grad;
    cholesky_kernel(a.device())(as_stack(a), as_stack(factor), upper, info);
  }
  if (check)
    check_info("linalg.cholesky", info,
               "The factorization could not be completed because the input is not positive-definite (the leading minor "
               "of order {} is not positive-definite).");
  if (needs_grad(a))
    record("LinalgCholeskyExBackward0", factor, {&a}, {SavedTensor::output(factor)},
           [upper](Backward& b, auto& s) -> variable_list {
             return {upper ? cholesky_gradient(s[0].mH(), b.grad().mH()) : cholesky_gradient(s[0], b.grad())};
           });
  return {factor, info};
}

/// The gradient of a factor of A from that of A.
Tensor factor_gradient(const Tensor& ga, const Tensor& factor, bool upper) {
  const Tensor both = ga + ga.mH();
  return upper ? factor.matmul(both) : both.matmul(factor);
}

}  // namespace

Tensor linalg_cholesky(const Tensor& a, bool upper) {
  HB_AUTOCAST(linalg_cholesky, fp32, as_is, a, upper);
  return cholesky_of(a, upper, true).first;
}
std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
  HB_AUTOCAST(linalg_cholesky_ex, fp32, as_is, self, upper, check_errors);
  return cholesky_of(self, upper, check_errors);
}
Tensor cholesky(const Tensor& self, bool upper) {
  HB_AUTOCAST(cholesky, fp32, as_is, self, upper);
  HB_WARN_ONCE(
      "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future release.");
  check_matrices("cholesky", self, true, Refused::by_kernel);
  return linalg_cholesky(self, upper);
}

Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper) {
  HB_AUTOCAST(cholesky_solve, fp32, as_is, self, input2, upper);
  check_matrices("cholesky_solve", input2, true, Refused::by_kernel);
  HB_CHECK(self.dim() >= 2, "b should have at least 2 dimensions, but has ", self.dim(), " dimensions instead");
  check_same_matrices("cholesky_solve", input2, self);
  HB_CHECK(input2.size(-1) == self.size(-2), "Incompatible matrix sizes for cholesky_solve: each A matrix is ",
           input2.size(-1), " by ", input2.size(-1), " but each b matrix is ", self.size(-2), " by ", self.size(-1));
  const Tensor factor = with_batch_of(input2, self), right = with_batch_of(self, factor);
  Tensor x = by_columns(right, right.size(-2), right.size(-1));
  if (x.numel() > 0) {
    NoGradGuard no_grad;
    cholesky_solve_kernel(factor.device())(as_stack(factor), as_stack(right), as_stack(x), upper);
  }
  if (needs_grad(right, factor))
    record("CholeskySolveBackward0", x, {&right, &factor}, {SavedTensor::input(factor), SavedTensor::output(x)},
           [upper](Backward& b, auto& s) -> variable_list {
             const Tensor gb = cholesky_solve(b.grad(), s[0], upper);
             return {gb, b.needs(1) ? factor_gradient(neg(gb.matmul(s[1].mH())), s[0], upper) : Tensor()};
           });
  return x;
}

Tensor cholesky_inverse(const Tensor& self, bool upper) {
  HB_AUTOCAST(cholesky_inverse, fp32, as_is, self, upper);
  check_matrices("cholesky_inverse", self, true, Refused::by_kernel);
  Tensor inverse = by_columns(self, self.size(-1), self.size(-1));
  if (self.numel() > 0) {
    NoGradGuard no_grad;
    cholesky_inverse_kernel(self.device())(as_stack(self), as_stack(inverse), upper);
  }
  if (needs_grad(self))
    record("CholeskyInverseBackward0", inverse, {&self}, {SavedTensor::input(self), SavedTensor::output(inverse)},
           [upper](Backward& b, auto& s) -> variable_list {
             return {factor_gradient(neg(s[1].matmul(b.grad()).matmul(s[1])), s[0], upper)};
           });
  return inverse;
}

}  // namespace hb
