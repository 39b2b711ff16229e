// Comparing one tensor of the two builds.
#pragma once
#include <optional>
#include <string>

#include "parity_file.h"
#include "tolerance.h"

namespace parity_diff {

struct ArrayDiff {
  double used = 0;      // the worst element's share of the tolerance; above 1 is a failure
  std::string problem;  // empty when the tensors agree
};

ArrayDiff diff_arrays(const Array& expected, const Array& got, Tolerance tolerance);

// The worst element's distance from `exact` in rounding steps of `got`'s dtype (of |exact| and of the tensor's scale).
double steps_from(const Array& exact, const Array& got);

}  // namespace parity_diff
