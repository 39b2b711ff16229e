#pragma once
// Attention of half types by cuDNN 9, on GPUs of compute capability 9; kernels of this folder compute what these
// functions do not.

#include "backend/attention.h"

namespace hb::cuda {

/// False, with nothing done, where cuDNN does not compute it, or where that would not pay.
bool attention_by_cudnn(const Attention& a);
bool attention_backward_by_cudnn(const Attention& a, const AttentionGrad& g);

}  // namespace hb::cuda
