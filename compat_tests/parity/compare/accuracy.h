// Which build is nearer to the exact result.
#pragma once
#include "parity_file.h"

namespace parity_diff {

// Prints, for every float tensor in which the candidate is further than `least` rounding steps from `exact` (what a
// build wrote with --exact) and further than the reference by half, both distances. Returns how many there are.
int report_accuracy(const ParityFile& exact, const ParityFile& reference, const ParityFile& candidate, double least);

}  // namespace parity_diff
