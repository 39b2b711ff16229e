// Factors of a few columns whose sum comes nearest to another.
#pragma once

#include <cmath>
#include <vector>

namespace hb::layer_diff::hints {

using Column = std::vector<double>;

double rms(const Column& column);

struct Fit {
  std::vector<double> factors;            // empty where the columns depend on each other
  double rms = INFINITY, max = INFINITY;  // of what is left
};
/// target = sum of factors * columns. At most three columns, of the target's length.
Fit fit(const std::vector<const Column*>& columns, const Column& target);

}  // namespace hb::layer_diff::hints
