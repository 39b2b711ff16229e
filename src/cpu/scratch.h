#pragma once

#include <cstddef>

namespace hb::cpu {

/// Memory for intermediate results, reused by each thread; valid until the next call with the same slot.
enum class Scratch {
  primitive,
  gather_a,
  gather_b,
  convert_a,
  convert_b,
  convert_c,
  result,
  spread_a,
  spread_b,
  weights,
  patches,
  tiles,
  tile_rows,
  tile_columns,
  tile_sums,
  parts_a,
  parts_b,
  kCount
};
void* scratch_buffer(Scratch slot, size_t bytes);

}  // namespace hb::cpu
