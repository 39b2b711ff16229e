// Condition numbers, factorisations that report, reflections, systems in other shapes.
#include <cmath>

#include "parity/case.h"

using torch::Tensor;

namespace {
// Well conditioned: the identity dominates.
Tensor matrix(parity::Case& c, std::vector<int64_t> shape, torch::Dtype dtype = torch::kDouble) {
  const auto n = shape.back();
  return (c.randn(std::move(shape), torch::kDouble) * 0.3 + 2 * torch::eye(n, torch::kDouble))
      .to(dtype)
      .requires_grad_();
}
Tensor singular() { return torch::tensor({{1.0, 2.0}, {2.0, 4.0}}, torch::kDouble); }
const parity::Dtypes kSingleDouble{torch::kFloat, torch::kDouble};
}  // namespace

PARITY_CASE(linear_systems, cond) {
  c.tolerance(torch::kFloat, 1e-4, 1e-5);  // a quotient of singular values, each exact to their largest
  c.for_dtypes(kSingleDouble, [&](torch::Dtype dtype) {
    auto a = matrix(c, {2, 4, 4}, dtype);
    c.gradients("default", {a}, [&] { return torch::linalg_cond(a); });
    c.gradients("minus_two", {a}, [&] { return torch::linalg_cond(a, -2); });
    // LibTorch changes the inverse in place, and so has no gradient of these.
    c.out("one", torch::linalg_cond(a.detach(), 1));
    c.out("inf", torch::linalg_cond(a.detach(), -INFINITY));
    c.out("fro", torch::linalg_cond(a.detach(), "fro"));
    c.gradients("nuc", {a}, [&] { return torch::linalg_cond(a, "nuc"); });
    c.out("wide", torch::linalg_cond(c.randn({3, 5}, dtype), 2));
  });
  c.out("singular", torch::linalg_cond(singular(), 1));
  c.out("empty", torch::linalg_cond(torch::zeros({2, 0, 0})));
  c.throws("not_square", [&] { torch::linalg_cond(c.randn({3, 5}), 1); });
  c.throws("vector", [&] { torch::linalg_cond(c.randn({3})); });
}

PARITY_CASE(linear_systems, reporting) {
  c.for_dtypes(kSingleDouble, [&](torch::Dtype dtype) {
    auto a = matrix(c, {2, 3, 3}, dtype), b = c.leaf({2, 3, 2}, dtype);
    c.gradients("inv", {a}, [&] { return std::get<0>(torch::linalg_inv_ex(a)); });
    c.gradients("solve", {a, b}, [&] { return std::get<0>(torch::linalg_solve_ex(a, b)); });
    c.out("solve_right", std::get<0>(torch::linalg_solve_ex(a.detach(), b.detach().transpose(-2, -1), false)));
    c.gradients("cholesky", {a}, [&] { return std::get<0>(torch::linalg_cholesky_ex(a.matmul(a.transpose(-2, -1)))); });
    c.out("cholesky_upper", std::get<0>(torch::linalg_cholesky_ex(a.detach().matmul(a.detach().mT()), true)));
    const auto [lu, pivots, info] = torch::linalg_lu_factor_ex(a.detach());
    c.out("lu", lu);
    c.out("pivots", pivots);
    c.out("info", info);
    c.out("inv_info", std::get<1>(torch::linalg_inv_ex(a)));
    c.out("solve_info", std::get<1>(torch::linalg_solve_ex(a, b)));
  });
  const auto bad = singular(), mixed = torch::stack({torch::eye(2, torch::kDouble), bad});
  c.out("failed_inv", std::get<1>(torch::linalg_inv_ex(bad)));
  c.out("failed_batch", std::get<1>(torch::linalg_inv_ex(mixed)));
  c.out("failed_solve", std::get<1>(torch::linalg_solve_ex(mixed, torch::ones({2, 2}, torch::kDouble))));
  c.out("failed_cholesky", std::get<1>(torch::linalg_cholesky_ex(-mixed)));
  c.out("failed_lu", std::get<2>(torch::linalg_lu_factor_ex(bad)));
  c.throws("inv", [&] { torch::linalg_inv_ex(bad, true); });
  c.throws("solve", [&] { torch::linalg_solve_ex(bad, torch::ones({2}, torch::kDouble), true, true); });
  c.throws("cholesky", [&] { torch::linalg_cholesky_ex(-mixed, false, true); });
  c.throws("lu", [&] { torch::linalg_lu_factor_ex(bad, true, true); });
  c.throws("not_square", [&] { torch::linalg_inv_ex(c.randn({2, 3})); });
}

PARITY_CASE(linear_systems, reflections) {
  c.for_dtypes(kSingleDouble, [&](torch::Dtype dtype) {
    for (const auto& shape : std::vector<std::vector<int64_t>>{{5, 3}, {3, 3}, {2, 4, 3}, {3, 5}, {1, 1}, {4, 1}})
      c.scope(std::to_string(shape.size()) + std::to_string(shape.end()[-2]) + std::to_string(shape.back()), [&] {
        const auto [a, tau] = torch::geqrf(c.randn(shape, dtype));
        c.out("a", a);
        c.out("tau", tau);
      });
    auto v = c.leaf({2, 5, 3}, dtype), t = c.leaf({2, 3}, dtype), few = c.leaf({2, 2}, dtype);
    c.gradients("product", {v, t}, [&] { return torch::linalg_householder_product(v, t); });
    c.gradients("product_few", {v, few}, [&] { return torch::linalg_householder_product(v, few); });
    c.out("orgqr", v.orgqr(t));
    auto x = c.leaf({2, 5, 4}, dtype);
    for (const bool transpose : {false, true}) {
      const std::string name = transpose ? "_transposed" : "";
      c.gradients("ormqr" + name, {v, t, x}, [&] { return torch::ormqr(v, t, x, true, transpose); });
      c.out("ormqr_right" + name, v.ormqr(t, x.transpose(-2, -1), false, transpose));
    }
  });
  c.out("zero_column", std::get<1>(torch::geqrf(torch::tensor({{2.0, 1.0}, {0.0, 3.0}}))));
  const auto v = c.randn({5, 3});
  c.throws("wide", [&] { torch::linalg_householder_product(c.randn({3, 5}), c.randn({3})); });
  c.throws("taus", [&] { torch::linalg_householder_product(v, c.randn({4})); });
  c.throws("dtype", [&] { torch::linalg_householder_product(v, c.randn({3}, torch::kDouble)); });
  c.throws("rows", [&] { torch::ormqr(v, c.randn({3}), c.randn({4, 2})); });
}

PARITY_CASE(linear_systems, tensors) {
  auto a = (c.randn({2, 3, 6}, torch::kDouble) + 3 * torch::eye(6, torch::kDouble).view({2, 3, 6})).requires_grad_();
  auto b = c.leaf({2, 3}, torch::kDouble);
  c.gradients("inverse", {a}, [&] { return torch::linalg_tensorinv(a); });
  c.out("inverse_1", torch::linalg_tensorinv(a.detach().reshape({6, 3, 2}), 1));
  c.gradients("solve", {a, b}, [&] { return torch::linalg_tensorsolve(a, b); });
  c.out("solve_dims",
        torch::linalg_tensorsolve(a.detach().permute({2, 0, 1}).reshape({3, 2, 2, 3}), b.detach(), {0, 1}));
  c.throws("shape", [&] { torch::linalg_tensorinv(c.randn({2, 3, 5})); });
  c.throws("ind", [&] { torch::linalg_tensorinv(c.randn({2, 3, 6}), 0); });
  c.throws("solve_shape", [&] { torch::linalg_tensorsolve(c.randn({2, 3, 5}), c.randn({2, 3})); });
}

PARITY_CASE(linear_systems, vander) {
  auto x = c.leaf({2, 4}, torch::kDouble);
  c.gradients("y", {x}, [&] { return torch::linalg_vander(x); });
  c.out("columns", torch::linalg_vander(x.detach(), 6));
  c.out("integers", torch::linalg_vander(c.randint(-3, 4, {4}, torch::kInt), 3));
  c.throws("columns_one", [&] { torch::linalg_vander(x, 1); });
  c.throws("number", [&] { torch::linalg_vander(torch::tensor(2.0)); });
}

PARITY_CASE(linear_systems, triangles) {
  auto a = matrix(c, {3, 3}), b = c.leaf({2, 3, 2}, torch::kDouble);
  for (const bool upper : {true, false})
    for (const bool transpose : {true, false})
      for (const bool unit : {true, false})
        c.scope(std::to_string(upper) + std::to_string(transpose) + std::to_string(unit), [&] {
          c.gradients("y", {a, b}, [&] { return std::get<0>(torch::triangular_solve(b, a, upper, transpose, unit)); });
          c.out("a", std::get<1>(b.detach().triangular_solve(a.detach(), upper, transpose, unit)));
        });
  c.throws("vector", [&] { torch::triangular_solve(c.randn({3}), c.randn({3, 3})); });
}

PARITY_CASE(linear_systems, norms) {
  auto v = c.leaf({3, 4, 5});
  c.gradients("first", {v}, [&] { return torch::norm_except_dim(v); });
  c.gradients("last", {v}, [&] { return torch::norm_except_dim(v, 2, 2); });
  c.gradients("middle", {v}, [&] { return torch::norm_except_dim(v, 1, 1); });
  c.gradients("all", {v}, [&] { return torch::norm_except_dim(v, 2, -1); });
  auto a = c.leaf({4, 3}, torch::kDouble);
  c.gradients("nuclear", {a}, [&] { return torch::nuclear_norm(a); });
  c.out("nuclear_keepdim", torch::nuclear_norm(a.detach(), true));
  c.out("nuclear_dims", torch::nuclear_norm(v.detach(), torch::IntArrayRef({0, 2}), true));
  c.out("nuclear_batch", torch::nuclear_norm(v.detach()));
}
