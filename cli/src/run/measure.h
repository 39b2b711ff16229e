#pragma once
// halfbridge run --measure: what sums between these ranks cost, and what steps of a model would.

#include <string>

#include "plan.h"

namespace hb::cli {

struct MeasureOptions {
  bool on = false, worker = false;
  std::string backend = "auto";
  double step_ms = 0, gradient_mb = 0;
  double network_us = 50, network_gbs = 1.25;  // between hosts, for predictions alone
};

/// The options of the run that measures: this program in place of the user's.
RunOptions measuring_run(RunOptions run, const MeasureOptions& options);
/// What each rank does then; rank 0 prints.
void measure_as_rank(const MeasureOptions& options);

}  // namespace hb::cli
