// Vector norms.
#include <bitset>
#include <cmath>
#include <limits>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "core/warnings.h"
#include "ops/common/inplace.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/reduction/reduce_op.h"

namespace hb {
namespace {

using ops::gradients;

ops::Reduction reduction_of(double p) {
  const double inf = std::numeric_limits<double>::infinity();
  if (p == 0) return {ReduceOp::count};
  if (p == 1) return {ReduceOp::abs_sum};
  if (p == 2) return {ReduceOp::square_sum, 0, {0, 1, 2}};
  if (p == inf) return {ReduceOp::abs_max};
  if (p == -inf) return {ReduceOp::abs_min, inf};
  return {ReduceOp::power_sum, 0, {p, 1, p}};
}

Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& norm, double p) {
  if (p == 0) return zeros_like(x);
  if (p == 1) return sgn(x) * g;
  if (p == 2) return x * masked_fill(g / norm, norm == 0, 0);
  if (std::isinf(p)) {
    const Tensor hit = logical_or(abs(x) == norm, logical_and(isnan(x), isnan(norm)));
    const Tensor count = sum_to(hit.to(norm.scalar_type()), norm.sizes());
    return sgn(x) * where(hit, g / count, Scalar(0));
  }
  const Tensor share = masked_fill(g / pow(norm, Scalar(p - 1)), norm == 0, 0);
  if (p > 2) {
    const Tensor power = p == 3 ? abs(x) : pow(abs(x), Scalar(p - 2));
    const bool in_place = !GradMode::is_enabled() && !x.is_complex();  // no second gradient will be asked for
    return in_place ? power.mul_(x).mul_(share) : x * power * share;
  }
  return masked_fill(sgn(x) * pow(abs(x), Scalar(p - 1)), x == 0, 0) * share;
}

Tensor norm_of(const Tensor& self, double p, uint64_t mask, bool keepdim,
               std::optional<ScalarType> dtype = std::nullopt) {
  if (HB_UNLIKELY(self.is_sparse())) {
    const bool all = static_cast<int64_t>(std::bitset<64>(mask).count()) == self.dim();
    HB_CHECK(all && !keepdim, "[norm] Only full reduction to a scalar is currently supported for sparse tensors");
    const Tensor values = self.coalesce().values();
    return norm_of(values, p, ops::reduced_dims("norm", std::nullopt, values.dim()), false, dtype);
  }
  HB_CHECK(is_floating_type(self.scalar_type()) || self.is_complex(),
           "[norm] norm(): input dtype should be either floating point or complex. Got ", toString(self.scalar_type()),
           " instead.");
  const ScalarType asked = dtype.value_or(self.scalar_type());
  const ScalarType t = self.is_complex() ? to_real_type(asked) : asked;
  HB_CHECK(is_floating_type(t), "[norm] expected a floating dtype, got ", toString(t));
  HB_CHECK(ops::reduced_count(self, mask) > 0 || p >= 0, "linalg.vector_norm cannot compute the ", p,
           " norm on an empty tensor because the operation does not have an identity");
  HB_CHECK(ops::reduced_count(self, mask) > 0 || !std::isinf(p) || self.numel() > 0 ||
               ops::reduced_result(self, mask, t).numel() == 0,
           "linalg.vector_norm cannot compute the inf norm on an empty tensor because the operation does not have an "
           "identity");
  Tensor out;
  {
    NoGradGuard no_history;
    out = ops::run_reduction(self.is_complex() ? abs(self) : self, mask, keepdim, t, t, reduction_of(p));
  }
  if (needs_grad(self))
    record("LinalgVectorNormBackward0", out, {&self}, {SavedTensor::input(self), SavedTensor::output(out)},
           [p, mask, keepdim](Backward& b, auto& s) {
             const DimVector& sizes = s[0].impl().sizes();
             return gradients(gradient(ops::restore_dims(b.grad(), sizes, mask, keepdim), s[0],
                                       ops::restore_dims(s[1], sizes, mask, keepdim), p));
           });
  return out;
}

}  // namespace

Tensor norm(const Tensor& self, const Scalar& p) {
  HB_AUTOCAST(norm, as_is, fp32, self, p);
  return named("NormBackward0", norm_of(self, p.toDouble(), ops::reduced_dims("norm", std::nullopt, self.dim()), false),
               self);
}
Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim) {
  HB_AUTOCAST(norm, as_is, fp32, self, p, dim, keepdim);
  return named(
      "NormBackward1",
      norm_of(self, p ? p->toDouble() : 2, ops::reduced_dims("norm", OptionalIntArrayRef(dim), self.dim()), keepdim),
      self);
}
Tensor norm(const Tensor& self, const std::optional<Scalar>& p, ScalarType dtype) {
  HB_DEFINED(norm, self);
  return norm_of(self, p ? p->toDouble() : 2, ops::reduced_dims("norm", std::nullopt, self.dim()), false, dtype);
}
Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim, ScalarType dtype) {
  return norm_of(self, p ? p->toDouble() : 2, ops::reduced_dims("norm", OptionalIntArrayRef(dim), self.dim()), keepdim,
                 dtype);
}
Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  HB_AUTOCAST(linalg_vector_norm, as_is, fp32_dtype, self, ord, dim, keepdim, dtype);
  return norm_of(self, ord.toDouble(), ops::reduced_dims("linalg_vector_norm", dim, self.dim()), keepdim, dtype);
}
Tensor frobenius_norm(const Tensor& self, IntArrayRef dim, bool keepdim) {
  HB_AUTOCAST(frobenius_norm, as_is, fp32, self, dim, keepdim);
  HB_WARN_ONCE("at::frobenius_norm is deprecated: use linalg_vector_norm(A, 2, dim, keepdim).");
  return named("NormBackward1",
               norm_of(self, 2, ops::reduced_dims("frobenius_norm", OptionalIntArrayRef(dim), self.dim()), keepdim),
               self);
}

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  HB_AUTOCAST(renorm, as_is, fp32, self, p, dim, maxnorm);
  HB_CHECK(self.dim() > 1, "[renorm] expected at least 2 dimensions, got ", self.dim());
  HB_CHECK(p.toDouble() > 0, "[renorm] non-positive-norm not supported, got ", p);
  HB_CHECK(maxnorm.toDouble() >= 0, "[renorm] expected maxnorm to be >= 0, got ", maxnorm);
  const uint64_t all = ops::reduced_dims("renorm", std::nullopt, self.dim());
  const Tensor length = norm_of(self, p.toDouble(), all & ~ops::reduced_dim("renorm", dim, self.dim()), true);
  const Tensor factor = where(length > maxnorm, reciprocal(length + 1e-7) * maxnorm, ones_like(length));
  return named("RenormBackward0", (self * factor).contiguous(), self);
}
Tensor& renorm_(Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  return inplace("renorm_", self, [&](const Tensor& x) { return renorm(x, p, dim, maxnorm); });
}

Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  if (dim == -1) return norm(v, Scalar(pow));
  std::vector<int64_t> others;
  for (int64_t d = 0; d < v.dim(); ++d)
    if (d != dim) others.push_back(d);
  return norm(v, Scalar(pow), others, true);
}

Tensor nuclear_norm(const Tensor& self, IntArrayRef dim, bool keepdim) {
  HB_AUTOCAST(nuclear_norm, as_is, fp32, self, dim, keepdim);
  HB_WARN_ONCE("at::nuclear_norm is deprecated: use linalg_matrix_norm(A, \"nuc\", dim, keepdim).");
  return linalg_matrix_norm(self, "nuc", dim, keepdim);
}
Tensor nuclear_norm(const Tensor& self, bool keepdim) { return nuclear_norm(self, {-2, -1}, keepdim); }

}  // namespace hb
