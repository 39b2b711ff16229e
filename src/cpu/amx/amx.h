#pragma once
// bf16 on the tiles of CPUs that have them (AMX), which make 16 times as many products in a cycle as AVX-512 makes of
// f32. Compiled for such CPUs alone: nothing here may be called where has_bf16_tiles() is false.

#include "backend/conv.h"
#include "backend/gemm.h"
#include "core/isa_level.h"

namespace hb::cpu {

namespace amx {

/// One product of bf16 matrices with a stride of 1 in one dimension each. Sums are kept in float.
void gemm(const Gemm& g);
/// The same with c in float and without bias.
void gemm_to_float(const Gemm& g);
/// One product of f16 matrices, as four of bf16; beta is 0. False where something was not finite: compute it
/// otherwise.
bool gemm_of_halves(const Gemm& g);

/// Convolutions as backend/conv.h has them. False for what is not computed so (groups, three dimensions, channels that
/// are not multiples of 32, the gradient of the input where stride and dilation are both above 1); nothing was written
/// then.
bool conv_forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvParams& p);
bool conv_backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p);
bool conv_backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x, const Tensor& grad_y,
                          const ConvParams& p);

}  // namespace amx
}  // namespace hb::cpu
