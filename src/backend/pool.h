#pragma once

#include <vector>

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// The rule of the windows along one dimension, plain or adaptive. Size: that of what the rule divides by.
template <class Size>
struct PoolRuleOf {
  Size in = 1, out = 1, step = 1;  // step: dilation
  int64_t kernel = 1;
  Size stride = 1;
  int64_t padding = 0;
  bool adaptive = false, counts_padding = true;

  // First element of window o, one past its last, and the extent that an average divides by.
  constexpr int64_t begin_of(int64_t o) const {
    if (adaptive) return o * in / out;
    const int64_t begin = o * stride - padding;
    return begin < 0 ? begin + (step - 1 - begin) / step * step : begin;
  }
  constexpr int64_t end_of(int64_t o) const {
    if (adaptive) return ((o + 1) * in + out - 1) / out;
    return least(o * stride - padding + (kernel - 1) * step + 1, in);
  }
  constexpr int64_t extent_of(int64_t o) const {
    if (adaptive || !counts_padding) return end_of(o) - begin_of(o);
    const int64_t begin = o * stride - padding;
    return least(begin + (kernel - 1) * step + 1, in + padding) - begin;
  }
  // The windows that reach over element p: the first, and one past the last. With a dilation not all of them hold it.
  constexpr int64_t first_over(int64_t p) const {
    if (adaptive) return p * out / in;
    const int64_t before = p + padding - (kernel - 1) * step - 1;
    return before < 0 ? 0 : before / stride + 1;
  }
  constexpr int64_t end_over(int64_t p) const {
    if (adaptive) return ((p + 1) * out + in - 1) / in;
    return least(out, (p + padding) / stride + 1);
  }
  constexpr bool holds(int64_t o, int64_t p) const { return step == 1 || (p + padding - o * stride) % step == 0; }

 private:
  static constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
};
using PoolRule = PoolRuleOf<int64_t>;

/// The windows of any pooling over 1 to 3 dimensions (missing ones have one window of one element).
struct PoolWindows {
  struct Dim : PoolRule {
    // What the rule says of each window, for devices that do not ask it themselves.
    std::vector<int64_t> begin{0}, end{1}, extent{1};
    void list() {
      begin.resize(out), end.resize(out), extent.resize(out);
      for (int64_t o = 0; o < out; ++o) begin[o] = begin_of(o), end[o] = end_of(o), extent[o] = extent_of(o);
    }
  };
  Dim dim[3];
  double divisor = 0;  // replaces the extents where it is not 0
  int64_t inputs() const { return dim[0].in * dim[1].in * dim[2].in; }
  int64_t outputs() const { return dim[0].out * dim[1].out * dim[2].out; }
  void list() {
    for (Dim& d : dim) d.list();
  }
};
HB_NO_OPERANDS(PoolWindows)
// x (N, C, spatial…) that is read: physically channels-last or contiguous. y, index and all of gradients:
// channels-last; on CUDA they may also be contiguous. index: int32 (on CUDA also int64), the place of the largest
// within its plane, laid out as y.
HB_API inline Kernel<void(const Tensor& y, const Tensor& index, const Tensor& x, const PoolWindows& w)> max_pool_kernel{
    "max_pool"};
HB_API inline Kernel<void(const Tensor& grad_x, const Tensor& grad_y, const Tensor& index, const PoolWindows& w)>
    max_pool_backward_kernel{"max_pool_backward"};
HB_API inline Kernel<void(const Tensor& y, const Tensor& x, const PoolWindows& w)> avg_pool_kernel{"avg_pool"};
HB_API inline Kernel<void(const Tensor& grad_x, const Tensor& grad_y, const PoolWindows& w)> avg_pool_backward_kernel{
    "avg_pool_backward"};

}  // namespace hb
