// Two tensors side by side, wherever they are.
#pragma once

#include <functional>

#include <halfbridge/diff/report.h>

#include "error_sums.h"

namespace hb::layer_diff {

/// A tensor's elements as they lie on disk or in memory.
struct Elements {
  Dtype dtype;
  std::vector<int64_t> shape;
  std::function<void(int64_t first, int64_t count, char* bytes)> read;
};
Elements elements_of(const Trace& trace, const Record& record);

/// Sums over elements `first` to `last`.
ErrorSums sums_of(const Elements& ref, const Elements& test, int64_t first, int64_t last, const Tolerance& tolerance);
Histogram histogram_of(const Elements& ref, const Elements& test);
/// The heat map of the slice that holds element `worst` (an index of the reference).
HeatMap heat_map_of(const Elements& ref, const Elements& test, const std::vector<int64_t>& worst);

}  // namespace hb::layer_diff
