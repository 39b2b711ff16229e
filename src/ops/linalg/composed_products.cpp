// Products written with other functions: kron, cross, bilinear, chain_matmul, distances.
#include <algorithm>
#include <cmath>
#include <utility>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/composed.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "backend/cross.h"
#include "backend/pair_distance.h"
#include "core/geometry.h"
#include "core/warnings.h"
#include "ops/common/or_undefined.h"
#include "ops/reduction/reduce_op.h"

namespace hb {

namespace {
/// Factors of a Kronecker product whose last two dimensions (J, 1) and (1, L) are one of J L elements: rows of few
/// elements take longer than these copies, which are as much smaller than the product as the other factor has rows.
std::pair<Tensor, Tensor> with_long_rows(const Tensor& a, const Tensor& b) {
  const int64_t j = a.size(-2), l = b.size(-1);
  const auto joined = [&](const Tensor& t) {
    DimVector sizes(t.sizes().begin(), t.sizes().end() - 2);
    sizes.push_back(j), sizes.push_back(l);
    const Tensor all = t.expand(sizes);
    sizes.pop_back(), sizes.back() = j * l;
    return all.reshape(sizes);
  };
  return {joined(a), joined(b)};
}
}  // namespace

Tensor kron(const Tensor& self, const Tensor& other) {
  const int64_t n = std::max(self.dim(), other.dim());
  DimVector a, b, out;
  for (int64_t d = 0; d < n; ++d) {
    const int64_t sa = d + self.dim() >= n ? self.size(d + self.dim() - n) : 1;
    const int64_t sb = d + other.dim() >= n ? other.size(d + other.dim() - n) : 1;
    a.push_back(sa), a.push_back(1), b.push_back(1), b.push_back(sb),
        out.push_back(geometry::numel(DimVector(IntArrayRef{sa, sb})));
  }
  constexpr int64_t kShort = 16, kRows = 4;
  const bool few_in_row = self.device().is_cpu() && n >= 2 && b.back() < kShort && b.back() > 1 && a[a.size() - 2] > 1;
  const int64_t rows = few_in_row ? std::min(self.numel() / a[a.size() - 2], other.numel() / b.back()) : 0;
  if (rows >= kRows && self.is_contiguous() && other.is_contiguous() && !needs_grad(self, other)) {
    const auto [x, y] = with_long_rows(self.reshape(a), other.reshape(b));
    return (x * y).reshape(out);
  }
  return named("UnsafeViewBackward0", (self.reshape(a) * other.reshape(b)).reshape(out), self);
}

namespace {
/// In one pass where there is a kernel; else each component of the product by itself, of parts that lie apart; of few
/// vectors all at once, of copies.
Tensor cross_values(const Tensor& a, const Tensor& b, int64_t d) {
  NoGradGuard no_history;
  const ScalarType t = a.scalar_type();
  const bool taken = t == kFloat || t == kDouble || is_half_type(t);
  if (t == b.scalar_type() && taken && cross_kernel.available(a.device())) {
    const Tensor x = a.contiguous(), y = b.contiguous(), out = empty(a.sizes(), a.options());
    cross_kernel(a.device())(out, x, y, ops::lines_of(x, d < 0 ? d + a.dim() : d));
    return out;
  }
  if (a.numel() <= 8192) {
    const auto turn = [d](const Tensor& t, int64_t by) { return t.roll({-by}, {d}); };
    return turn(a, 1) * turn(b, 2) - turn(a, 2) * turn(b, 1);
  }
  Tensor out = empty(a.sizes(), a.options().dtype(result_type(a, b)));
  const auto of_a = a.unbind(d), of_b = b.unbind(d);
  auto parts = out.unbind(d);
  for (size_t k = 0; k < 3; ++k) {
    const size_t i = (k + 1) % 3, j = (k + 2) % 3;
    sub_out(parts[k], of_a[i] * of_b[j], of_a[j] * of_b[i]);
  }
  return out.variable_data();  // its version is that of a new tensor
}
}  // namespace

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  HB_AUTOCAST(cross, closed, widest, self, other, dim);
  HB_CHECK(self.dim() == other.dim(), "[cross] inputs must have the same number of dimensions, got ", self.sizes(),
           " and ", other.sizes());
  const auto both = broadcast_tensors({self, other});
  int64_t d = dim.value_or(-1);
  if (!dim) {  // the first one of self as it is given
    HB_WARN_ONCE("Using torch.cross without specifying the dim arg is deprecated.");
    for (d = 0; d < self.dim() && self.size(d) != 3;) ++d;
  }
  HB_CHECK(d < both[0].dim(), "[cross] no dimension of size 3 in input: got ", self.sizes(), " and ", other.sizes());
  HB_CHECK(both[0].size(d) == 3, "[cross] inputs dimension ", d, " must have length 3. Got ", self.size(d), " and ",
           other.size(d));
  const Tensor &a = both[0], &b = both[1];
  Tensor out = cross_values(a, b, d);
  if (needs_grad(a, b))
    record(
        "LinalgCrossBackward0", out, {&a, &b}, {SavedTensor::input(a), SavedTensor::input(b)},
        [d](Backward& c, auto& s) -> variable_list {
          const Tensor& g = c.grad();
          return {c.needs(0) ? cross(s[1].conj(), g, d) : Tensor(), c.needs(1) ? cross(g, s[0].conj(), d) : Tensor()};
        });
  return out;
}

namespace {

void check_bilinear(const Tensor& a, const Tensor& b, const Tensor& weight, const Tensor& bias) {
  HB_CHECK(a.dim() == b.dim(), "[bilinear] bilinear(): input dimensions do not match: got ", a.dim(), " and ", b.dim());
  for (int64_t d = 0; d + 1 < a.dim(); ++d)
    HB_CHECK(a.size(d) == b.size(d), "[bilinear] bilinear(): input batch dimensions do not match at dim ", d, ": got ",
             a.size(d), " and ", b.size(d));
  HB_CHECK(weight.dim() == 3, "[bilinear] expected a weight (out, in1, in2), got ", weight.sizes());
  HB_CHECK(a.size(-1) == weight.size(1), "[bilinear] bilinear(): input1 size does not match weight size: got ",
           a.size(-1), " but expected ", weight.size(1));
  HB_CHECK(b.size(-1) == weight.size(2), "[bilinear] bilinear(): input2 size does not match weight size: got ",
           b.size(-1), " but expected ", weight.size(2));
  HB_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == weight.size(0)),
           "[bilinear] bilinear(): bias size does not match weight size: got ",
           bias.dim() == 1 ? bias.size(0) : bias.dim(), " but expected ", weight.size(0));
}

}  // namespace

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const std::optional<Tensor>& bias_or_none) {
  const Tensor& bias = or_undefined(bias_or_none);
  HB_AUTOCAST(bilinear, closed, widest, input1, input2, weight, bias);
  check_bilinear(input1, input2, weight, bias);
  DimVector sizes(input1.impl().sizes());
  sizes.back() = weight.size(0);
  const Tensor a = input1.reshape({-1, input1.size(-1)}), b = input2.reshape({-1, input2.size(-1)});
  // (out, rows, in2) times (1, rows, in2), summed over in2: (out, rows).
  const Tensor out = (matmul(a, weight) * b).sum(-1, false, weight.scalar_type()).t().contiguous().reshape(sizes);
  return bias.defined() ? out + bias : out;
}

Tensor chain_matmul(TensorList matrices) {
  HB_AUTOCAST(chain_matmul, as_is, half, matrices);
  HB_WARN_ONCE("torch.chain_matmul is deprecated and will be removed. Use torch.linalg.multi_dot instead.");
  HB_CHECK(!matrices.empty(), "[chain_matmul] Expected one or more matrices, got none");
  for (const Tensor& t : matrices) HB_CHECK(t.dim() == 2, "[chain_matmul] expected matrices, got ", t.sizes());
  return matrices.size() == 1 ? matrices[0] : linalg_multi_dot(matrices);
}

namespace {

/// Distances by one product, |a|^2 - 2 a.b + |b|^2: nothing of the size rows x rows x columns is made, but distances
/// far below the vectors' own length lose digits.
Tensor euclidean_distances(const Tensor& x1, const Tensor& x2) {
  Tensor out;
  {
    NoGradGuard no_grad;
    const auto squares = [](const Tensor& x) { return (x * x).sum(IntArrayRef({-1}), true); };
    const Tensor s1 = squares(x1), s2 = squares(x2);
    const Tensor a = cat({x1 * -2, s1, ones_like(s1)}, -1), b = cat({x2, ones_like(s2), s2}, -1);
    out = matmul(a, b.mT()).clamp_min(0).sqrt();
  }
  if (!needs_grad(x1, x2)) return out;
  record(
      "EuclideanDistBackward0", out, {&x1, &x2},
      {SavedTensor::input(x1), SavedTensor::input(x2), SavedTensor::output(out)},
      [](Backward& b, auto& s) -> variable_list {
        const Tensor &x1 = s[0], &x2 = s[1], ratio = (b.grad() / s[2]).masked_fill(s[2] == 0, 0);
        return {x1 * ratio.sum(-1, true) - ratio.matmul(x2), x2 * ratio.sum(-2).unsqueeze(-1) - ratio.mT().matmul(x1)};
      });
  return out.view(out.sizes());  // whose node is what programs see in LibTorch
}

/// LibTorch measures these distances in wider numbers alone.
void refuse_half(const char* name, ScalarType t) {
  HB_CHECK_SUPPORTED(!is_half_type(t), "[", name, "] not implemented for '", toString(t), "'");
}

}  // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  HB_AUTOCAST(cdist, fp32, fp32, x1, x2, p, compute_mode);
  for (const auto& [x, name] : {std::pair(&x1, "X1"), std::pair(&x2, "X2")})
    HB_CHECK(x->dim() >= 2, "[cdist] cdist only supports at least 2D tensors, ", name, " got: ", x->dim(), "D");
  HB_CHECK(x1.size(-1) == x2.size(-1),
           "[cdist] X1 and X2 must have the same number of columns, expected (…, P, M) and (…, R, M), got ", x1.sizes(),
           " and ", x2.sizes());
  for (const auto& [x, name] : {std::pair(&x1, "X1"), std::pair(&x2, "X2")})
    HB_CHECK(x->is_floating_point(), "[cdist] cdist only supports floating-point dtypes, ", name,
             " got: ", toString(x->scalar_type()));
  HB_CHECK(p >= 0, "[cdist] cdist only supports non-negative p values, got ", p);
  const int64_t mode = compute_mode.value_or(0);
  HB_CHECK(mode >= 0 && mode <= 2, "[cdist] expected a compute_mode of 0, 1 or 2, got ", mode);
  const bool many = x1.size(-2) > 25 || x2.size(-2) > 25;
  if (p == 2 && x1.size(-1) > 0 && (mode == 1 || (mode == 0 && many))) return euclidean_distances(x1, x2);
  refuse_half("cdist", promote_types(x1.scalar_type(), x2.scalar_type()));
  return named("CdistBackward0", linalg_vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, IntArrayRef({-1})), x1);
}

namespace {
Tensor composed_pdist(const Tensor& self, double p) {
  const Tensor pairs = triu_indices(self.size(0), self.size(0), 1, self.options().dtype(kLong));
  const Tensor apart = self.index_select(0, pairs.select(0, 0)) - self.index_select(0, pairs.select(0, 1));
  return named("PdistBackward0", linalg_vector_norm(apart, p, IntArrayRef({-1})), self);
}
}  // namespace

Tensor pdist(const Tensor& self, double p) {
  HB_AUTOCAST(pdist, as_is, fp32, self, p);
  HB_CHECK(self.dim() == 2, "[pdist] pdist only supports 2D tensors, got: ", self.dim(), "D");
  HB_CHECK(self.is_floating_point(),
           "[pdist] pdist only supports floating-point dtypes, got: ", toString(self.scalar_type()));
  refuse_half("pdist", self.scalar_type());
  const bool by_kernel = p == 0 || p == 1 || p == 2 || std::isinf(p);
  if (!by_kernel || !pair_distance_kernel.available(self.device())) return composed_pdist(self, p);
  const int64_t n = self.size(0);
  const Tensor x = self.detach().contiguous();
  Tensor out = empty({std::max<int64_t>(0, n * (n - 1) / 2)}, self.options());
  pair_distance_kernel(self.device())(out, x, p);
  if (needs_grad(self))
    record("PdistBackward0", out, {&self}, {SavedTensor::input(self), SavedTensor::output(out)},
           [p](Backward& b, auto& s) -> variable_list {
             if (GradMode::is_enabled())
               return composed_gradients(b, {s[0]}, {b.grad()}, [p](const variable_list& v) {
                 return variable_list{composed_pdist(v[0], p)};
               });
             const Tensor grad_x = empty(s[0].sizes(), s[0].options());
             pair_distance_backward_kernel(s[0].device())(grad_x, b.grad().contiguous(), s[0].contiguous(), s[1], p);
             return {grad_x};
           });
  return out;
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return named("NormBackward1",
               linalg_vector_norm(x1 - x2 + eps, p, IntArrayRef({std::max(x1.dim(), x2.dim()) - 1}), keepdim), x1);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  HB_AUTOCAST(cosine_similarity, as_is, fp32, x1, x2, dim, eps);
  const ScalarType dtype = promote_types(x1.scalar_type(), x2.scalar_type());
  HB_CHECK(is_floating_type(dtype),
           "[cosine_similarity] expected common dtype to be floating point, yet common dtype is ", dtype);
  // Broadcast before the norms are taken: the vectors are those of the common shape.
  const auto both = broadcast_tensors({x1.to(dtype), x2.to(dtype)});
  const auto unit = [&](const Tensor& x) {
    return x / linalg_vector_norm(x, 2, IntArrayRef({dim}), true).clamp_min(eps);
  };
  return (unit(both[0]) * unit(both[1])).sum(IntArrayRef({dim}));
}

Tensor vander(const Tensor& x, std::optional<int64_t> n, bool increasing) {
  HB_AUTOCAST(vander, closed, closed, x, n, increasing);
  HB_CHECK(x.dim() == 1, "[vander] x must be a one-dimensional tensor. Got ", x.sizes());
  const int64_t columns = n.value_or(x.size(0));
  HB_CHECK(columns >= 0, "[vander] expected a number of columns of at least 0, got ", columns);
  const ScalarType dtype = is_differentiable_type(x.scalar_type()) ? x.scalar_type() : kLong;
  if (columns == 0) return empty({x.size(0), 0}, x.options().dtype(dtype));
  const Tensor first = ones({x.size(0), 1}, x.options().dtype(dtype));
  const Tensor powers = cat({first, x.to(dtype).unsqueeze(1).expand({x.size(0), columns - 1})}, 1).cumprod(1);
  return increasing ? powers : powers.flip(IntArrayRef({1}));
}

}  // namespace hb
