// Inverses, determinants and decompositions; those that are unique up to signs are compared by what does not
// depend on them.
#include <algorithm>
#include <cmath>

#include "parity/case.h"

namespace {

using torch::Tensor;

const parity::Dtypes kReal{torch::kFloat, torch::kDouble};

void loose(parity::Case& c) {
  c.tolerance(torch::kFloat, 2e-5, 5e-6);  // LibTorch computes in float what is computed in double here
}
// Well conditioned.
// The eigenvalues of random numbers lie within the root of their order.
Tensor regular(parity::Case& c, parity::Shape shape, torch::Dtype dtype) {
  auto a = c.randn(shape, dtype);
  const double shift = std::max(3.0, 2 * std::sqrt(static_cast<double>(shape.back())));
  return (a + shift * torch::eye(shape.back(), dtype)).detach().requires_grad_();
}
Tensor positive(parity::Case& c, parity::Shape shape, torch::Dtype dtype) {
  auto a = c.randn(shape, dtype);
  return (a.matmul(a.transpose(-2, -1)) + torch::eye(shape.back(), dtype)).detach().requires_grad_();
}

}  // namespace

PARITY_CASE(linalg, norms_by_order) {
  c.for_dtypes(kReal, [&](torch::Dtype dtype) {
    loose(c);
    const auto a = c.leaf({3, 4}, dtype), v = c.leaf({5}, dtype), batch = c.leaf({2, 3, 4}, dtype);
    c.gradients("none", {batch}, [&] { return torch::linalg_norm(batch); });
    for (const double order : std::vector<double>{1, -1, 2, -2, INFINITY, -INFINITY}) {
      c.gradients("matrix" + std::to_string(order), {a}, [&] { return torch::linalg_norm(a, order); });
      c.gradients("vector" + std::to_string(order), {v}, [&] { return torch::linalg_norm(v, order); });
      c.out("dims" + std::to_string(order), torch::linalg_norm(batch, order, at::IntArrayRef({2, 0}), true));
      c.out("row" + std::to_string(order), torch::linalg_norm(batch, order, at::IntArrayRef({-1})));
    }
  });
  c.throws("order", [&] { torch::linalg_norm(c.randn({3, 3}), 3); });
  c.throws("rank", [&] { torch::linalg_norm(c.randn({3, 3, 3}), 2); });
  c.throws("dims", [&] { torch::linalg_norm(c.randn({3, 3}), 2, at::IntArrayRef({0, 0})); });
}

PARITY_CASE(linalg, vander) {
  const auto x = c.randn({4}, torch::kDouble);
  c.out("square", torch::vander(x));
  c.out("increasing", torch::vander(x, 3, true));
  c.out("integers", torch::vander(torch::tensor({1, 2, 3}, torch::kInt), 4));
  c.out("none", torch::vander(x, 0));
}

PARITY_CASE(linalg, not_finite) { c.shape_only("eigh", std::get<0>(torch::linalg_eigh(torch::full({2, 2}, NAN)))); }

PARITY_CASE(linalg, inverse) {
  loose(c);
  c.for_dtypes(kReal, [&](torch::Dtype dtype) {
    for (int64_t n : {1, 2, 5, 40}) {
      auto a = regular(c, {n, n}, dtype);
      c.gradients("n" + std::to_string(n), {a}, [&] { return torch::inverse(a); });
    }
    auto batch = regular(c, {2, 3, 4, 4}, dtype);
    c.gradients("batch", {batch}, [&] { return torch::linalg_inv(batch); });
    c.gradients("transposed", {batch}, [&] { return batch.transpose(-2, -1).inverse(); });
    c.out("empty", torch::inverse(torch::zeros({0, 0}, dtype)));
  });
  auto a = regular(c, {3, 3}, torch::kDouble);
  c.gradcheck([&] { return torch::inverse(a); }, {a});
  c.gradgradcheck([&] { return torch::inverse(a); }, {a});
  c.throws("singular", [] { torch::inverse(torch::ones({2, 2})); });
  c.throws("rectangular", [] { torch::inverse(torch::ones({2, 3})); });
  c.throws("vector", [] { torch::inverse(torch::ones({2})); });
  c.throws("long", [] { torch::inverse(torch::ones({2, 2}, torch::kLong)); });
  c.throws("half", [] { torch::inverse(torch::ones({2, 2}, torch::kHalf)); });
}

PARITY_CASE(linalg, det) {
  loose(c);
  c.for_dtypes(kReal, [&](torch::Dtype dtype) {
    for (int64_t n : {1, 2, 5, 12}) {
      auto a = regular(c, {n, n}, dtype);
      c.gradients("n" + std::to_string(n), {a}, [&] { return torch::det(a); });
    }
    auto batch = regular(c, {2, 3, 4, 4}, dtype);
    c.gradients("batch", {batch}, [&] { return torch::det(batch); });
    auto spd = positive(c, {3, 4, 4}, dtype);
    c.gradients("logdet", {spd}, [&] { return torch::logdet(spd); });
    c.out("negative", torch::logdet(-torch::eye(3, dtype)));
    c.out("singular", torch::det(torch::ones({3, 3}, dtype)));
    c.out("empty", torch::det(torch::zeros({0, 0}, dtype)));
  });
  auto a = regular(c, {3, 3}, torch::kDouble);
  c.gradcheck([&] { return torch::det(a); }, {a});
  c.gradgradcheck([&] { return torch::det(a); }, {a});
}

PARITY_CASE(linalg, cholesky) {
  loose(c);
  c.for_dtypes(kReal, [&](torch::Dtype dtype) {
    auto a = positive(c, {5, 5}, dtype);
    c.gradients("lower", {a}, [&] { return torch::linalg_cholesky(a); });
    auto batch = positive(c, {2, 3, 3}, dtype);
    c.gradients("batch", {batch}, [&] { return torch::linalg_cholesky(batch); });
    c.out("upper", torch::linalg_cholesky(a, true));
  });
  c.throws("indefinite", [] { torch::linalg_cholesky(-torch::eye(3)); });
}

PARITY_CASE(linalg, solve) {
  loose(c);
  c.for_dtypes(kReal, [&](torch::Dtype dtype) {
    auto a = regular(c, {4, 4}, dtype), b = c.leaf({4, 3}, dtype), v = c.leaf({4}, dtype);
    c.gradients("matrix", {a, b}, [&] { return torch::linalg_solve(a, b); });
    c.gradients("vector", {a, v}, [&] { return torch::linalg_solve(a, v); });
    auto batch = regular(c, {2, 4, 4}, dtype);
    auto vectors = c.leaf({2, 4}, dtype);
    c.gradients("batch", {batch, vectors}, [&] { return torch::linalg_solve(batch, vectors); });
    c.gradients("broadcast", {batch, b}, [&] { return torch::linalg_solve(batch, b); });
    auto right = c.leaf({3, 4}, dtype);
    c.gradients("right", {a, right}, [&] { return torch::linalg_solve(a, right, false); });
  });
  c.throws("singular", [] { torch::linalg_solve(torch::ones({2, 2}), torch::ones({2})); });
}

PARITY_CASE(linalg, qr) {
  loose(c);
  c.for_dtypes(kReal, [&](torch::Dtype dtype) {
    for (auto shape : {parity::Shape{5, 3}, {3, 5}, {4, 4}, {2, 6, 3}, {30, 20}}) {
      const auto name = std::to_string(shape[0]) + "x" + std::to_string(shape[1]);
      auto a = c.leaf(shape, dtype);
      c.gradients(name + "q", {a}, [&] { return std::get<0>(torch::linalg_qr(a)); });
      c.gradients(name + "r", {a}, [&] { return std::get<1>(torch::linalg_qr(a)); });
    }
    auto plain = c.randn({5, 3}, dtype);
    auto complete = torch::linalg_qr(plain, "complete");
    c.out("complete_q", std::get<0>(complete));
    c.out("complete_r", std::get<1>(complete));
    c.out("r_only", std::get<1>(torch::linalg_qr(plain, "r")));
    c.out("qr", std::get<0>(torch::qr(plain)));
  });
  c.throws("mode", [&] { torch::linalg_qr(c.randn({3, 3}), "other"); });
}

PARITY_CASE(linalg, eigh) {
  loose(c);
  c.for_dtypes(kReal, [&](torch::Dtype dtype) {
    auto a = positive(c, {5, 5}, dtype);
    c.gradients("values", {a}, [&] { return std::get<0>(torch::linalg_eigh(a)); });
    c.gradients("vectors", {a}, [&] { return std::get<1>(torch::linalg_eigh(a)).square(); });
    auto batch = positive(c, {2, 3, 3}, dtype);
    c.out("batch", std::get<0>(torch::linalg_eigh(batch)));
    c.out("upper", std::get<0>(torch::linalg_eigh(c.randn({4, 4}, dtype), "U")));
    c.out("large", std::get<0>(torch::linalg_eigh(positive(c, {60, 60}, dtype))));
  });
}

PARITY_CASE(linalg, svd) {
  loose(c);
  c.for_dtypes(kReal, [&](torch::Dtype dtype) {
    for (auto shape : {parity::Shape{5, 3}, {3, 5}, {4, 4}, {2, 6, 3}}) {
      const auto name = std::to_string(shape[0]) + "x" + std::to_string(shape[1]);
      auto a = c.leaf(shape, dtype);
      c.gradients(name + "s", {a}, [&] { return std::get<1>(torch::linalg_svd(a, false)); });
      c.gradients(name + "u", {a}, [&] { return std::get<0>(torch::linalg_svd(a, false)).square(); });
      c.gradients(name + "vh", {a}, [&] { return std::get<2>(torch::linalg_svd(a, false)).square(); });
      auto [u, s, v] = torch::svd(a.detach());
      c.out(name + "again", u.matmul(s.diag_embed()).matmul(v.transpose(-2, -1)));
    }
    auto [u, s, vh] = torch::linalg_svd(c.randn({5, 3}, dtype));
    c.out("full", u.matmul(u.t()));
    c.out("deficient", std::get<1>(torch::svd(torch::ones({4, 3}, dtype))));
  });
}

PARITY_CASE(linalg, powers) {
  loose(c);
  c.for_dtypes(kReal, [&](torch::Dtype dtype) {
    auto a = regular(c, {3, 3}, dtype);
    for (int64_t n : {-2, 0, 1, 2, 5})
      c.gradients("power" + std::to_string(n), {a}, [&] { return torch::matrix_power(a, n) + 0 * a; });
    c.gradients("trace", {a}, [&] { return torch::trace(a); });
  });
}

PARITY_CASE(linalg, derived) {
  loose(c);
  c.for_dtypes(kReal, [&](torch::Dtype dtype) {
    auto a = regular(c, {4, 4}, dtype), spd = positive(c, {3, 3}, dtype);
    c.gradients("eigvalsh", {spd}, [&] { return torch::linalg_eigvalsh(spd); });
    c.gradients("svdvals", {a}, [&] { return torch::linalg_svdvals(a); });
    c.gradients("slogdet", {a}, [&] { return std::get<1>(torch::slogdet(a)); });
    c.out("sign", std::get<0>(torch::linalg_slogdet(-a)));
    for (auto shape : {parity::Shape{5, 3}, {3, 5}, {2, 3, 3}}) {
      auto m = c.leaf(shape, dtype);
      c.gradients("pinverse" + std::to_string(shape[0]), {m}, [&] { return torch::pinverse(m); });
    }
    auto lu = torch::linalg_lu_factor(a.detach());
    c.out("lu", std::get<0>(lu));
    c.out("pivots", std::get<1>(lu));
    c.out("matrix_power", torch::linalg_matrix_power(a, 3));
  });
  c.throws("lu", [] { torch::linalg_lu_factor(torch::ones({2, 2})); });
}

PARITY_CASE(linalg, triangular) {
  loose(c);
  c.for_dtypes(kReal, [&](torch::Dtype dtype) {
    auto a = regular(c, {4, 4}, dtype), batch = regular(c, {2, 3, 3}, dtype);
    auto b = c.leaf({4, 2}, dtype), rows = c.leaf({2, 4}, dtype), column = c.leaf({3, 2}, dtype);
    for (bool upper : {false, true})
      for (bool unit : {false, true}) {
        const auto name = std::string(upper ? "upper" : "lower") + (unit ? "_unit" : "");
        c.gradients(name, {a, b}, [&] { return torch::linalg_solve_triangular(a, b, upper, true, unit); });
        c.gradients(name + "_right", {a, rows},
                    [&] { return torch::linalg_solve_triangular(a, rows, upper, false, unit); });
        c.gradients(name + "_batch", {batch, column},
                    [&] { return torch::linalg_solve_triangular(batch, column, upper, true, unit); });
      }
    // B is matrices whatever its size is: two rows here are no batch of vectors.
    c.out("matrices", torch::linalg_solve_triangular(batch.detach(), c.randn({3, 3}, dtype), true));
    c.out("zero_on_diagonal", torch::linalg_solve_triangular(torch::tensor({{1., 2.}, {0., 0.}}, dtype),
                                                             torch::tensor({{1.}, {1.}}, dtype), true));
    c.out("empty", torch::linalg_solve_triangular(torch::zeros({0, 0}, dtype), torch::zeros({0, 2}, dtype), true));
  });
  c.throws("shapes", [] { torch::linalg_solve_triangular(torch::eye(3), torch::ones({2, 1}), true); });
  c.throws("vector", [] { torch::linalg_solve_triangular(torch::eye(3), torch::ones({3}), true); });
}
