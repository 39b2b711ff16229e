#pragma once

#include <vector>

#include "backend/kernel.h"
#include "formulas/resampling.h"

namespace hb {

/// Weighted sums along one dimension: memory is (outer, in, inner), and element i of the result is the sum of
/// weight[t][i] times element index[t][i], over all taps t. These lists are what the rule says; for CUDA they are
/// empty.
struct TapSum {
  int64_t outer = 1, inner = 1;
  Resampling rule;
  std::vector<std::vector<int64_t>> index;
  std::vector<std::vector<double>> weight;
};
HB_NO_OPERANDS(TapSum)

/// float or double. out (outer, outputs, inner), in (outer, in, inner); adjoint: the transpose, with the two exchanged.
HB_API inline Kernel<void(ScalarType dtype, const TapSum& s, bool adjoint, void* out, const void* in)> tap_sum_kernel{
    "upsample"};

}  // namespace hb
