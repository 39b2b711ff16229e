#include "array_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace parity_diff {
namespace {

// The element's index in the tensor's own dimensions.
std::string index_text(int64_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return shape_text(index);
}

// Distance in steps of the dtype at `expected`.
double ulps(double expected, double got, Dtype dtype) {
  if (!std::isfinite(expected) || !std::isfinite(got)) return std::numeric_limits<double>::infinity();
  struct Format {
    int bits, min_exponent;
  };
  const Format format = dtype == Dtype::f64   ? Format{53, -1021}
                        : dtype == Dtype::f32 ? Format{24, -125}
                        : dtype == Dtype::f16 ? Format{11, -13}
                                              : Format{8, -125};
  int exponent;
  std::frexp(expected, &exponent);
  const double step = std::ldexp(1.0, std::max(exponent, format.min_exponent) - format.bits);
  return std::fabs(got - expected) / step;
}

double share_used(double expected, double got, Tolerance tolerance, double scale) {
  if (expected == got || (std::isnan(expected) && std::isnan(got))) return 0;
  const double allowed = tolerance.rtol * std::fabs(expected) + tolerance.atol * scale;
  const double error = std::fabs(got - expected);
  if (!std::isfinite(expected) || !std::isfinite(got) || allowed == 0) return std::numeric_limits<double>::infinity();
  return error / allowed;
}

double scale_of(const Array& array) {
  double scale = 0.01;
  for (int64_t i = 0; i < array.size(); ++i) {
    const double value = std::fabs(array.number(i));
    if (std::isfinite(value)) scale = std::max(scale, value);
  }
  // Beside a huge value (special inputs) the others are still held to their own size.
  return scale > 1e6 ? 0.01 : scale;
}

ArrayDiff diff_floats(const Array& expected, const Array& got, Tolerance tolerance) {
  const double scale = scale_of(expected);
  ArrayDiff diff;
  int64_t worst = -1, wrong = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    const double used = share_used(expected.number(i), got.number(i), tolerance, scale);
    wrong += used > 1;
    if (used > diff.used) diff.used = used, worst = i;
  }
  if (wrong == 0) return diff;
  const double e = expected.number(worst), g = got.number(worst);
  diff.problem = fmt::format(
      "{} of {} elements of {}{} differ; worst at {}: expected {:.9g}, got {:.9g} ({:.3g} ULP, {:.3g} "
      "times the tolerance rtol {:g} atol {:g})",
      wrong, expected.size(), name_of(expected.dtype), shape_text(expected.shape), index_text(worst, expected.shape), e,
      g, ulps(e, g, expected.dtype), diff.used, tolerance.rtol, tolerance.atol);
  return diff;
}

ArrayDiff diff_integers(const Array& expected, const Array& got) {
  int64_t first = -1, wrong = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    if (expected.integer(i) == got.integer(i)) continue;
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) return {};
  return {std::numeric_limits<double>::infinity(),
          fmt::format("{} of {} elements of {}{} differ; first at {}: expected {}, got {}", wrong, expected.size(),
                      name_of(expected.dtype), shape_text(expected.shape), index_text(first, expected.shape),
                      expected.integer(first), got.integer(first))};
}

double step_of(Dtype dtype) {
  return std::ldexp(1.0, dtype == Dtype::f64 ? -52 : dtype == Dtype::f32 ? -23 : dtype == Dtype::f16 ? -10 : -7);
}

}  // namespace

double steps_from(const Array& exact, const Array& got) {
  const double scale = scale_of(exact), step = step_of(got.dtype);
  double worst = 0;
  for (int64_t i = 0; i < exact.size(); ++i) {
    const double e = exact.number(i), g = got.number(i);
    // What overflows in the narrower dtype says nothing about its formula.
    if (std::isfinite(e) && std::isfinite(g)) worst = std::max(worst, share_used(e, g, {step, step}, scale));
  }
  return worst;
}

ArrayDiff diff_arrays(const Array& expected, const Array& got, Tolerance tolerance) {
  const double infinite = std::numeric_limits<double>::infinity();
  if (expected.dtype != got.dtype) {
    return {infinite, fmt::format("expected dtype {}, got {}", name_of(expected.dtype), name_of(got.dtype))};
  }
  if (expected.shape != got.shape) {
    return {infinite, fmt::format("expected shape {}, got {}", shape_text(expected.shape), shape_text(got.shape))};
  }
  return expected.is_float() ? diff_floats(expected, got, tolerance) : diff_integers(expected, got);
}

}  // namespace parity_diff
