#pragma once
// Anomaly detection: the backward pass stops at the first function that gives NaN, and warns with the calls by which
// the program recorded the function that failed.

#include <halfbridge/macros.h>

namespace hb::autodiff {

/// The switch, for all threads. It costs a traceback for every recorded function and a pass over every gradient.
class HB_API AnomalyMode {
 public:
  static bool is_enabled();
  static bool should_check_nan();
  /// Not while another thread runs a backward pass.
  static void set_enabled(bool enabled, bool check_nan = true);
};

/// Turns it on while it lives. backward() then throws an Error that names the function whose gradient holds NaN.
class HB_API DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true);
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;
  ~DetectAnomalyGuard();

 private:
  bool enabled_before_, check_nan_before_;
};

}  // namespace hb::autodiff
