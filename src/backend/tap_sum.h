#pragma once

#include <vector>

#include "backend/kernel.h"

namespace hb {

/// Weighted sums along one dimension: memory is (outer, in, inner), and element i of the result is the sum of
/// weight[t][i] times element index[t][i], over all taps t.
struct TapSum {
  int64_t outer = 1, in = 1, inner = 1;
  std::vector<std::vector<int64_t>> index;
  std::vector<std::vector<double>> weight;
  int64_t outputs() const { return static_cast<int64_t>(index[0].size()); }
};
HB_NO_OPERANDS(TapSum)

/// float or double. out (outer, outputs, inner), in (outer, in, inner); adjoint: the transpose, with the two exchanged.
HB_API inline Kernel<void(ScalarType dtype, const TapSum& s, bool adjoint, void* out, const void* in)> tap_sum_kernel{
    "upsample"};

}  // namespace hb
