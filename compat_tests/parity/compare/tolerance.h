// How far Halfbridge's numbers may lie from LibTorch's.
#pragma once
#include <string>

#include "parity_file.h"

namespace parity_diff {

// |got - expected| <= rtol * |expected| + atol * scale, where scale is the largest |expected| of the tensor,
// at least 0.01.
struct Tolerance {
  double rtol, atol;
};

// The table's entry for the family (the part of `name` before the first dot) and dtype.
Tolerance default_tolerance(const std::string& name, Dtype dtype);

// A case's own tolerance ("rtol atol"). No case may ask for more than the project allows: 1e-3, or for the
// half types as many of their own rounding steps as that table says. Throws std::runtime_error.
Tolerance parse_tolerance(const std::string& text, Dtype dtype);

}  // namespace parity_diff
