// The loop over the elements of two tensors.
#pragma once

#include <cstdint>

#include <halfbridge/diff/report.h>

namespace hb::layer_diff {

/// The unit of the last place of the coarser of two dtypes; of two integral ones 1.
struct UlpRule {
  UlpRule(Dtype ref, Dtype test);
  bool integral = false;
  int64_t min_field = 1;  // smallest exponent of a normal number, biased as in a double
  double scale = 1;       // 2 to the bits of the fraction
};

/// Sums and extremes over some elements of a pair; those of its parts, added in order, give the tensor's. Sums are over
/// the elements that are finite on both sides.
struct ErrorSums {
  double abs = 0, square = 0, ref_square = 0, test_square = 0, product = 0;
  double max_abs = 0, max_rel = 0, max_ulp = 0;
  double max_share = 0;  // of the tolerance
  int64_t worst = -1;    // element that has it
  double worst_ref = 0, worst_test = 0;
  int64_t finite = 0, out = 0;
  int64_t nan_ref = 0, nan_test = 0, inf_ref = 0, inf_test = 0;

  /// Elements `first`, first + 1, … of the tensors.
  void add(const double* ref, const double* test, int64_t count, int64_t first, const Tolerance& tolerance,
           const UlpRule& ulp);
  void add(const ErrorSums& later);
  /// `shape` is the reference's.
  Metrics metrics(const std::vector<int64_t>& shape) const;

 private:
  bool add_finite(const double* ref, const double* test, int64_t count, int64_t first, const Tolerance& tolerance,
                  const UlpRule& ulp);
  void add_one(double ref, double test, int64_t index, const Tolerance& tolerance, const UlpRule& ulp);
};

/// |test - ref| where NaN matches NaN and infinities match their like; infinite where one of them has no match.
double distance(double ref, double test);
/// Index of element `flat` of a contiguous tensor.
std::vector<int64_t> unravel(int64_t flat, const std::vector<int64_t>& shape);

}  // namespace hb::layer_diff
