#pragma once
// Attention of half types by tiles on tensor cores; attention.cu computes what these functions do not.

#include "backend/attention.h"

namespace hb::cuda {

/// False, with nothing done, where heads are wider than 128 or rows are not aligned to 16 bytes.
bool attention_by_tiles(const Attention& a);
bool attention_backward_by_tiles(const Attention& a, const AttentionGrad& g);

}  // namespace hb::cuda
