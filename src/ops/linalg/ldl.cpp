// L D L^T of symmetric and hermitian matrices.
#include <halfbridge/ops.h>

#include "backend/decompositions.h"
#include "core/function_watch.h"
#include "ops/common/without_gradient.h"
#include "ops/linalg/decompositions.h"

namespace hb {
namespace {

void check_ldl(const char* name, const Tensor& a) { check_matrices(name, a, true, Refused::halves_by_kernel); }

/// What check_matrices cannot see: the factors and the right-hand sides fit each other.
void check_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b) {
  constexpr const char* name = "torch.linalg.ldl_solve";
  check_ldl(name, ld);
  HB_CHECK(b.dim() >= 2, name, ": Expected B to have at least 2 dimensions, but it has ", b.dim(),
           " dimensions instead");
  HB_CHECK(ld.size(-1) == b.size(-2), "Incompatible matrix sizes for ", name, ": each A matrix is ", ld.size(-1),
           " by ", ld.size(-1), " but each b matrix is ", b.size(-2), " by ", b.size(-1));
  HB_CHECK(pivots.dim() >= 1 && pivots.sizes().equals(ld.sizes().slice(0, ld.dim() - 1)), name,
           ": Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape ", pivots.sizes(),
           " instead");
  HB_CHECK(is_integral_type(pivots.scalar_type(), false), name, ": Expected pivots to be integers. Got ",
           pivots.scalar_type());
  HB_CHECK(ld.scalar_type() == b.scalar_type(), "Expected b and A to have the same dtype, but found b of type ",
           b.scalar_type(), " and A of type ", ld.scalar_type(), " instead.");
}

/// LAPACK's sytrs exchanges rows unchecked, and reads two pivots for a block of two rows.
void check_pivots(const Tensor& rows) {
  const Tensor pivots = rows.to(kCPU).contiguous();
  const int64_t n = pivots.size(1);
  const auto* p = pivots.const_data_ptr<int32_t>();
  for (int64_t b = 0; b < pivots.size(0); ++b, p += n)
    for (int64_t i = 0; i < n; ++i) {
      HB_CHECK(p[i] != 0 && p[i] >= -n && p[i] <= n, "[linalg.ldl_solve] expected pivots between 1 and ", n, " or ", -n,
               " and -1, got ", p[i]);
      if (p[i] > 0) continue;
      HB_CHECK(i + 1 < n && p[i + 1] < 0 && p[i + 1] >= -n,
               "[linalg.ldl_solve] expected negative pivots in pairs, as linalg.ldl_factor gives them, got ", p[i],
               " alone at row ", i);
      ++i;
    }
}

}  // namespace

TensorTuple3 linalg_ldl_factor_ex(const Tensor& self, bool hermitian, bool check_errors) {
  HB_FUNCTION(linalg_ldl_factor_ex, self, hermitian, check_errors);
  check_ldl("torch.linalg.ldl_factor_ex", self);
  const int64_t n = self.size(-1);
  Tensor ld = by_columns(self, n, n), pivots = empty(batch_sizes(self, {n}), self.options().dtype(kInt)),
         info = no_info(self);
  if (self.numel() > 0) {
    NoGradGuard no_grad;
    ldl_factor_kernel(self.device())(as_stack(self), as_stack(ld), as_rows(pivots), hermitian, info);
  }
  if (check_errors) check_info("torch.linalg.ldl_factor", info, "D has a zero on its diagonal at {}: A is singular");
  return {ops::without_gradient("linalg_ldl_factor_ex", ld, self), pivots, info};
}
TensorTuple2 linalg_ldl_factor(const Tensor& self, bool hermitian) {
  const auto [ld, pivots, info] = linalg_ldl_factor_ex(self, hermitian, true);
  return {ld, pivots};
}

Tensor linalg_ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b, bool hermitian) {
  HB_FUNCTION(linalg_ldl_solve, ld, pivots, b, hermitian);
  check_solve(ld, pivots, b);
  const Tensor wide = with_batch_of(ld, b), right = with_batch_of(b, wide);
  Tensor x = by_columns(right, right.size(-2), right.size(-1));
  if (x.numel() > 0) {
    NoGradGuard no_grad;
    const Tensor rows = as_rows(pivots.expand(batch_sizes(wide, {pivots.size(-1)})).to(kInt)).contiguous();
    check_pivots(rows);
    ldl_solve_kernel(wide.device())(as_stack(wide), rows, as_stack(right), as_stack(x), hermitian);
  }
  return ops::without_gradient("linalg_ldl_solve", x, ld, right);
}

}  // namespace hb
