// L D L^T of symmetric and hermitian matrices.
#include "parity/bad.h"
#include "parity/case.h"

namespace {

/// A hermitian matrix whose factorisation exchanges rows.
torch::Tensor hermitian(parity::Case& c, parity::Shape shape, torch::Dtype dtype) {
  const torch::Tensor a = c.any(shape, dtype);
  return a + a.mH();
}

void check(parity::Case& c, const torch::Tensor& a, bool conjugated) {
  const auto [ld, pivots, info] = torch::linalg_ldl_factor_ex(a, conjugated);
  c.out("ld", ld);
  c.layout("layout", ld);
  c.out("pivots", pivots);
  c.out("info", info);
  const torch::Tensor b = c.any({a.size(-1), 3}, a.scalar_type());
  const torch::Tensor x = torch::linalg_ldl_solve(ld, pivots, b, conjugated);
  c.out("x", x);
  c.layout("layout of x", x);
  c.out("b", a.matmul(x));
}

}  // namespace

PARITY_CASE(ldl, factors) {
  c.tolerance(1e-4, 1e-4);
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    for (const int64_t n : {1, 2, 5, 40})
      c.scope(std::to_string(n), [&] { check(c, hermitian(c, {n, n}, dtype), false); });
    c.scope("stack", [&] { check(c, hermitian(c, {2, 3, 4, 4}, dtype), false); });
    c.scope("rows turned around", [&] {
      check(c, hermitian(c, {3, 4, 4}, dtype).transpose(0, 1).contiguous().transpose(0, 1), true);
    });
    c.scope("the upper triangle is not read", [&] { check(c, hermitian(c, {4, 4}, dtype), true); });
  });
}

PARITY_CASE(ldl, complex) {
  c.for_dtypes({torch::kComplexFloat, torch::kComplexDouble}, [&](torch::Dtype dtype) {
    const torch::Tensor a = hermitian(c, {2, 6, 6}, dtype);
    c.scope("hermitian", [&] { check(c, a, true); });
    c.scope("symmetric", [&] { check(c, a + a.mT(), false); });
  });
}

PARITY_CASE(ldl, batches) {
  const torch::Tensor a = hermitian(c, {2, 4, 4}, torch::kDouble);
  const auto [ld, pivots] = torch::linalg_ldl_factor(a);
  c.out("one right side", torch::linalg_ldl_solve(ld, pivots, c.randn({4, 2}, torch::kDouble)));
  c.out("one matrix", torch::linalg_ldl_solve(ld[0], pivots[0], c.randn({3, 4, 2}, torch::kDouble)));
  c.out("pivots of int64", torch::linalg_ldl_solve(ld[0], pivots[0].to(torch::kLong), c.randn({4, 1}, torch::kDouble)));
  c.out("no right side", torch::linalg_ldl_solve(ld[0], pivots[0], c.randn({4, 0}, torch::kDouble)));
  const auto [none, no_pivots, no_info] = torch::linalg_ldl_factor_ex(c.randn({0, 3, 3}));
  c.layout("none", none);
  c.layout("no pivots", no_pivots);
  c.out("no info", no_info);
  c.out("singular", std::get<2>(torch::linalg_ldl_factor_ex(torch::zeros({2, 3, 3}, c.randn({1}).options()))));
}

PARITY_CASE(ldl, out_forms) {
  const torch::Tensor a = hermitian(c, {4, 4}, torch::kDouble), b = c.randn({4, 2}, torch::kDouble);
  torch::Tensor ld = torch::empty({0}, a.options()), pivots = torch::empty({0}, a.options().dtype(torch::kInt)),
                info = torch::empty({0}, a.options().dtype(torch::kInt)), x = torch::empty({0}, a.options());
  torch::linalg_ldl_factor_out(ld, pivots, a);
  c.out("ld", ld);
  c.out("pivots", pivots);
  torch::linalg_ldl_factor_ex_outf(a, false, true, ld, pivots, info);
  c.out("info", info);
  c.out("x", torch::linalg_ldl_solve_out(x, ld, pivots, b));
  c.out("the same", torch::linalg_ldl_solve_outf(ld, pivots, b, false, x));
  torch::Tensor floats = torch::empty({0}, a.options().dtype(torch::kFloat));
  SAYS("Expected out tensor to have dtype", torch::linalg_ldl_solve_out(floats, ld, pivots, b));
  SAYS("Expected out tensor to have dtype", torch::linalg_ldl_factor_out(floats, pivots, a));
}

PARITY_CASE(ldl, refused) {
  const torch::Tensor a = hermitian(c, {3, 3}, torch::kDouble), b = c.randn({3, 2}, torch::kDouble);
  const auto [ld, pivots] = torch::linalg_ldl_factor(a);
  SAYS("must be batches of square matrices", torch::linalg_ldl_factor(c.randn({2, 3})));
  SAYS("must have at least 2 dimensions", torch::linalg_ldl_factor(c.randn({2})));
  SAYS("Expected a floating point or complex tensor", torch::linalg_ldl_factor(torch::ones({2, 2}, torch::kLong)));
  SAYS("not implemented for 'Half'", torch::linalg_ldl_factor(torch::ones({2, 2}, torch::kHalf)));
  BAD(torch::linalg_ldl_factor(torch::zeros({2, 2})));
  BAD(torch::linalg_ldl_factor_ex(torch::zeros({2, 2}), false, true));
  SAYS("Incompatible matrix sizes for torch.linalg.ldl_solve", torch::linalg_ldl_solve(ld, pivots, b.mT()));
  SAYS("Expected pivots to be integers", torch::linalg_ldl_solve(ld, pivots.to(torch::kDouble), b));
  SAYS("Expected LD.shape[:-1] and pivots.shape to be the same", torch::linalg_ldl_solve(ld, pivots.slice(0, 0, 2), b));
  SAYS("to have the same dtype", torch::linalg_ldl_solve(ld, pivots, b.to(torch::kFloat)));
  SAYS("must be batches of square matrices", torch::linalg_ldl_solve(ld.slice(0, 0, 2), pivots, b));
  BAD(torch::linalg_ldl_solve(ld, pivots, b.select(1, 0)));
  torch::Tensor leaf = a.clone().requires_grad_();
  SAYS("is not implemented", std::get<0>(torch::linalg_ldl_factor(leaf)).sum().backward());
  torch::Tensor right = b.clone().requires_grad_();
  SAYS("is not implemented", torch::linalg_ldl_solve(ld, pivots, right).sum().backward());
}
