// Decompositions of complex, large, stacked, ill-conditioned, empty and singular matrices, and their gradients. What is
// unique up to signs or phases is compared by what does not depend on them.
#include <cmath>

#include "parity/case.h"

using torch::Tensor;

namespace {

const parity::Dtypes kNumbers{torch::kFloat, torch::kDouble, torch::kComplexFloat, torch::kComplexDouble};
const parity::Dtypes kExact{torch::kDouble, torch::kComplexDouble};

void loose(parity::Case& c) {
  // Both compute in float, each in an order of its own.
  c.tolerance(torch::kFloat, 1e-3, 1e-4);
  c.tolerance(torch::kComplexFloat, 1e-3, 1e-4);
  c.tolerance(torch::kDouble, 1e-9, 1e-10);
  c.tolerance(torch::kComplexDouble, 1e-9, 1e-10);
}
Tensor numbers(parity::Case& c, parity::Shape shape, torch::Dtype dtype) {
  if (!torch::isComplexType(dtype)) return c.randn(shape, dtype);
  const auto part = dtype == torch::kComplexFloat ? torch::kFloat : torch::kDouble;
  const Tensor re = c.randn(shape, part);
  return torch::complex(re, c.randn(shape, part));
}
Tensor leaf(parity::Case& c, parity::Shape shape, torch::Dtype dtype) {
  return numbers(c, std::move(shape), dtype).requires_grad_();
}
/// Its eigenvalues lie near n.
Tensor regular(parity::Case& c, parity::Shape shape, torch::Dtype dtype) {
  const auto n = shape.back();
  return numbers(c, std::move(shape), dtype) + std::sqrt(double(n)) * 2 * torch::eye(n, dtype);
}
Tensor positive(parity::Case& c, parity::Shape shape, torch::Dtype dtype) {
  const auto n = shape.back();
  const Tensor a = numbers(c, std::move(shape), dtype);
  return a.matmul(a.mH()) / double(n) + torch::eye(n, dtype);
}
std::string sized(const parity::Shape& shape) {
  std::string s;
  for (const int64_t n : shape) s += (s.empty() ? "" : "x") + std::to_string(n);
  return s;
}
void near(parity::Case& c, const Tensor& got, const Tensor& expected, const std::string& what) {
  const bool single = torch::toRealValueType(got.scalar_type()) == torch::kFloat;
  const double size = expected.numel() > 0 ? expected.abs().max().item().toDouble() : 0;
  const double away = expected.numel() > 0 ? (got - expected).abs().max().item().toDouble() : 0;
  c.check(away <= (single ? 5e-4 : 1e-10) * (1 + size), what + ": off by " + std::to_string(away));
}

}  // namespace

PARITY_CASE(decompositions, lu) {
  loose(c);
  c.for_dtypes(kNumbers, [&](torch::Dtype dtype) {
    for (const auto& shape : std::vector<parity::Shape>{{4, 4}, {3, 5}, {5, 3}, {2, 3, 4, 4}, {64, 64}}) {
      const Tensor a = numbers(c, shape, dtype);
      const auto [lu, pivots] = torch::linalg_lu_factor(a);
      c.out(sized(shape) + " lu", lu);
      c.out(sized(shape) + " pivots", pivots);
      const auto [p, l, u] = torch::linalg_lu(a);
      near(c, p.matmul(l).matmul(u), a, sized(shape) + " P L U");
      c.out(sized(shape) + " p", p);
    }
    const Tensor a = regular(c, {2, 5, 5}, dtype), b = numbers(c, {2, 5, 3}, dtype), one = numbers(c, {5, 2}, dtype);
    const auto [lu, pivots] = torch::linalg_lu_factor(a);
    for (const bool adjoint : {false, true}) {
      const std::string name = adjoint ? " adjoint" : " plain";
      c.out("solve" + name, torch::linalg_lu_solve(lu, pivots, b, true, adjoint));
      c.out("solve one" + name, torch::linalg_lu_solve(lu, pivots, one, true, adjoint));
      c.out("solve right" + name, torch::linalg_lu_solve(lu, pivots, b.mT().contiguous(), false, adjoint));
    }
  });
  const Tensor bad = torch::ones({2, 2}, torch::kDouble);
  c.out("singular u", std::get<2>(torch::linalg_lu(bad)));
  c.throws("few pivots", [&] { torch::lu_unpack(bad, torch::ones({1}, torch::kInt)); });
  c.throws("long pivots", [&] { torch::linalg_lu_solve(bad, torch::ones({2}, torch::kLong), bad); });
  c.throws("zero pivots", [&] { torch::linalg_lu_solve(bad, torch::zeros({2}, torch::kInt), bad); });
  c.throws("large pivots", [&] { torch::linalg_lu_solve(bad, torch::full({2}, 3, torch::kInt), bad); });
  c.throws("dtypes", [&] { torch::linalg_lu_solve(bad, torch::ones({2}, torch::kInt), torch::ones({2, 2})); });
}

PARITY_CASE(decompositions, lu_gradients) {
  loose(c);
  c.for_dtypes(kExact, [&](torch::Dtype dtype) {
    for (const auto& shape : std::vector<parity::Shape>{{4, 4}, {3, 5}, {5, 3}, {2, 3, 3}}) {
      const Tensor a = leaf(c, shape, dtype);
      c.gradients(sized(shape) + " factor", {a}, [&] { return std::get<0>(torch::linalg_lu_factor(a)); });
      c.gradients(sized(shape) + " l", {a}, [&] { return std::get<1>(torch::linalg_lu(a)); });
      c.gradients(sized(shape) + " u", {a}, [&] { return std::get<2>(torch::linalg_lu(a)); });
      c.gradients(sized(shape) + " unpacked", {a}, [&] {
        const auto [lu, pivots] = torch::linalg_lu_factor(a);
        const auto [p, l, u] = torch::lu_unpack(lu, pivots);
        return l.matmul(u);
      });
    }
    const Tensor data = leaf(c, {3, 4}, dtype), pivots = torch::tensor({2, 2, 3}, torch::kInt);
    c.gradients("unpack l", {data}, [&] { return std::get<1>(torch::lu_unpack(data, pivots)); });
    c.gradients("unpack u", {data}, [&] { return std::get<2>(torch::lu_unpack(data, pivots)); });
    const Tensor a = regular(c, {2, 4, 4}, dtype).requires_grad_(), b = leaf(c, {2, 4, 3}, dtype);
    for (const bool adjoint : {false, true})
      c.gradients(adjoint ? "solve adjoint" : "solve", {a, b}, [&] {
        const auto [lu, pivots] = torch::linalg_lu_factor(a);
        return torch::linalg_lu_solve(lu, pivots, b, true, adjoint);
      });
    const auto [lu, order] = torch::linalg_lu_factor(a.detach());
    c.gradients("solve right side", {b}, [&, lu = lu, order = order] { return torch::linalg_lu_solve(lu, order, b); });
  });
  const Tensor a = regular(c, {3, 3}, torch::kDouble).requires_grad_();
  c.gradgradcheck([&] { return std::get<0>(torch::linalg_lu_factor(a)); }, {a});
}

PARITY_CASE(decompositions, systems) {
  loose(c);
  c.for_dtypes(kNumbers, [&](torch::Dtype dtype) {
    for (const auto& shape : std::vector<parity::Shape>{{5, 5}, {3, 4, 4}, {64, 64}, {128, 8, 8}}) {
      const Tensor a = regular(c, shape, dtype).requires_grad_(), b = leaf(c, shape, dtype);
      c.gradients(sized(shape) + " inverse", {a}, [&] { return torch::linalg_inv(a); });
      c.gradients(sized(shape) + " solve", {a, b}, [&] { return torch::linalg_solve(a, b); });
      c.gradients(sized(shape) + " right", {a, b}, [&] { return torch::linalg_solve(a, b, false); });
      c.out(sized(shape) + " vectors", torch::linalg_solve(a, b.select(-1, 0)));
      if (shape.back() < 64) c.gradients(sized(shape) + " det", {a}, [&] { return torch::linalg_det(a / 8); });
      c.gradients(sized(shape) + " log", {a}, [&] { return std::get<1>(torch::linalg_slogdet(a)); });
      if (torch::isComplexType(dtype))
        c.gradients(sized(shape) + " sign", {a}, [&] { return std::get<0>(torch::linalg_slogdet(a)); });
      for (const bool upper : {false, true})
        for (const bool left : {false, true})
          c.gradients(sized(shape) + (upper ? " upper" : " lower") + (left ? " left" : " right"), {a, b},
                      [&] { return torch::linalg_solve_triangular(a, b, upper, left, false); });
      c.out(sized(shape) + " turned", torch::linalg_solve_triangular(a.mT(), b, true));
    }
    c.out("expanded",
          torch::linalg_solve(regular(c, {4, 4}, dtype), numbers(c, {2, 1, 4, 3}, dtype).expand({2, 3, 4, 3})));
    c.out("no columns", torch::linalg_solve(regular(c, {4, 4}, dtype), torch::zeros({4, 0}, dtype)));
    c.out("no rows", torch::linalg_inv(torch::zeros({3, 0, 0}, dtype)));
    c.out("no matrices", torch::linalg_det(torch::zeros({0, 3, 3}, dtype)));
    c.out("det of nothing", torch::linalg_det(torch::zeros({0, 0}, dtype)));
    c.out("singular det", torch::linalg_det(torch::ones({3, 3}, dtype)));
    c.out("singular log", std::get<1>(torch::linalg_slogdet(torch::zeros({3, 3}, dtype))));
    c.out("singular sign", std::get<0>(torch::linalg_slogdet(torch::zeros({3, 3}, dtype))));
    c.out("steps", torch::linalg_inv(regular(c, {8, 8}, dtype).slice(0, 0, 8, 2).slice(1, 0, 8, 2)));
  });
  c.tolerance(torch::kDouble, 1e-3, 1e-3);  // a condition of 1e10
  const Tensor hilbert =
      1 / (torch::arange(1., 9., torch::kDouble).unsqueeze(0) + torch::arange(0., 8., torch::kDouble).unsqueeze(1));
  c.out("hilbert", torch::linalg_solve(hilbert, torch::ones({8}, torch::kDouble)));
  c.throws("inverse of a stack", [] { torch::linalg_inv(torch::zeros({2, 3, 3})); });
}

PARITY_CASE(decompositions, cholesky) {
  loose(c);
  c.for_dtypes(kNumbers, [&](torch::Dtype dtype) {
    for (const auto& shape : std::vector<parity::Shape>{{4, 4}, {2, 3, 3}, {64, 64}, {128, 8, 8}}) {
      const Tensor a = positive(c, shape, dtype).requires_grad_(), b = leaf(c, shape, dtype);
      for (const bool upper : {false, true}) {
        const std::string name = sized(shape) + (upper ? " upper" : " lower");
        c.gradients(name, {a}, [&] { return torch::linalg_cholesky((a + a.mH()) / 2, upper); });
        const Tensor l = torch::linalg_cholesky(a, upper).detach().requires_grad_();
        c.gradients(name + " solve", {b, l}, [&] { return torch::cholesky_solve(b, l, upper); });
        c.gradients(name + " inverse", {l}, [&] { return torch::cholesky_inverse(l, upper); });
      }
    }
    const Tensor bad =
        torch::diag_embed(torch::tensor({{1., 2., 3.}, {1., -2., 3.}, {-1., 0., 1.}}, torch::kDouble)).to(dtype);
    c.out("info", std::get<1>(torch::linalg_cholesky_ex(bad)));
    c.throws("indefinite", [&] { torch::linalg_cholesky(bad); });
    c.out("empty", torch::linalg_cholesky(torch::zeros({2, 0, 0}, dtype)));
  });
  const Tensor a = positive(c, {3, 3}, torch::kDouble).requires_grad_();
  c.gradgradcheck([&] { return torch::linalg_cholesky((a + a.t()) / 2); }, {a});
}

PARITY_CASE(decompositions, orthogonal) {
  loose(c);
  c.for_dtypes(kNumbers, [&](torch::Dtype dtype) {
    for (const auto& shape : std::vector<parity::Shape>{{5, 3}, {4, 4}, {3, 5}, {2, 6, 3}, {80, 64}, {64, 8, 8}}) {
      const Tensor a = leaf(c, shape, dtype);
      c.gradients(sized(shape) + " q", {a}, [&] { return std::get<0>(torch::linalg_qr(a)); });
      c.gradients(sized(shape) + " r", {a}, [&] { return std::get<1>(torch::linalg_qr(a)); });
      const auto [q, r] = torch::linalg_qr(a.detach(), "complete");
      c.out(sized(shape) + " complete", q.narrow(-1, 0, std::min(shape.end()[-2], shape.back())));
      near(c, q.matmul(r), a.detach(), sized(shape) + " Q R");
      near(c, q.mH().matmul(q), torch::eye(q.size(-1), dtype).expand(q.sizes()), sized(shape) + " Q^H Q");
      if (shape.end()[-2] < shape.back()) continue;
      const auto [v, tau] = torch::geqrf(a.detach());
      const Tensor b = numbers(c, {v.size(-2), 3}, dtype).expand([&] {
        parity::Shape s(shape.begin(), shape.end() - 1);
        s.push_back(3);
        return s;
      }());
      c.out(sized(shape) + " v", v);
      c.out(sized(shape) + " tau", tau);
      c.out(sized(shape) + " product", torch::linalg_householder_product(v, tau));
      for (const bool turned : {false, true}) {
        c.out(sized(shape) + " left" + std::to_string(turned), torch::ormqr(v, tau, b, true, turned));
        c.out(sized(shape) + " right" + std::to_string(turned), torch::ormqr(v, tau, b.mT(), false, turned));
      }
    }
    c.out("no columns", std::get<0>(torch::linalg_qr(torch::zeros({3, 0}, dtype), "complete")));
    c.out("no rows", std::get<1>(torch::linalg_qr(torch::zeros({0, 3}, dtype))));
  });
}

PARITY_CASE(decompositions, eigen) {
  loose(c);
  c.for_dtypes(kNumbers, [&](torch::Dtype dtype) {
    for (const auto& shape : std::vector<parity::Shape>{{5, 5}, {2, 3, 4, 4}, {64, 64}, {64, 8, 8}}) {
      const Tensor a = numbers(c, shape, dtype), h = (a + a.mH()) / 2;
      for (const char* triangle : {"L", "U"}) {
        const auto [l, v] = torch::linalg_eigh(a, triangle);  // which triangle is read matters
        c.out(sized(shape) + " values " + triangle, l);
        c.out(sized(shape) + " alone " + triangle, torch::linalg_eigvalsh(a, triangle));
      }
      const auto [l, v] = torch::linalg_eigh(h);
      near(c, h.matmul(v), v * l.unsqueeze(-2), sized(shape) + " A V = V L");
      near(c, v.mH().matmul(v), torch::eye(v.size(-1), dtype).expand(v.sizes()), sized(shape) + " V^H V");
      c.out(sized(shape) + " sizes", v.abs());
      c.layout(sized(shape) + " layout", v);
    }
    const Tensor a = positive(c, {4, 4}, dtype).requires_grad_();
    c.gradients("values", {a}, [&] { return torch::linalg_eigvalsh(a); });
    c.gradients("vectors", {a}, [&] { return std::get<1>(torch::linalg_eigh(a)).abs().pow(3); });
    c.out("empty", torch::linalg_eigvalsh(torch::zeros({2, 0, 0}, dtype)));
    c.out("repeated", torch::linalg_eigvalsh(torch::ones({20, 20}, dtype)));
  });
  c.throws("nan", [] { torch::linalg_eigvalsh(torch::full({2, 3, 3}, NAN)); });
  const Tensor z = leaf(c, {3, 3}, torch::kComplexDouble);
  c.throws("phase",
           [&] { torch::autograd::grad({torch::real(std::get<1>(torch::linalg_eigh(z + z.mH())).sum())}, {z}); });
}

PARITY_CASE(decompositions, singular_values) {
  loose(c);
  c.for_dtypes(kNumbers, [&](torch::Dtype dtype) {
    for (const auto& shape : std::vector<parity::Shape>{{5, 3}, {3, 5}, {4, 4}, {2, 6, 3}, {64, 80}, {64, 8, 8}}) {
      const Tensor a = leaf(c, shape, dtype);
      c.gradients(sized(shape) + " values", {a}, [&] { return torch::linalg_svdvals(a); });
      for (const bool full : {false, true}) {
        const auto [u, s, vh] = torch::linalg_svd(a.detach(), full);
        const auto k = s.size(-1);
        const std::string name = sized(shape) + (full ? " full" : "");
        c.out(name + " s", s);
        near(c, (u.narrow(-1, 0, k) * s.unsqueeze(-2)).matmul(vh.narrow(-2, 0, k)), a.detach(), name + " U S V^H");
        near(c, u.mH().matmul(u), torch::eye(u.size(-1), dtype).expand({u.size(-1), u.size(-1)}), name + " U^H U");
        near(c, vh.matmul(vh.mH()), torch::eye(vh.size(-2), dtype).expand({vh.size(-2), vh.size(-2)}), name + " V^H V");
      }
      if (shape.back() <= 8) {
        c.gradients(sized(shape) + " u", {a}, [&] { return std::get<0>(torch::linalg_svd(a, false)).abs().pow(3); });
        c.gradients(sized(shape) + " vh", {a}, [&] { return std::get<2>(torch::linalg_svd(a, false)).abs().pow(3); });
      }
      // Of many random matrices one is nearly singular, and its inverse's gradient a matter of the last bits.
      const Tensor shifted = torch::eye(shape[shape.size() - 2], shape.back(), dtype) * 4;
      c.gradients(sized(shape) + " pinv", {a}, [&] { return torch::linalg_pinv(a + shifted, 1e-5); });
      c.out(sized(shape) + " rank", torch::linalg_matrix_rank(a.detach()));
      c.out(sized(shape) + " two", torch::linalg_matrix_norm(a.detach(), 2));
      c.out(sized(shape) + " nuclear", torch::linalg_matrix_norm(a.detach(), "nuc"));
    }
    const Tensor h = positive(c, {4, 4}, dtype) - 2 * torch::eye(4, dtype);
    c.out("hermitian pinv", torch::linalg_pinv(h, 1e-5, true));
    for (const bool full : {false, true}) {
      const auto [u, s, vh] = torch::linalg_svd(torch::zeros({2, 3, 0}, dtype), full);
      c.out("empty u" + std::to_string(full), u), c.out("empty s" + std::to_string(full), s);
      c.out("empty vh" + std::to_string(full), vh);
    }
  });
  c.throws("nan", [] { torch::linalg_svd(torch::full({2, 2}, NAN)); });
  c.throws("nan values", [] { torch::linalg_svdvals(torch::full({2, 2}, NAN)); });
  const Tensor z = leaf(c, {3, 3}, torch::kComplexDouble);
  c.throws("phase", [&] { torch::autograd::grad({torch::real(std::get<0>(torch::linalg_svd(z)).sum())}, {z}); });
}

// What vectors bring into a gradient (gaps between values, which may be zero) is not there where they are not used.
PARITY_CASE(decompositions, gradients_of_few_results) {
  loose(c);
  c.for_dtypes(kExact, [&](torch::Dtype dtype) {
    const Tensor equal = (2 * torch::eye(4, dtype)).requires_grad_();
    const Tensor weights = c.randn({4}, torch::kDouble);
    c.out("svd of equal values", torch::autograd::grad({std::get<1>(torch::linalg_svd(equal)).sum()}, {equal})[0]);
    c.out("eigh of equal values", torch::autograd::grad({std::get<0>(torch::linalg_eigh(equal)).sum()}, {equal})[0]);
    const Tensor h = positive(c, {2, 4, 4}, dtype).requires_grad_();
    c.gradients("eigh values", {h}, [&] { return std::get<0>(torch::linalg_eigh(h)); });
    c.gradients("eig values", {h}, [&] { return torch::real(std::get<0>(torch::linalg_eig(h))).sum(-1); });
    const Tensor a = leaf(c, {2, 4, 4}, dtype);
    c.gradients("u and s", {a}, [&] {
      const auto [u, s, vh] = torch::linalg_svd(a);
      return u.abs() * (s * weights).unsqueeze(-2);
    });
  });
  const Tensor a = leaf(c, {2, 4, 4}, torch::kDouble);
  c.gradgradcheck([&] { return std::get<1>(torch::linalg_svd(a)); }, {a});
  c.gradgradcheck([&] { return std::get<0>(torch::linalg_eigh(a + a.mT())); }, {a});
}

PARITY_CASE(decompositions, small_sizes) {
  loose(c);
  c.for_dtypes(kNumbers, [&](torch::Dtype dtype) {
    for (int64_t n = 1; n <= 14; ++n) {
      const Tensor a = regular(c, {3, n, n}, dtype), turned = a.flip({-2});  // every row changes its place
      c.out(std::to_string(n) + " inverse", torch::linalg_inv(turned));
      for (const int64_t columns : {1, 3, 4, 5, 9})
        c.out(std::to_string(n) + " of " + std::to_string(columns),
              torch::linalg_solve(turned, numbers(c, {3, n, columns}, dtype)));
    }
  });
}

PARITY_CASE(decompositions, least_squares) {
  loose(c);
  c.for_dtypes(kNumbers, [&](torch::Dtype dtype) {
    for (const auto& shape : std::vector<parity::Shape>{{6, 3}, {3, 6}, {2, 5, 4}, {64, 40}}) {
      const Tensor a = leaf(c, shape, dtype);
      const Tensor b = leaf(
          c,
          [&] {
            parity::Shape s = shape;
            s.back() = 2;
            return s;
          }(),
          dtype);
      c.gradients(sized(shape), {a, b}, [&] { return std::get<0>(torch::linalg_lstsq(a, b)); });
      for (const char* driver : {"gels", "gelsy", "gelsd", "gelss"}) {
        const auto [x, residuals, rank, values] = torch::linalg_lstsq(a.detach(), b.detach(), {}, driver);
        c.out(sized(shape) + driver, x), c.out(sized(shape) + driver + " residuals", residuals);
        c.out(sized(shape) + driver + " rank", rank), c.out(sized(shape) + driver + " values", values);
      }
    }
    c.out("vector", std::get<0>(torch::linalg_lstsq(numbers(c, {5, 3}, dtype), numbers(c, {5}, dtype))));
  });
  const Tensor a = c.leaf({6, 3}, torch::kDouble), b = c.leaf({6, 2}, torch::kDouble);
  c.gradients("residuals", {a, b}, [&] { return std::get<1>(torch::linalg_lstsq(a, b, {}, "gelsd")); });
  c.out("rcond", std::get<2>(torch::linalg_lstsq(torch::diag(c.values({1, 0.1, 0.001}, torch::kDouble)),
                                                 torch::ones({3, 1}, torch::kDouble), 0.01, "gelsd")));
  c.throws("dims", [&] { torch::linalg_lstsq(a, c.randn({2, 6, 2}, torch::kDouble)); });
  c.throws("driver", [&] { torch::linalg_lstsq(a, b, {}, "other"); });
  c.throws("rows", [&] { torch::linalg_lstsq(a, c.randn({5, 2}, torch::kDouble)); });
}

PARITY_CASE(decompositions, large) {
  c.tolerance(torch::kFloat, 1e-3, 1e-4);  // sums of 512 terms, in other orders
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    for (const int64_t n : {256, 512}) {
      const std::string name = std::to_string(n);
      const Tensor a = regular(c, {n, n}, dtype), b = c.randn({n, 40}, dtype), s = positive(c, {n, n}, dtype);
      const Tensor x = torch::linalg_solve(a, b);
      c.out(name + " solve", x);
      near(c, a.matmul(torch::linalg_inv(a)), torch::eye(n, dtype), name + " inverse");
      near(c, torch::cholesky_solve(s.matmul(b), torch::linalg_cholesky(s)), b, name + " cholesky_solve");
      const auto [q, r] = torch::linalg_qr(a);
      near(c, q.matmul(r), a, name + " Q R");
      c.out(name + " eigvalsh", torch::linalg_eigvalsh(s));
      if (n > 256) continue;
      const auto [l, v] = torch::linalg_eigh(s);
      near(c, s.matmul(v), v * l, name + " A V = V L");
      c.out(name + " svdvals", torch::linalg_svdvals(a));
      const auto [lc, vc] = torch::linalg_eig(a);
      near(c, a.to(vc.scalar_type()).matmul(vc), vc * lc, name + " eig");
    }
  });
}
