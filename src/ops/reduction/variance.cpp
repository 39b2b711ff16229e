// Variances and standard deviations, alone and with the mean.
#include <limits>

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/function_watch.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/reduction/reduce_op.h"

namespace hb {

using ops::gradients;

namespace {

double correction_of(const std::optional<Scalar>& correction) { return correction ? correction->toDouble() : 1; }

/// With the dimensions that `mask` takes together kept.
Tensor mean_of(const Tensor& x, uint64_t mask) {
  DimVector dims;
  for (int64_t d = 0; d < x.dim(); ++d)
    if ((mask >> d) & 1) dims.push_back(d);
  return x.dim() ? x.mean(OptionalIntArrayRef(IntArrayRef(dims.data(), dims.size())), true) : x;
}

Tensor variance_gradient(const Tensor& g, const Tensor& x, uint64_t mask, bool keepdim, double correction) {
  const double n = static_cast<double>(ops::reduced_count(x, mask));
  const Tensor scale = ops::restore_dims(g, x.impl().sizes(), mask, keepdim) * Scalar(2 / (n - correction));
  const Tensor deviation = x - mean_of(x, mask);
  return GradMode::is_enabled() ? scale * deviation : deviation.mul_(scale);
}

// There are no more values for a result than the correction takes away.
void warn_of_freedom(const char* name, const Tensor& self, uint64_t mask, double correction) {
  if (self.dim() == 0 ? correction < 1 : static_cast<double>(ops::reduced_count(self, mask)) > correction) return;
  detail::warn(detail::str(name,
                           "(): degrees of freedom is <= 0. Correction should be strictly less than the reduction "
                           "factor (values for each result)."));
}

/// (variance or deviation, mean)
std::pair<Tensor, Tensor> moments(const char* name, const Tensor& self, uint64_t mask, bool keepdim, double correction,
                                  bool root, bool with_mean) {
  const ScalarType t = self.scalar_type();
  HB_CHECK(is_floating_type(t), "[", name, "] std and var only support floating point and complex dtypes, got ",
           toString(t));
  Tensor out = ops::reduced_result(self, mask, t), mean;
  if (with_mean) mean = ops::reduced_result(self, mask, t);
  warn_of_freedom(name, self, mask, correction);
  const ReduceLoop loop(out, self, mask);
  if (loop.count == 0) {
    out.fill_(std::numeric_limits<double>::quiet_NaN());
    if (with_mean) mean.fill_(std::numeric_limits<double>::quiet_NaN());
  } else if (with_mean) {
    const ReduceLoop mean_loop(mean, self, mask);
    moments_kernel(self.device())(loop, &mean_loop, correction, root);
  } else {
    moments_kernel(self.device())(loop, nullptr, correction, root);
  }
  if (!keepdim) {
    ops::drop_dims(out, mask);
    if (with_mean) ops::drop_dims(mean, mask);
  }
  return {out, mean};
}

Tensor deviation_gradient(const Tensor& g, const Tensor& y) { return masked_fill(g / (y * 2), y == 0, 0); }

/// The deviation of a complex tensor, from the variance.
Tensor deviation_of(const Tensor& variance) {
  Tensor out;
  {
    NoGradGuard no_grad;
    out = sqrt(variance);
  }
  if (needs_grad(variance))
    record("StdBackward0", out, {&variance}, {SavedTensor::output(out)},
           [](Backward& b, auto& s) { return gradients(deviation_gradient(b.grad(), s[0])); });
  return out;
}

Tensor spread_of(const char* name, const Tensor& self, uint64_t mask, bool keepdim, double correction, bool root) {
  if (self.is_complex()) {
    const Tensor variance = spread_of(name, real(self), mask, keepdim, correction, false) +
                            spread_of(name, imag(self), mask, keepdim, correction, false);
    return root ? deviation_of(variance) : variance;
  }
  Tensor out = moments(name, self, mask, keepdim, correction, root, false).first;
  if (!needs_grad(self)) return out;
  if (root) {
    record("StdBackward0", out, {&self}, {SavedTensor::input(self), SavedTensor::output(out)},
           [=](Backward& b, auto& s) {
             return gradients(variance_gradient(deviation_gradient(b.grad(), s[1]), s[0], mask, keepdim, correction));
           });
  } else {
    record("VarBackward0", out, {&self}, {SavedTensor::input(self)}, [=](Backward& b, auto& s) {
      return gradients(variance_gradient(b.grad(), s[0], mask, keepdim, correction));
    });
  }
  return out;
}

std::tuple<Tensor, Tensor> spread_and_mean(const char* name, const Tensor& self, OptionalIntArrayRef dim,
                                           double correction, bool keepdim, bool root) {
  const uint64_t mask = ops::reduced_dims(name, dim, self.dim());
  if (self.is_complex()) return {spread_of(name, self, mask, keepdim, correction, root), mean(self, dim, keepdim)};
  auto [out, mean] = moments(name, self, mask, keepdim, correction, root, true);
  if (needs_grad(self))
    record_many(
        root ? "StdMeanBackward0" : "VarMeanBackward0", {&out, &mean}, {&self},
        {SavedTensor::input(self), SavedTensor::output(out)}, [=](Backward& b, const variable_list& s) {
          const Tensor& x = s[0];
          const Tensor gv = root ? deviation_gradient(b.grad(0), s[1]) : b.grad(0);
          const double n = static_cast<double>(ops::reduced_count(x, mask));
          const auto spread = [&](const Tensor& g) { return ops::restore_dims(g, x.impl().sizes(), mask, keepdim); };
          // the gradient of the mean and that of the variance in one pass
          return gradients(
              addcmul(spread(b.grad(1)) / Scalar(n), spread(gv) * Scalar(2 / (n - correction)), x - mean_of(x, mask)));
        });
  return {out, mean};
}

}  // namespace

#define HB_SPREAD(name, root)                                                                                         \
  Tensor name(const Tensor& self, bool unbiased) {                                                                    \
    HB_FUNCTION(name, self, unbiased);                                                                                \
    return spread_of(#name, self, ops::reduced_dims(#name, std::nullopt, self.dim()), false, unbiased ? 1 : 0, root); \
  }                                                                                                                   \
  Tensor name(const Tensor& self, int dim) {                                                                          \
    HB_FUNCTION(name, self, dim);                                                                                     \
    return spread_of(#name, self, ops::reduced_dim(#name, dim, self.dim()), false, 1, root);                          \
  }                                                                                                                   \
  Tensor name(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {                             \
    HB_FUNCTION(name, self, dim, unbiased, keepdim);                                                                  \
    return spread_of(#name, self, ops::reduced_dims(#name, dim, self.dim()), keepdim, unbiased ? 1 : 0, root);        \
  }                                                                                                                   \
  Tensor name(const Tensor& self, OptionalIntArrayRef dim, const std::optional<Scalar>& correction, bool keepdim) {   \
    HB_FUNCTION(name, self, dim, correction, keepdim);                                                                \
    return spread_of(#name, self, ops::reduced_dims(#name, dim, self.dim()), keepdim, correction_of(correction),      \
                     root);                                                                                           \
  }
HB_SPREAD(var, false)
HB_SPREAD(std, true)
#undef HB_SPREAD
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, OptionalIntArrayRef dim,
                                    const std::optional<Scalar>& correction, bool keepdim) {
  HB_FUNCTION(var_mean, self, dim, correction, keepdim);
  return spread_and_mean("var_mean", self, dim, correction_of(correction), keepdim, false);
}
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, OptionalIntArrayRef dim,
                                    const std::optional<Scalar>& correction, bool keepdim) {
  HB_FUNCTION(std_mean, self, dim, correction, keepdim);
  return spread_and_mean("std_mean", self, dim, correction_of(correction), keepdim, true);
}

}  // namespace hb
