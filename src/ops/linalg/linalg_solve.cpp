// Solutions of systems of equations, inverses, triangular systems.
#include <tuple>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "backend/decompositions.h"
#include "ops/linalg/decompositions.h"

namespace hb {
namespace {

#define HB_SINGULAR(what) \
  "The diagonal element {} is zero, the " what " could not be completed because the input matrix is singular."

struct Solution {
  Tensor x, lu, pivots, info;
};

/// X of A X = B for stacks of one batch, without history.
Solution solve_matrices(const Tensor& a, const Tensor& b) {
  NoGradGuard no_grad;
  Solution s;
  std::tie(s.lu, s.pivots, s.info) = linalg_lu_factor_ex(a.detach(), true, false);
  s.x = by_columns(a, b.size(-2), b.size(-1));
  if (s.x.numel() > 0)
    lu_solve_kernel(a.device())(as_stack(s.lu), as_rows(s.pivots), as_stack(b), as_stack(s.x), MatrixForm::plain);
  return s;
}

std::pair<Tensor, Tensor> inverse_of(const Tensor& a, bool check) {
  check_matrices("linalg.inv", a, true);
  const Solution s = solve_matrices(a, eye(a.size(-1), a.options()).expand(a.sizes()));
  if (check) check_info("linalg.inv", s.info, HB_SINGULAR("inversion"));
  Tensor out = s.x;
  if (needs_grad(a))
    record("LinalgInvExBackward0", out, {&a}, {SavedTensor::output(out)}, [](Backward& b, auto& s) -> variable_list {
      const Tensor turned = s[0].mH();
      return {neg(turned.matmul(b.grad()).matmul(turned))};
    });
  return {out, s.info};
}

/// A^-H g, with A's factors unless the gradient is to have one.
Tensor solve_adjoint(const Tensor& a, const Tensor& lu, const Tensor& pivots, const Tensor& g) {
  return GradMode::is_enabled() ? linalg_solve(a.mH(), g) : linalg_lu_solve(lu, pivots, g, true, /*adjoint=*/true);
}

std::pair<Tensor, Tensor> solution_of(const Tensor& a, const Tensor& b, bool left, bool check) {
  check_matrices("linalg.solve", a, true, Refused::halves_by_kernel);
  HB_CHECK(b.dim() >= 1, "linalg.solve: The input tensor B must have at least 1 dimension.");
  check_same_matrices("linalg.solve", a, b);
  const bool vectors = is_vectors(a, b);
  HB_CHECK(left || !vectors,
           "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case "
           "linalg.solve is equivalent to B / A.squeeze(-1)");
  if (vectors) {
    const auto [x, info] = solution_of(a, b.unsqueeze(-1), true, check);
    return {x.squeeze(-1), info};
  }
  if (!left) {
    const auto [x, info] = solution_of(a.transpose(-2, -1), b.transpose(-2, -1), true, check);
    return {x.transpose(-2, -1), info};
  }
  HB_CHECK(a.size(-1) == b.size(-2), "linalg.solve: Incompatible shapes of A and B for the equation AX = B (",
           a.size(-2), "x", a.size(-1), " and ", b.size(-2), "x", b.size(-1), ")");
  const Tensor wide = with_batch_of(a, b), right = with_batch_of(b, wide);
  const Solution s = solve_matrices(wide, right);
  if (check) check_info("linalg.solve", s.info, HB_SINGULAR("solve"));
  Tensor x = s.x;
  if (needs_grad(wide, right))
    record("LinalgSolveExBackward0", x, {&wide, &right},
           {SavedTensor::input(wide), SavedTensor::output(x), SavedTensor::input(s.lu), SavedTensor::input(s.pivots)},
           [](Backward& back, auto& s) -> variable_list {
             const Tensor gb = solve_adjoint(s[0], s[2], s[3], back.grad());
             return {back.needs(0) ? neg(gb.matmul(s[1].mH())) : Tensor(), gb};
           });
  return {x, s.info};
}

}  // namespace

Tensor linalg_inv(const Tensor& a) {
  HB_AUTOCAST(linalg_inv, fp32, as_is, a);
  return inverse_of(a, true).first;
}
std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& a, bool check_errors) {
  HB_AUTOCAST(linalg_inv_ex, fp32, as_is, a, check_errors);
  return inverse_of(a, check_errors);
}
Tensor inverse(const Tensor& self) {
  HB_AUTOCAST(inverse, fp32, as_is, self);
  return inverse_of(self, true).first;
}

Tensor linalg_solve(const Tensor& a, const Tensor& b, bool left) {
  HB_AUTOCAST(linalg_solve, fp32, as_is, a, b, left);
  return solution_of(a, b, left, true).first;
}
std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& a, const Tensor& b, bool left, bool check_errors) {
  HB_FUNCTION(linalg_solve_ex, a, b, left, check_errors);
  return solution_of(a, b, left, check_errors);
}

Tensor linalg_solve_triangular(const Tensor& self, const Tensor& b, bool upper, bool left, bool unitriangular) {
  HB_ONE_DEVICE(linalg_solve_triangular, self, b);
  check_matrices("linalg.solve_triangular", self, true, Refused::by_kernel);
  HB_CHECK(b.dim() >= 2, "linalg.solve_triangular: The input tensor B must have at least 2 dimensions.");
  check_same_matrices("linalg.solve_triangular", self, b);
  HB_CHECK(self.size(-1) == b.size(left ? -2 : -1), "linalg.solve_triangular: Incompatible shapes of A and B for the ",
           "equation ", left ? "AX = B (" : "XA = B (", self.size(-2), "x", self.size(-1), " and ", b.size(-2), "x",
           b.size(-1), ")");
  const Tensor a = with_batch_of(self, b), right = with_batch_of(b, a);
  Tensor x = by_columns(right, b.size(-2), b.size(-1));
  if (x.numel() > 0) {
    NoGradGuard no_grad;
    solve_triangular_kernel(a.device())(as_stack(a), as_stack(right), as_stack(x), upper, left, unitriangular);
  }
  if (needs_grad(a, right))
    record("LinalgSolveTriangularBackward0", x, {&a, &right}, {SavedTensor::input(a), SavedTensor::output(x)},
           [upper, left, unitriangular](Backward& back, auto& s) -> variable_list {
             const Tensor gb = linalg_solve_triangular(s[0].mH(), back.grad(), !upper, left, unitriangular);
             if (!back.needs(0)) return {Tensor(), gb};
             const Tensor ga = neg(left ? gb.matmul(s[1].mH()) : s[1].mH().matmul(gb));
             return {upper ? ga.triu(unitriangular) : ga.tril(unitriangular ? -1 : 0), gb};
           });
  return x;
}

}  // namespace hb
