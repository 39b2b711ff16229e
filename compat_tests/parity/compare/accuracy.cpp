#include "accuracy.h"

#include <fmt/format.h>

#include "array_diff.h"

namespace parity_diff {

int report_accuracy(const ParityFile& exact, const ParityFile& reference, const ParityFile& candidate, double least) {
  int worse = 0, compared = 0;
  for (const auto& [name, truth] : exact.arrays) {
    const auto left = reference.arrays.find(name), right = candidate.arrays.find(name);
    if (left == reference.arrays.end() || right == candidate.arrays.end()) continue;
    const Array &a = left->second, &b = right->second;
    if (truth.dtype != Dtype::f64 || !a.is_float() || a.dtype == Dtype::f64 || a.dtype != b.dtype) continue;
    if (a.shape != truth.shape || b.shape != truth.shape) continue;
    ++compared;
    const double of_reference = steps_from(truth, a), of_candidate = steps_from(truth, b);
    if (of_candidate <= least || of_candidate <= 1.5 * of_reference) continue;
    ++worse;
    fmt::print("{}: {} steps of {} from the exact result, the reference {}\n", name,
               fmt::format("{:.2f}", of_candidate), name_of(a.dtype), fmt::format("{:.2f}", of_reference));
  }
  fmt::print("{} compared, {} less accurate than the reference\n", compared, worse);
  return worse;
}

}  // namespace parity_diff
