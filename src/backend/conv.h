#pragma once

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// Parameters of a convolution over 1 to 3 spatial dimensions.
struct ConvParams {
  int dims = 2;
  int64_t stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};
  int64_t groups = 1;
};
HB_NO_OPERANDS(ConvParams)
// x (N, Cin, spatial…), y (N, Cout, spatial…): physically channels-last. weight (Cout, Cin / groups, kernel…) and its
// gradient: contiguous, or channels-last on devices that have transpose_list_kernel. Sizes were checked; nothing is
// empty.
HB_API inline Kernel<void(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias,
                          const ConvParams& p)>
    conv_forward_kernel{"convolution"};
HB_API inline Kernel<void(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p)>
    conv_backward_data_kernel{"convolution_backward"};
/// grad_bias may be undefined.
HB_API inline Kernel<void(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x, const Tensor& grad_y,
                          const ConvParams& p)>
    conv_backward_weight_kernel{"convolution_backward"};

/// out (batch, cols, rows) = in (batch, rows, cols) transposed, elements of `size` bytes.
HB_API inline Kernel<void(size_t size, int64_t batch, int64_t rows, int64_t cols, void* out, const void* in)>
    transpose_kernel{"transpose"};
struct Transpose {
  void* out;
  const void* in;
  int64_t batch, rows, cols;
};
inline void operands(capture::Operands& v, Transpose& t) { v.writes(t.out), v.reads(t.in); }
/// Many of them at once.
HB_API inline Kernel<void(size_t size, ArrayRef<Transpose> list)> transpose_list_kernel{"transpose"};
/// x (rows, cols) += bias (cols).
HB_API inline Kernel<void(ScalarType dtype, int64_t rows, int64_t cols, void* x, const void* bias)> add_bias_kernel{
    "add_bias"};

}  // namespace hb
