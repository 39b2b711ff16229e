#pragma once
// Attention of double, and of float that tiles do not take: by products of matrices (cuBLASLt) and passes over rows of
// scores, some at a time.

#include "backend/attention.h"

namespace hb::cuda {

/// False, and nothing is done: the operands are half types, or so small that a kernel for rows is faster.
bool attention_by_products(const Attention& a);
bool attention_backward_by_products(const Attention& a, const AttentionGrad& g);

}  // namespace hb::cuda
