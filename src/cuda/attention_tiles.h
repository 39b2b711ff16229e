#pragma once
// Attention of half types and of float by tiles on tensor cores; attention.cu computes what these functions do not.
// Numbers of float are multiplied as sums of two of TF32 (tensor_core.h).

#include "backend/attention.h"

namespace hb::cuda {

/// False, with nothing done, where heads are wider than 128 or no multiple of 8, or rows are not aligned to 16 bytes.
bool attention_by_tiles(const Attention& a);
bool attention_backward_by_tiles(const Attention& a, const AttentionGrad& g);

}  // namespace hb::cuda
