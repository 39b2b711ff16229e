#pragma once

#include <array>
#include <vector>

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// An index of its own for each of three dimensions (a missing one has size 1 and index {0}): padding, nearest
/// neighbours. Memory is (outer, size[0], size[1], size[2], inner).
struct SeparableIndex {
  int64_t outer = 1, inner = 1;
  std::array<int64_t, 3> size{1, 1, 1};
  std::array<std::vector<int64_t>, 3> index{std::vector<int64_t>{0}, {0}, {0}};

  int64_t outputs(int d) const { return static_cast<int64_t>(index[d].size()); }
};
HB_NO_OPERANDS(SeparableIndex)

/// out[o][i][j][k] = in[o][index[0][i]][index[1][j]][index[2][k]]; elements of `itemsize` bytes.
HB_API inline Kernel<void(int64_t itemsize, const SeparableIndex& s, void* out, const void* in)>
    separable_select_kernel{"separable_select"};
/// The transpose: out[o][index[0][i]][index[1][j]][index[2][k]] += in[o][i][j][k], from zeros. Floating dtypes.
HB_API inline Kernel<void(ScalarType dtype, const SeparableIndex& s, void* out, const void* in)> separable_sum_kernel{
    "separable_sum"};

}  // namespace hb
