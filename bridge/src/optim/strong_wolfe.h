#pragma once

#include <functional>

#include <halfbridge/tensor.h>

namespace hb::bridge::optim {

/// The objective at one place of a line.
struct LinePoint {
  double t;  // how far along
  double loss;
  Tensor grad;   // of all parameters
  double slope;  // gradient along the line
};
struct LineSearch {
  LinePoint point;
  int64_t evaluations;
};

/// Searches for a step that satisfies the strong Wolfe conditions: brackets one from `t` on, then zooms in by cubic
/// interpolation. `reach` is the largest component of the direction.
LineSearch strong_wolfe(const std::function<LinePoint(double t)>& evaluate, double t, double reach,
                        const LinePoint& start, double tolerance_change);

}  // namespace hb::bridge::optim
