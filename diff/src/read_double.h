// Raw elements to double.
#pragma once

#include <cstdint>

#include <halfbridge/dtype.h>

namespace hb::layer_diff {

/// Converts `count` contiguous elements, aligned to their size or not.
void to_double(Dtype dtype, const char* bytes, int64_t count, double* values);

}  // namespace hb::layer_diff
