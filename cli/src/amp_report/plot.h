#pragma once

#include <string>

#include "report.h"

namespace hb::cli::amp_report {

/// Which powers of two the histograms of a page show.
struct Axis {
  int low = -40, high = 20;
};
Axis axis_of(const Report& report);

/// SVG: how many gradients are of which size, as they are and, where there is an advice, scaled, with fp16's range.
std::string plot(const GradientCounts& parameters, const GradientCounts& outputs, const std::optional<Fit>& advice,
                 const Axis& axis);

}  // namespace hb::cli::amp_report
