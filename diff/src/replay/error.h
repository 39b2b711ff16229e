// Differences of tensors, and how much of them rounding explains.
#pragma once

#include "layer.h"

namespace hb::layer_diff::replay {

/// Absolute errors of `test` against `ref`; infinite where one has NaN or an infinity that the other has not.
struct Error {
  double rms = 0, max = 0;
  double ref_rms = 0, ref_max = 0;
  double relative() const { return rms == 0 ? 0 : rms / (ref_rms > 0 ? ref_rms : 1); }
};
/// Same number of elements; computed in double.
Error error_of(const Tensor& test, const Tensor& ref);

/// What rounding alone may give, absolute.
struct Noise {
  double rms = 0, max = 0, ref_rms = 0;
  bool explains(const Error& error) const { return error.rms <= rms && error.max <= max; }
  double relative() const { return ref_rms > 0 ? rms / ref_rms : rms; }
};
/// A layer is allowed this many times the rounding error that it shows when run in float64 and in its dtype: another
/// order of sums or another algorithm (Winograd, FFT) has a few times the error of this one.
constexpr double kNoiseMargin = 8;

/// Half the distance from 1 to the next number of the dtype; 0 for integers.
double unit_roundoff(Dtype dtype);
Noise noise_between(const Tensor& in_dtype, const Tensor& in_double, Dtype dtype);
/// The coarser of two floating dtypes.
Dtype coarser(Dtype a, Dtype b);

}  // namespace hb::layer_diff::replay
