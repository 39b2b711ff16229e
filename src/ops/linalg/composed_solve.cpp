// Systems of equations and inverses in other shapes, and condition numbers.
#include <cmath>
#include <limits>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "core/geometry.h"
#include "core/warnings.h"
#include "ops/linalg/decompositions.h"

namespace hb {

namespace {

int64_t product(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

/// norm(A) norm(A^-1), infinite where A has no inverse.
template <class Ord>
Tensor condition_by_norm(const Tensor& self, const Ord& ord) {
  check_matrices("linalg.cond", self, true);
  const auto [inverse, info] = linalg_inv_ex(self);
  const Tensor broken = info.detach() != 0;
  const Tensor whole = inverse.masked_fill(broken.unsqueeze(-1).unsqueeze(-1), std::numeric_limits<double>::infinity());
  const Tensor value = linalg_matrix_norm(self, ord) * linalg_matrix_norm(whole, ord);
  return value.masked_fill(broken, std::numeric_limits<double>::infinity());
}

Tensor no_condition(const Tensor& self) { return zeros(batch_sizes(self, {}), self.options()); }

}  // namespace

Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p) {
  HB_AUTOCAST(linalg_cond, fp32, as_is, self, p);
  check_matrices("linalg.cond", self, false, Refused::halves_by_kernel);
  if (self.numel() == 0) return no_condition(self);
  const double order = p ? p->toDouble() : 2;
  if (std::fabs(order) != 2) return condition_by_norm(self, *p);
  const Tensor s = linalg_svdvals(self), largest = s.select(-1, 0), smallest = s.select(-1, -1);
  return order > 0 ? largest / smallest : smallest / largest;
}
Tensor linalg_cond(const Tensor& self, std::string_view p) {
  HB_AUTOCAST(linalg_cond, fp32, as_is, self, p);
  check_matrices("linalg.cond", self, p != "nuc");
  if (self.numel() == 0) return no_condition(self);
  if (p != "nuc") return condition_by_norm(self, p);
  const Tensor s = linalg_svdvals(self);
  return s.sum(-1) * reciprocal(s).sum(-1);
}

Tensor linalg_vander(const Tensor& x, std::optional<int64_t> n) {
  HB_FUNCTION(linalg_vander, x, n);
  HB_CHECK(x.dim() >= 1, "[linalg_vander] expected a tensor of at least 1 dimension, got ", x.dim());
  HB_CHECK(x.scalar_type() != kBool, "[linalg_vander] is not supported for dtype Bool");
  const int64_t columns = n.value_or(x.size(-1));
  HB_CHECK(columns > 1, "[linalg_vander] expected N to be greater than 1, got ", columns);
  const ScalarType t = is_integral_type(x.scalar_type(), false) ? kLong : x.scalar_type();
  std::vector<int64_t> shape = x.sizes().vec();
  shape.push_back(columns - 1);
  const Tensor powers = x.to(t).unsqueeze(-1).expand(shape).cumprod(-1);
  return cat({ones_like(powers.narrow(-1, 0, 1)), powers}, -1);
}

Tensor linalg_tensorinv(const Tensor& self, int64_t ind) {
  HB_AUTOCAST(linalg_tensorinv, fp32, as_is, self, ind);
  HB_CHECK(ind > 0 && ind <= self.dim(), "[linalg_tensorinv] expected ind between 1 and ", self.dim(), ", got ", ind);
  const IntArrayRef rows = self.sizes().slice(0, ind), columns = self.sizes().slice(ind);
  const int64_t m = product(rows), n = product(columns);
  HB_CHECK(m == n, "[linalg_tensorinv] expected self to satisfy prod(self.shape[ind:]) == prod(self.shape[:ind]), got ",
           self.sizes(), " for ind = ", ind);
  std::vector<int64_t> shape = columns.vec();
  shape.insert(shape.end(), rows.begin(), rows.end());
  return linalg_inv(self.reshape({m, n})).reshape(shape);
}

Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims) {
  HB_AUTOCAST(linalg_tensorsolve, fp32, as_is, self, other, dims);
  Tensor a = self;
  if (dims) {  // to the end, in this order
    std::vector<int64_t> ends;
    for (size_t i = 0; i < dims->size(); ++i)
      ends.push_back(static_cast<int64_t>(i) - static_cast<int64_t>(dims->size()));
    a = self.movedim(*dims, ends);
  }
  HB_CHECK(other.dim() <= a.dim(), "[linalg_tensorsolve] expected other with at most the ", a.dim(),
           " dimensions of self, got ", other.dim());
  const IntArrayRef shape = a.sizes().slice(other.dim());
  const int64_t n = product(shape);
  HB_CHECK(n * n == a.numel() && other.numel() == n,
           "[linalg_tensorsolve] expected self to satisfy prod(self.shape[other.ndim:]) == "
           "prod(self.shape[:other.ndim]), got ",
           self.sizes(), " and ", other.sizes());
  return linalg_solve(a.reshape({n, n}), other.reshape(-1)).reshape(shape);
}

TensorTuple2 triangular_solve(const Tensor& self, const Tensor& A, bool upper, bool transpose, bool unitriangular) {
  HB_AUTOCAST(triangular_solve, fp32, as_is, self, A, upper, transpose, unitriangular);
  HB_WARN_ONCE(
      "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangular and will be removed in a future "
      "release.");
  HB_CHECK(self.dim() >= 2 && A.dim() >= 2, "[triangular_solve] expected matrices, got ", self.sizes(), " and ",
           A.sizes());
  std::vector<int64_t> batch = broadcast_shapes(self.sizes().slice(0, self.dim() - 2), A.sizes().slice(0, A.dim() - 2));
  const auto sized = [&](const Tensor& t) {
    std::vector<int64_t> shape = batch;
    shape.insert(shape.end(), {t.size(-2), t.size(-1)});
    return t.expand(shape);
  };
  const Tensor a = sized(A);
  const Tensor x =
      linalg_solve_triangular(transpose ? a.mT() : a, sized(self), upper != transpose, true, unitriangular);
  return {x, a.clone()};
}

}  // namespace hb
