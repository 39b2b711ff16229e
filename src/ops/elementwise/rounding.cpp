// round to decimals and nan_to_num.
#include <cstdlib>

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/function_watch.h"
#include "core/value_range.h"
#include "ops/common/inplace.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb {

using ops::gradients;

Tensor round(const Tensor& self, int64_t decimals) {
  HB_DEFINED(round, self);
  if (decimals == 0) return round(self);
  HB_CHECK(self.is_floating_point(), "[round] decimals: expected a floating tensor, got ",
           toString(self.scalar_type()));
  double power = 1;
  for (int64_t i = 0; i < std::abs(decimals); ++i) power *= 10;
  const double p[] = {power, decimals < 0 ? 1.0 : 0.0};
  Tensor out = ops::floating_op("round", round_decimals_formula, {self}, p);
  if (needs_grad(self))
    record("RoundBackward1", out, {&self}, [](Backward& b) { return gradients(zeros_like(b.grad())); });
  return out;
}

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  HB_FUNCTION(nan_to_num, self, nan, posinf, neginf);
  const ScalarType t = self.scalar_type();
  if (is_integral_type(t, true)) return self.clone();
  Tensor out;
  if (self.is_complex()) {
    NoGradGuard no_grad;
    out = view_as_complex(nan_to_num(view_as_real(self), nan, posinf, neginf));
  } else {
    const double p[] = {nan.value_or(0), posinf.value_or(largest_of(t)), neginf.value_or(-largest_of(t))};
    out = ops::launch_new("nan_to_num", nan_to_num_formula, compute_type(t), t, {self}, p);
  }
  if (needs_grad(self))
    record("NanToNumBackward0", out, {&self}, {SavedTensor::input(self)},
           [](Backward& b, auto& s) { return gradients(where(isfinite(s[0]), b.grad(), Scalar(0))); });
  return out;
}

Tensor& nan_to_num_(Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                    std::optional<double> neginf) {
  return inplace("nan_to_num_", self, [&](const Tensor& old) { return nan_to_num(old, nan, posinf, neginf); });
}

}  // namespace hb
