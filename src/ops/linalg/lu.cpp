// LU: factors, their parts, solutions with them.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "backend/decompositions.h"
#include "core/warnings.h"
#include "ops/linalg/decompositions.h"

namespace hb {
namespace {

/// Tr(A) for a triangle of A: X of U X = B and its siblings, whose other triangle is not read.
Tensor solve_lower(const Tensor& l, const Tensor& b) { return linalg_solve_triangular(l, b, false, true, true); }
Tensor solve_lower_h(const Tensor& l, const Tensor& b) { return linalg_solve_triangular(l.mH(), b, true, true, true); }
/// X U^H = B
Tensor divide_upper_h(const Tensor& b, const Tensor& u) { return linalg_solve_triangular(u.mH(), b, false, false); }

/// The gradient of A (m, n) = P L U, from those of L (m, k) below its diagonal and of U (k, n).
Tensor lu_gradient(const Tensor& p, const Tensor& l, const Tensor& u, const Tensor& gl, const Tensor& gu) {
  const int64_t m = l.size(-2), n = u.size(-1), k = l.size(-1);
  if (m == n) {
    const Tensor inner = l.mH().matmul(gl).tril(-1) + gu.matmul(u.mH()).triu();
    return p.matmul(solve_lower_h(l, divide_upper_h(inner, u)));
  }
  if (m < n) {  // the first k columns are factored, the others are L^-1 P^T A
    const Tensor u1 = u.narrow(-1, 0, k), u2 = u.narrow(-1, k, n - k);
    const Tensor gu1 = gu.narrow(-1, 0, k).triu(), gu2 = gu.narrow(-1, k, n - k);
    const Tensor inner = (l.mH().matmul(gl) - gu2.matmul(u2.mH())).tril(-1) + gu1.matmul(u1.mH()).triu();
    return p.matmul(cat({solve_lower_h(l, divide_upper_h(inner, u1)), solve_lower_h(l, gu2)}, -1));
  }
  const Tensor l1 = l.narrow(-2, 0, k), l2 = l.narrow(-2, k, m - k);
  const Tensor gl1 = gl.narrow(-2, 0, k), gl2 = gl.narrow(-2, k, m - k);
  const Tensor inner = l1.mH().matmul(gl1).tril(-1) + (gu.matmul(u.mH()) - l2.mH().matmul(gl2)).triu();
  return p.matmul(cat({solve_lower_h(l1, divide_upper_h(inner, u)), divide_upper_h(gl2, u)}, -2));
}

void check_pivots(const char* name, const Tensor& lu, const Tensor& pivots) {
  HB_CHECK(lu.dim() >= 2, name, ": expected matrices, got ", lu.sizes());
  HB_CHECK(pivots.scalar_type() == kInt, name, ": pivots should be a Tensor of scalar type torch.int32, got ",
           pivots.scalar_type());
  HB_CHECK(pivots.sizes().equals(batch_sizes(lu, {std::min(lu.size(-1), lu.size(-2))})), name,
           ": Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape ", pivots.sizes(),
           " for ", lu.sizes());
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& a, bool pivot, bool check_errors) {
  check_matrices("linalg.lu_factor", a, false, Refused::by_kernel);
  HB_CHECK(pivot, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  Tensor lu = by_columns(a, m, n), pivots = empty(batch_sizes(a, {k}), a.options().dtype(kInt)), info = no_info(a);
  if (a.numel() > 0) {
    NoGradGuard no_grad;
    lu_factor_kernel(a.device())(as_stack(a), as_stack(lu), as_rows(pivots), info);
  }
  if (check_errors)
    check_info("linalg.lu_factor", info,
               "U[{},{}] is zero and using it on lu_solve would result in a division by zero. If you still want to "
               "perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
  if (needs_grad(a))
    record("LinalgLuFactorExBackward0", lu, {&a}, {SavedTensor::output(lu), SavedTensor::input(pivots)},
           [](Backward& b, auto& s) -> variable_list {
             const auto [p, l, u] = lu_unpack(s[0], s[1]);
             const int64_t k = l.size(-1);
             const Tensor g = b.grad();
             return {lu_gradient(p, l, u, g.narrow(-1, 0, k).tril(-1), g.narrow(-2, 0, k).triu())};
           });
  return {lu, pivots, info};
}
std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& a, bool pivot) {
  const auto [lu, pivots, info] = linalg_lu_factor_ex(a, pivot, true);
  return {lu, pivots};
}

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& lu_data, const Tensor& lu_pivots, bool unpack_data,
                                             bool unpack_pivots) {
  HB_DEFINED(lu_unpack, lu_data, lu_pivots);
  if (unpack_pivots) check_pivots("lu_unpack", lu_data, lu_pivots);
  const int64_t m = lu_data.size(-2), n = lu_data.size(-1), k = std::min(m, n);
  const Tensor none = empty({0}, lu_data.options());
  Tensor l = none, u = none, p = none;
  if (unpack_data) {
    l = lu_data.narrow(-1, 0, k).tril(-1) + eye(m, k, lu_data.options());
    u = lu_data.narrow(-2, 0, k).triu();
  }
  if (unpack_pivots) {
    NoGradGuard no_grad;
    Tensor order = empty(batch_sizes(lu_data, {m}), lu_pivots.options().dtype(kLong));
    if (order.numel() > 0) pivot_order_kernel(lu_pivots.device())(as_rows(lu_pivots), as_rows(order));
    p = zeros(batch_sizes(lu_data, {m, m}), lu_data.options()).scatter_(-2, order.unsqueeze(-2), 1);
  }
  return {p, l, u};
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& a, bool pivot) {
  const auto [lu, pivots, info] = linalg_lu_factor_ex(a, pivot, false);
  return lu_unpack(lu, pivots);
}

namespace {
Tensor solve_with_lu(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool adjoint) {
  Tensor x = by_columns(b, b.size(-2), b.size(-1));
  if (x.numel() > 0) {
    NoGradGuard no_grad;
    lu_solve_kernel(lu.device())(as_stack(lu), as_rows(pivots).contiguous(), as_stack(b), as_stack(x),
                                 adjoint ? MatrixForm::adjoint : MatrixForm::plain);
  }
  if (needs_grad(b))
    record("LinalgLuSolveBackward0", x, {&b}, {SavedTensor::input(lu), SavedTensor::input(pivots)},
           [adjoint](Backward& back, auto& s) -> variable_list {
             return {linalg_lu_solve(s[0], s[1], back.grad(), true, !adjoint)};
           });
  return x;
}
}  // namespace

Tensor linalg_lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint) {
  HB_DEFINED(linalg_lu_solve, lu, pivots, b);
  check_matrices("linalg.lu_solve", lu, true, Refused::halves_by_kernel);
  HB_CHECK(b.dim() >= 2, "linalg.lu_solve: The input tensor B must have at least 2 dimensions.");
  HB_CHECK(lu.scalar_type() == b.scalar_type(),
           "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type ", lu.scalar_type(),
           " and B of type ", b.scalar_type(), " instead");
  check_pivots("linalg.lu_solve", lu, pivots);
  if (!left) return linalg_lu_solve(lu, pivots, b.mH(), true, !adjoint).mH();
  HB_CHECK(lu.size(-1) == b.size(-2), "linalg.lu_solve: Incompatible shapes of A and B for the equation AX = B (",
           lu.size(-2), "x", lu.size(-1), " and ", b.size(-2), "x", b.size(-1), ")");
  const Tensor wide = with_batch_of(lu, b), right = with_batch_of(b, wide);
  const Tensor swaps = pivots.expand(batch_sizes(wide, {pivots.size(-1)}));
  if (!needs_grad(lu)) return solve_with_lu(wide, swaps, right, adjoint);
  const auto [p, l, u] = lu_unpack(wide, swaps);
  if (adjoint) return matmul(p, solve_lower_h(l, linalg_solve_triangular(u.mH(), right, false)));
  return linalg_solve_triangular(u, solve_lower(l, matmul(p.mT(), right)), true);
}
Tensor lu_solve(const Tensor& self, const Tensor& lu_data, const Tensor& lu_pivots) {
  HB_AUTOCAST(lu_solve, fp32, as_is, self, lu_data, lu_pivots);
  HB_WARN_ONCE(
      "torch.lu_solve is deprecated in favor of torch.linalg.lu_solve and will be removed in a future release.");
  return linalg_lu_solve(lu_data, lu_pivots, self);
}

}  // namespace hb
