// Functions of matrices written with the decompositions.
#include <algorithm>
#include <cmath>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "core/warnings.h"
#include "ops/linalg/decompositions.h"

namespace hb {

namespace {
/// How many of the singular values (…, k) of each matrix lie above both limits.
Tensor count_above(const Tensor& values, double relative, double absolute) {
  if (values.size(-1) == 0) return values.sum(-1).to(kLong);
  const Tensor limit = (values.amax(IntArrayRef({-1}), true) * relative).clamp_min(absolute);
  return (values > limit).sum(-1);
}
}  // namespace

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  HB_CHECK(self.dim() == other.dim(), "[linalg_cross] expected inputs of the same number of dimensions, got ",
           self.dim(), " and ", other.dim());
  return cross(self, other, dim);
}

Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  HB_AUTOCAST(linalg_vecdot, half, half, x, y, dim);
  return (x * y).sum(dim);
}

Tensor linalg_multi_dot(TensorList tensors) {
  HB_AUTOCAST(linalg_multi_dot, as_is, half, tensors);
  HB_CHECK(tensors.size() >= 2, "[linalg_multi_dot] expected at least 2 tensors, got ", tensors.size());
  // A vector at either end is a matrix of one row or one column.
  std::vector<Tensor> m(tensors.begin(), tensors.end());
  const bool row = m.front().dim() == 1, column = m.back().dim() == 1;
  if (row) m.front() = m.front().unsqueeze(0);
  if (column) m.back() = m.back().unsqueeze(-1);
  for (const Tensor& t : m) HB_CHECK(t.dim() == 2, "[linalg_multi_dot] expected matrices, got ", t.sizes());
  // The cheapest order: cost[i][j] of the product of matrices i to j, split after cut[i][j].
  const size_t n = m.size();
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<size_t>> cut(n, std::vector<size_t>(n, 0));
  for (size_t length = 1; length < n; ++length)
    for (size_t i = 0; i + length < n; ++i) {
      const size_t j = i + length;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (size_t k = i; k < j; ++k) {
        const double c =
            cost[i][k] + cost[k + 1][j] +
            static_cast<double>(m[i].size(0)) * static_cast<double>(m[k].size(1)) * static_cast<double>(m[j].size(1));
        if (c < cost[i][j]) cost[i][j] = c, cut[i][j] = k;
      }
    }
  const std::function<Tensor(size_t, size_t)> product = [&](size_t i, size_t j) {
    return i == j ? m[i] : mm(product(i, cut[i][j]), product(cut[i][j] + 1, j));
  };
  Tensor out = product(0, n - 1);
  if (column) out = out.squeeze(-1);
  return row ? out.squeeze(0) : out;
}

Tensor linalg_diagonal(const Tensor& a, int64_t offset, int64_t dim1, int64_t dim2) {
  return a.diagonal(offset, dim1, dim2);
}

Tensor matrix_exp(const Tensor& self) {
  check_matrices("linalg.matrix_exp", self, true);
  if (self.numel() == 0) return self.clone();
  // exp(A) = exp(A / 2^s)^(2^s), with s such that the norm of A / 2^s is at most 1/2; there the polynomial of degree 14
  // is exact in double.
  const double size = self.detach().abs().sum(-2).max().item<double>();
  HB_CHECK(std::isfinite(size), "[matrix_exp] expected finite values");
  const int s = size > 0.5 ? static_cast<int>(std::ceil(std::log2(size / 0.5))) : 0;
  const Tensor a = self * std::ldexp(1.0, -s), one = eye(self.size(-1), self.options());
  Tensor out = one + a / 14;
  for (int k = 13; k >= 1; --k) out = one + matmul(a, out) / k;
  for (int k = 0; k < s; ++k) out = matmul(out, out);
  return out;
}
Tensor linalg_matrix_exp(const Tensor& self) { return matrix_exp(self); }

Tensor linalg_matrix_rank(const Tensor& self, const std::optional<double>& atol, const std::optional<double>& rtol,
                          bool hermitian) {
  HB_AUTOCAST(linalg_matrix_rank, fp32, as_is, self, atol, rtol, hermitian);
  check_matrices("linalg.matrix_rank", self, hermitian);
  NoGradGuard no_grad;
  const Tensor values = hermitian ? linalg_eigvalsh(self).abs() : linalg_svdvals(self);
  const double relative = rtol                ? *rtol
                          : atol && *atol > 0 ? 0
                                              : epsilon_of(self.scalar_type()) * std::max(self.size(-1), self.size(-2));
  return count_above(values, relative, atol.value_or(0));
}

Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper) {
  HB_AUTOCAST(cholesky_solve, fp32, as_is, self, input2, upper);
  const Tensor l = upper ? input2.mT() : input2;
  return linalg_solve_triangular(l.mT(), linalg_solve_triangular(l, self, false), true);
}
Tensor cholesky_inverse(const Tensor& self, bool upper) {
  HB_AUTOCAST(cholesky_inverse, fp32, as_is, self, upper);
  return cholesky_solve(eye(self.size(-1), self.options()).expand(self.sizes()), self, upper);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver) {
  HB_AUTOCAST(linalg_lstsq, fp32, as_is, self, b, rcond, driver);
  check_matrices("linalg.lstsq", self, false);
  HB_CHECK(!driver || *driver == "gelsy" || *driver == "gels" || *driver == "gelsd" || *driver == "gelss",
           "[linalg_lstsq] expected a driver 'gelsy', 'gels', 'gelsd' or 'gelss', got '", driver.value_or(""), "'");
  const bool vectors = self.dim() == b.dim() + 1;
  const Tensor right = vectors ? b.unsqueeze(-1) : b;
  HB_CHECK(self.size(-2) == right.size(-2), "[linalg_lstsq] expected as many rows in B as the ", self.size(-2),
           " of A, got ", right.size(-2));
  const double limit =
      rcond && *rcond >= 0 ? *rcond : epsilon_of(self.scalar_type()) * std::max(self.size(-2), self.size(-1));
  Tensor solution = matmul(linalg_pinv(self, limit), right);
  const bool ranked = !driver || *driver != "gels";
  Tensor residuals = empty({0}, self.options()), values = residuals, rank = empty({0}, kLong);
  if (ranked) {
    NoGradGuard no_grad;
    values = linalg_svdvals(self);
    rank = count_above(values, limit, 0);
    if (!driver || *driver == "gelsy") values = empty({0}, self.options());  // found by a QR in LAPACK
  }
  const int64_t m = self.size(-2), n = self.size(-1);
  // The default, gelsy, gives no residuals.
  if (m > n && driver && *driver != "gelsy" && (!ranked || (rank == n).all().item<bool>()))
    residuals = (matmul(self, solution) - right).pow(2).sum(-2);
  if (vectors) solution = solution.squeeze(-1);
  return {solution, residuals, rank, values};
}

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& lu_data, const Tensor& lu_pivots, bool unpack_data,
                                             bool unpack_pivots) {
  HB_CHECK(lu_data.dim() >= 2, "[lu_unpack] expected matrices, got ", lu_data.sizes());
  HB_CHECK(lu_pivots.scalar_type() == kInt, "[lu_unpack] expected pivots of dtype Int, got ", lu_pivots.scalar_type());
  const int64_t m = lu_data.size(-2), n = lu_data.size(-1), k = std::min(m, n);
  const Tensor none = empty({0}, lu_data.options());
  Tensor l = none, u = none, p = none;
  if (unpack_data) {
    l = lu_data.narrow(-1, 0, k).tril(-1) + eye(m, k, lu_data.options());
    u = lu_data.narrow(-2, 0, k).triu();
  }
  if (unpack_pivots) {
    const Tensor swaps = lu_pivots.contiguous().reshape({-1, lu_pivots.size(-1)}).cpu();
    Tensor order = empty({swaps.size(0), m}, swaps.options().dtype(kLong));
    for (int64_t b = 0; b < swaps.size(0); ++b) {
      int64_t* to = order.data_ptr<int64_t>() + b * m;
      const int32_t* with = swaps.data_ptr<int32_t>() + b * swaps.size(1);
      for (int64_t i = 0; i < m; ++i) to[i] = i;
      for (int64_t i = 0; i < swaps.size(1); ++i) {
        HB_CHECK(with[i] >= 1 && with[i] <= m, "[lu_unpack] expected pivots between 1 and ", m, ", got ", with[i]);
        std::swap(to[i], to[with[i] - 1]);
      }
    }
    p = one_hot(order.to(lu_data.device()), m)
            .transpose(-2, -1)
            .to(lu_data.scalar_type())
            .reshape(batch_sizes(lu_data, {m, m}));
  }
  return {p, l, u};
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& a, bool pivot) {
  const auto [lu, pivots] = linalg_lu_factor(a, pivot);
  return lu_unpack(lu, pivots);
}

Tensor linalg_lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint) {
  HB_CHECK(b.dim() >= 2, "linalg.lu_solve: The input tensor B must have at least 2 dimensions.");
  if (!left) return linalg_lu_solve(lu, pivots, b.mT(), true, !adjoint).mT();
  const auto [p, l, u] = lu_unpack(lu, pivots);
  if (adjoint) return matmul(p, linalg_solve_triangular(l.mT(), linalg_solve_triangular(u.mT(), b, false), true));
  return linalg_solve_triangular(u, linalg_solve_triangular(l, matmul(p.mT(), b), false), true);
}
Tensor lu_solve(const Tensor& self, const Tensor& lu_data, const Tensor& lu_pivots) {
  HB_AUTOCAST(lu_solve, fp32, as_is, self, lu_data, lu_pivots);
  HB_WARN_ONCE(
      "torch.lu_solve is deprecated in favor of torch.linalg.lu_solve and will be removed in a future release.");
  return linalg_lu_solve(lu_data, lu_pivots, self);
}

}  // namespace hb
