// Functions of matrices written with the decompositions.
#include <algorithm>
#include <cmath>
#include <limits>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
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

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) { return cross(self, other, dim); }

Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  HB_AUTOCAST(linalg_vecdot, half, half, x, y, dim);
  HB_CHECK(x.is_floating_point() || x.is_complex(),
           "linalg.vecdot: Expected a floating point or complex tensor as input. Got ", x.scalar_type());
  return (x.conj() * y).sum(dim);
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
  if (self.size(-1) == 1) return named("LinalgMatrixExpBackward0", exp(self), self);
  // exp(A) = exp(A / 2^s)^(2^s), with an s for each matrix such that the norm of A / 2^s is at most 1/2; there the
  // polynomial of degree 14 is exact in double.
  const Tensor size = self.detach().abs().sum(-2).amax({-1}, true).unsqueeze(-1), wild = isfinite(size).logical_not();
  const Tensor s = log2(size * 2).ceil().clamp_min(0).masked_fill(wild, 0);
  const auto [least, most] = aminmax(s);
  const auto same = least.item<int64_t>(), all = most.item<int64_t>();
  const Tensor a = self * exp2(-s), one = eye(self.size(-1), self.options());
  Tensor out = one + a / 14;
  for (int k = 13; k >= 1; --k) out = one + matmul(a, out) / k;
  for (int64_t k = 0; k < all; ++k) out = k < same ? matmul(out, out) : where(s > k, matmul(out, out), out);
  if (wild.any().item<bool>()) out = where(wild, self * std::numeric_limits<double>::quiet_NaN(), out);
  return named("LinalgMatrixExpBackward0", out, self);
}
Tensor linalg_matrix_exp(const Tensor& self) { return matrix_exp(self); }

Tensor linalg_matrix_rank(const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  HB_AUTOCAST(linalg_matrix_rank, fp32, as_is, self, atol, rtol, hermitian);
  check_matrices("linalg.matrix_rank", self, hermitian);
  NoGradGuard no_grad;
  const Tensor values = hermitian ? linalg_eigvalsh(self).abs() : linalg_svdvals(self);
  const double relative = rtol ? *rtol
                          : atol && *atol > 0
                              ? 0
                              : epsilon_of(to_real_type(self.scalar_type())) * std::max(self.size(-1), self.size(-2));
  return count_above(values, relative, atol.value_or(0));
}
Tensor linalg_matrix_rank(const Tensor& self, double tol, bool hermitian) {
  return linalg_matrix_rank(self, std::optional(tol), std::optional(0.0), hermitian);
}

}  // namespace hb
