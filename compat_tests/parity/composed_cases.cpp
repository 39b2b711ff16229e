// Views, reductions and functions of matrices that are written with others.
#include "parity/case.h"

using torch::Tensor;

namespace {
void parts(parity::Case& c, const std::string& name, const std::vector<Tensor>& tensors) {
  c.value(name + ".count", static_cast<int64_t>(tensors.size()));
  for (size_t k = 0; k < tensors.size(); ++k) c.layout(name + std::to_string(k), tensors[k]);
}
// Well conditioned: the identity dominates.
Tensor matrix(parity::Case& c, std::vector<int64_t> shape) {
  return (c.randn(shape, torch::kDouble) * 0.3 + 2 * torch::eye(shape.back(), torch::kDouble)).requires_grad_();
}
Tensor positive_definite(parity::Case& c, int64_t n) {
  const auto a = c.randn({n, n}, torch::kDouble);
  return (a.matmul(a.t()) + n * torch::eye(n, torch::kDouble)).requires_grad_();
}
}  // namespace

PARITY_CASE(composed, moveaxis) {
  const auto x = c.randn({2, 3, 4, 5});
  c.layout("one", torch::moveaxis(x, 0, -1));
  c.layout("list", x.moveaxis({0, 1}, {-1, 0}));
  c.layout("adjoint", torch::adjoint(x));
  c.layout("swapaxes_", x.clone().swapaxes_(0, 2));
  c.layout("swapdims_", x.clone().swapdims_(1, 3));
  c.throws("repeated", [&] { torch::moveaxis(x, {0, 0}, {1, 2}); });
}
PARITY_CASE(composed, atleast) {
  for (const auto& x : {torch::tensor(3.0), c.randn({4}), c.randn({2, 3}), c.randn({2, 3, 4}), c.randn({2, 0, 3, 1})}) {
    const auto name = std::to_string(x.dim());
    c.layout("1d" + name, torch::atleast_1d(x));
    c.layout("2d" + name, torch::atleast_2d(x));
    c.layout("3d" + name, torch::atleast_3d(x));
  }
  parts(c, "list", torch::atleast_2d({torch::tensor(1.0), c.randn({3})}));
}
PARITY_CASE(composed, splits) {
  const auto x = c.randn({4, 6, 2}), row = c.randn({6});
  parts(c, "h", torch::hsplit(x, 3));
  parts(c, "h_row", row.hsplit(2));
  parts(c, "h_at", x.hsplit({1, 4}));
  parts(c, "v", torch::vsplit(x, 2));
  parts(c, "v_at", x.vsplit({1, 1, 9}));
  parts(c, "d", torch::dsplit(x, 2));
  parts(c, "d_at", x.dsplit({1}));
  parts(c, "tensor_split", torch::tensor_split(x, {2, -1}, 1));
  c.throws("h_odd", [&] { torch::hsplit(x, 4); });
  c.throws("v_rank", [&] { torch::vsplit(row, 2); });
  c.throws("d_rank", [&] { torch::dsplit(row, 2); });
}
PARITY_CASE(composed, scatters_of_parts) {
  auto x = c.leaf({4, 5}), s = c.leaf({5}), p = c.leaf({2, 5}), d = c.leaf({4});
  c.gradients("select", {x, s}, [&] { return torch::select_scatter(x, s, 0, -1); });
  c.gradients("slice", {x, p}, [&] { return x.slice_scatter(p, 0, 1, 4, 2); });
  c.gradients("diagonal", {x, d}, [&] { return torch::diagonal_scatter(x, d); });
  c.throws("sizes", [&] { torch::select_scatter(x, d, 0, 0); });
  auto y = c.leaf({4, 5});
  const auto index = c.randint(0, 4, {4, 5});
  c.gradients("scatter_reduce_", {x, y}, [&] { return (x * 1).scatter_reduce_(0, index, y, "sum"); });
  c.out("index_put", x.detach().index_put({c.values({0, 2}, torch::kLong)}, torch::ones({2, 5})));
}
PARITY_CASE(composed, in_place) {
  auto x = c.leaf({3, 4}), v = c.leaf({4}), m = c.leaf({3, 4});
  c.gradients("cumsum_", {x}, [&] { return (x * 1).cumsum_(1); });
  c.gradients("cumprod_", {x}, [&] { return (x * 1).cumprod_(0); });
  c.gradients("addmv_", {m, v}, [&] { return (m.sum(1) * 1).addmv_(m, v, 2, 0.5); });
  c.gradients("addr_", {x, v}, [&] { return (x * 1).addr_(m.detach().select(1, 0), v); });
  c.gradients("addbmm_", {x}, [&] { return (x * 1).addbmm_(torch::ones({2, 3, 5}), torch::ones({2, 5, 4})); });
  c.out("fill_diagonal_", c.randn({4, 4}).fill_diagonal_(7));
  c.out("fill_diagonal_wide", c.randn({2, 5}).fill_diagonal_(7));
  c.out("fill_diagonal_wrap", c.randn({9, 3}).fill_diagonal_(7, true));
  c.out("fill_diagonal_no_wrap", c.randn({9, 3}).fill_diagonal_(7));
  c.out("fill_diagonal_cube", c.randn({3, 3, 3}).fill_diagonal_(7));
  c.throws("fill_diagonal_vector", [&] { c.randn({3}).fill_diagonal_(1); });
  c.throws("fill_diagonal_box", [&] { c.randn({3, 2, 3}).fill_diagonal_(1); });
  c.layout("new_empty_strided", x.new_empty_strided({2, 3}, {1, 2}, torch::kLong));
  c.value("is_same_size", x.is_same_size(m) && !x.is_same_size(v));
}
PARITY_CASE(composed, statistics) {
  auto x = c.randn({4, 5});
  x.index_put_({0, 1}, NAN);
  x.index_put_({2}, NAN);
  c.out("nanmean", torch::nanmean(x));
  c.out("nanmean_dim", x.nanmean(torch::IntArrayRef({1}), true));
  c.out("nanmedian", torch::nanmedian(x));
  const auto [values, places] = torch::nanmedian(x, 1);
  c.out("nanmedian_dim", values);
  c.out("nanmedian_place", places.index({torch::tensor({0, 1, 3})}));
  c.out("nanmedian_keepdim", std::get<0>(x.nanmedian(0, true)));
  auto y = c.leaf({3, 6}, torch::kDouble);
  c.gradients("nanmean_gradient", {y}, [&] { return torch::nanmean(y); });
  c.gradients("nanmedian_gradient", {y}, [&] { return std::get<0>(torch::nanmedian(y, 1)); });
  const auto gaps = x.index({torch::indexing::Slice(0, 2)}).detach().requires_grad_();
  c.gradients("nanmedian_gradient_of_gaps", {gaps}, [&] { return std::get<0>(gaps.nanmedian(1, true)); });
  c.gradients("cov", {y}, [&] { return torch::cov(y); });
  c.gradients("corrcoef", {y}, [&] { return torch::corrcoef(y); });
  const auto f = c.randint(1, 4, {6}), a = c.rand({6}, torch::kDouble, 0.5, 2);
  c.out("cov_weights", torch::cov(y.detach(), 1, f, a));
  c.out("cov_aweights", torch::cov(y.detach(), 0, {}, a));
  c.out("cov_row", y.detach().select(0, 0).cov());
  c.throws("cov_rank", [&] { torch::cov(c.randn({2, 2, 2})); });
}
PARITY_CASE(composed, products) {
  auto a = c.leaf({4, 3}, torch::kDouble), b = c.leaf({4, 3}, torch::kDouble), d = c.leaf({3, 5}, torch::kDouble);
  c.gradients("cross", {a, b}, [&] { return torch::linalg_cross(a, b); });
  c.gradients("vecdot", {a, b}, [&] { return torch::linalg_vecdot(a, b) + torch::linalg_vecdot(a, b, 1); });
  c.gradients("multi_dot", {a, d}, [&] { return torch::linalg_multi_dot({a.t(), b, d}); });
  c.gradients("multi_dot_vectors", {a}, [&] {
    return torch::linalg_multi_dot({a.select(1, 0), b, d, d.t(), a.select(0, 1)});
  });
  c.out("diagonal", torch::linalg_diagonal(c.randn({2, 3, 4}), 1));
  c.throws("multi_dot_one", [&] { torch::linalg_multi_dot({a}); });
}
PARITY_CASE(composed, matrix_exp) {
  for (double size : {0.1, 1.0, 6.0}) {
    auto a = (c.randn({2, 4, 4}, torch::kDouble) * size).requires_grad_();
    c.gradients("a" + std::to_string(size), {a}, [&] { return torch::matrix_exp(a); });
    // Each squaring doubles the relative error, and the two libraries scale by different powers of two.
    c.tolerance(torch::kFloat, 1e-4, 1e-4);
    c.out("f" + std::to_string(size), torch::linalg_matrix_exp(a.detach().to(torch::kFloat)));
  }
}
PARITY_CASE(composed, norms) {
  auto a = c.leaf({2, 4, 3}, torch::kDouble);
  c.gradients("fro", {a}, [&] { return torch::linalg_matrix_norm(a); });
  c.gradients("nuc", {a}, [&] { return torch::linalg_matrix_norm(a, "nuc"); });
  c.gradients("one", {a}, [&] { return torch::linalg_matrix_norm(a, 1, {-2, -1}, true); });
  c.gradients("inf", {a}, [&] { return torch::linalg_matrix_norm(a, -INFINITY, {0, 2}); });
  c.gradients("norm_fro", {a}, [&] { return torch::linalg_norm(a, "fro", torch::IntArrayRef({1, 2})); });
  c.throws("word", [&] { torch::linalg_matrix_norm(a, "two"); });
}
PARITY_CASE(composed, triangles) {
  auto a = matrix(c, {4, 4}), b = c.leaf({4, 2}, torch::kDouble);
  for (bool upper : {false, true})
    for (bool unit : {false, true}) {
      const auto name = std::string(upper ? "upper" : "lower") + (unit ? "_unit" : "");
      c.gradients(name, {a, b}, [&] { return torch::linalg_solve_triangular(a, b, upper, true, unit); });
      c.out(name + "_right", torch::linalg_solve_triangular(a, b.t(), upper, false, unit));
    }
  auto s = positive_definite(c, 4);
  const auto l = torch::linalg_cholesky(s);
  c.gradients("cholesky_solve", {s, b}, [&] { return torch::cholesky_solve(b, torch::linalg_cholesky(s)); });
  c.out("cholesky_solve_upper", b.cholesky_solve(l.t(), true));
  c.out("cholesky_inverse", torch::cholesky_inverse(l));
}
PARITY_CASE(composed, least_squares) {
  auto a = c.leaf({6, 3}, torch::kDouble), b = c.leaf({6, 2}, torch::kDouble);
  c.gradients("tall", {a, b}, [&] { return std::get<0>(torch::linalg_lstsq(a, b)); });
  const auto [x, residuals, rank, values] = torch::linalg_lstsq(a.detach(), b.detach());
  c.out("residuals", residuals);
  c.out("rank", rank);
  c.out("residuals_gelsd", std::get<1>(torch::linalg_lstsq(a.detach(), b.detach(), {}, "gelsd")));
  c.shape_only("values", values);
  c.out("wide", std::get<0>(torch::linalg_lstsq(a.detach().t(), c.randn({3, 2}, torch::kDouble))));
  const auto poor = torch::cat({a.detach(), a.detach()}, 1);
  // Not by "gelsy", whose answer for such a matrix depends in LibTorch 2.11 on what its memory held before.
  c.out("poor", std::get<0>(torch::linalg_lstsq(poor, b.detach(), {}, "gelsd")));
  c.out("poor_rank", torch::linalg_matrix_rank(poor));
  c.out("rank_tolerance", torch::linalg_matrix_rank(torch::diag(c.values({1, 0.1, 0.001}, torch::kDouble)), 0.01, 0.0));
  const torch::Tensor steps = torch::diag(c.values({1, -0.1, 0.001}, torch::kDouble));
  c.out("rank_tol", torch::linalg_matrix_rank(steps, 0.01));
  c.out("rank_tol_hermitian", torch::linalg_matrix_rank(steps, 1e-4, true));
  c.out("rank_tol_zero", torch::linalg_matrix_rank(steps * 1e-20, 0.0));
  c.out("rank_of_numbers",
        torch::linalg_matrix_rank(steps, std::optional<double>(1e-4), std::optional<double>(0.05), true));
}
PARITY_CASE(composed, lu) {
  const auto a = c.randn({2, 4, 4}, torch::kDouble), b = c.randn({2, 4, 3}, torch::kDouble);
  const auto [lu, pivots] = torch::linalg_lu_factor(a);
  const auto [p, l, u] = torch::lu_unpack(lu, pivots);
  c.out("p", p), c.out("l", l), c.out("u", u);
  c.out("linalg_lu", std::get<2>(torch::linalg_lu(a)));
  c.out("lu_solve", b.lu_solve(lu, pivots));
  c.out("linalg_lu_solve", torch::linalg_lu_solve(lu, pivots, b));
  c.out("adjoint", torch::linalg_lu_solve(lu, pivots, b, true, true));
  c.out("right", torch::linalg_lu_solve(lu, pivots, b.transpose(-2, -1), false));
  c.out("slogdet", std::get<1>(a.slogdet()));
  c.out("pinverse", a.select(0, 0).pinverse());
}
