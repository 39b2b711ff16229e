#include "error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <halfbridge/error.h>
#include <halfbridge/ops.h>

#include "threads.h"

namespace hb::layer_diff::replay {

namespace {
struct Sums {
  double squares = 0, max = 0, ref_squares = 0, ref_max = 0;
  bool infinite = false;
};

Sums sums_of(const double* x, const double* y, int64_t n) {
  Sums s;
  for (int64_t i = 0; i < n; ++i) {
    if (std::isfinite(y[i])) {
      s.ref_squares += y[i] * y[i];
      s.ref_max = std::max(s.ref_max, std::abs(y[i]));
    }
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double d = std::abs(x[i] - y[i]);
    s.infinite = s.infinite || !std::isfinite(d);
    s.squares += d * d;
    s.max = std::max(s.max, d);
  }
  return s;
}
}  // namespace

Error error_of(const Tensor& test, const Tensor& ref) {
  HB_CHECK(test.numel() == ref.numel(), "[replay] expected tensors of one size, got ", test.sizes(), " and ",
           ref.sizes());
  const Tensor a = test.detach().to(kDouble).contiguous(), b = ref.detach().to(kDouble).contiguous();
  const double *x = a.data_ptr<double>(), *y = b.data_ptr<double>();
  const int64_t n = a.numel();
  // Blocks of one size: the sums do not depend on the number of threads.
  constexpr int64_t kBlock = 1 << 16;
  std::vector<Sums> blocks(static_cast<size_t>((n + kBlock - 1) / kBlock));
  on_all_threads(blocks.size(), [&](size_t i) {
    const int64_t from = static_cast<int64_t>(i) * kBlock;
    blocks[i] = sums_of(x + from, y + from, std::min(kBlock, n - from));
  });
  Error error;
  double squares = 0, ref_squares = 0;
  bool infinite = false;
  for (const Sums& s : blocks) {
    squares += s.squares, ref_squares += s.ref_squares;
    error.max = std::max(error.max, s.max), error.ref_max = std::max(error.ref_max, s.ref_max);
    infinite = infinite || s.infinite;
  }
  if (infinite) {
    error.rms = error.max = std::numeric_limits<double>::infinity();
  } else if (n > 0) {
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
