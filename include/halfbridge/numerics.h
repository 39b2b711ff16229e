#pragma once

#include <halfbridge/macros.h>

namespace hb {

/// Whether 3x3 convolutions of stride 1 of f32, f16 and bf16 may run by Winograd's minimal filtering F(4x4, 3x3), which
/// takes a quarter of the multiplications. On at first. Halves are computed in f32 and rounded once. In f32 the largest
/// error is below twice that of the plain sums for results and gradients of the input, and below four times for
/// gradients of the weight (2e-5 of their spread over 32,768 terms).
HB_API bool allow_winograd();
/// For the whole process.
HB_API void set_allow_winograd(bool allowed);

}  // namespace hb
