#include "error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <halfbridge/error.h>
#include <halfbridge/ops.h>

namespace hb::layer_diff::replay {

Error error_of(const Tensor& test, const Tensor& ref) {
  HB_CHECK(test.numel() == ref.numel(), "[replay] expected tensors of one size, got ", test.sizes(), " and ",
           ref.sizes());
  const Tensor a = test.detach().to(kDouble).contiguous(), b = ref.detach().to(kDouble).contiguous();
  const double *x = a.data_ptr<double>(), *y = b.data_ptr<double>();
  Error error;
  double squares = 0, ref_squares = 0;
  const int64_t n = a.numel();
  for (int64_t i = 0; i < n; ++i) {
    if (std::isfinite(y[i])) {
      ref_squares += y[i] * y[i];
      error.ref_max = std::max(error.ref_max, std::abs(y[i]));
    }
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double d = std::abs(x[i] - y[i]);
    if (!std::isfinite(d)) {
      error.rms = error.max = std::numeric_limits<double>::infinity();
      return error;
    }
    squares += d * d;
    error.max = std::max(error.max, d);
  }
  if (n > 0) {
    error.rms = std::sqrt(squares / static_cast<double>(n));
    error.ref_rms = std::sqrt(ref_squares / static_cast<double>(n));
  }
  return error;
}

double unit_roundoff(Dtype dtype) {
  switch (dtype) {
    case kDouble:
      return std::ldexp(1.0, -53);
    case kFloat:
      return std::ldexp(1.0, -24);
    case kHalf:
      return std::ldexp(1.0, -11);
    case kBFloat16:
      return std::ldexp(1.0, -8);
    default:
      return 0;
  }
}

Dtype coarser(Dtype a, Dtype b) { return unit_roundoff(a) >= unit_roundoff(b) ? a : b; }

Noise noise_between(const Tensor& in_dtype, const Tensor& in_double, Dtype dtype) {
  const Error error = error_of(in_dtype, in_double);
  const double u = unit_roundoff(dtype);
  // A layer that happens to round nothing here (a maximum) may be written so that it rounds once.
  return {kNoiseMargin * std::max(error.rms, error.ref_rms * u / 4),
          kNoiseMargin * std::max(error.max, error.ref_max * u / 2), error.ref_rms};
}

}  // namespace hb::layer_diff::replay
