#pragma once

#include <vector>

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// The windows of any pooling, plain or adaptive, over 1 to 3 dimensions (missing ones have one window of one element).
struct PoolWindows {
  struct Dim {
    int64_t in = 1, out = 1, step = 1;  // step: dilation
    // First element of each window, one past its last, and the extent that an average divides by.
    std::vector<int64_t> begin{0}, end{1}, extent{1};
  };
  Dim dim[3];
  double divisor = 0;  // replaces the extents where it is not 0
  int64_t inputs() const { return dim[0].in * dim[1].in * dim[2].in; }
  int64_t outputs() const { return dim[0].out * dim[1].out * dim[2].out; }
};
HB_NO_OPERANDS(PoolWindows)
// x (N, C, spatial…), y: physically channels-last. index: int32, the place of the largest within its plane, laid out as
// y.
HB_API inline Kernel<void(const Tensor& y, const Tensor& index, const Tensor& x, const PoolWindows& w)> max_pool_kernel{
    "max_pool"};
HB_API inline Kernel<void(const Tensor& grad_x, const Tensor& grad_y, const Tensor& index, const PoolWindows& w)>
    max_pool_backward_kernel{"max_pool_backward"};
HB_API inline Kernel<void(const Tensor& y, const Tensor& x, const PoolWindows& w)> avg_pool_kernel{"avg_pool"};
HB_API inline Kernel<void(const Tensor& grad_x, const Tensor& grad_y, const PoolWindows& w)> avg_pool_backward_kernel{
    "avg_pool_backward"};

}  // namespace hb
