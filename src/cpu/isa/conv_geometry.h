#pragma once
// Shapes of a convolution over channels-last memory.

#include <algorithm>
#include <vector>

#include "backend/conv.h"
#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {
namespace {

struct Geometry {
  int64_t batch, cin, cout, group_in, group_out, groups;
  int64_t x[3] = {1, 1, 1}, y[3] = {1, 1, 1}, k[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};
  int64_t kernel = 1, outputs = 1, inputs = 1;

  Geometry(const Tensor& tx, const Tensor& ty, const Tensor& tw, const ConvParams& p) {
    batch = tx.size(0), cin = tx.size(1), cout = ty.size(1), groups = p.groups;
    group_in = cin / groups, group_out = cout / groups;
    for (int d = 0; d < p.dims; ++d) {
      const int at = 3 - p.dims + d;
      x[at] = tx.size(2 + d), y[at] = ty.size(2 + d), k[at] = tw.size(2 + d);
      stride[at] = p.stride[d], padding[at] = p.padding[d], dilation[at] = p.dilation[d];
    }
    for (int d = 0; d < 3; ++d) kernel *= k[d], outputs *= y[d], inputs *= x[d];
  }
  int64_t columns() const { return kernel * group_in; }
  // Each channel has a filter of its own.
  bool by_channel() const { return group_in == 1 && group_out == 1 && groups > 1; }
  // The patches are the image.
  bool is_pointwise() const {
    bool same = kernel == 1 && outputs == inputs;
    for (int d = 0; d < 3; ++d) same &= stride[d] == 1 && padding[d] == 0;
    return same;
  }

  // Calls f(column block, input position or -1) for each output row and kernel position.
  template <class F>
  void patches(int64_t row, const F& f) const {
    const int64_t o[3] = {row / (y[1] * y[2]), row / y[2] % y[1], row % y[2]};
    int64_t block = 0;
    for (int64_t a = 0; a < k[0]; ++a)
      for (int64_t b = 0; b < k[1]; ++b)
        for (int64_t c = 0; c < k[2]; ++c, ++block) {
          const int64_t i = o[0] * stride[0] - padding[0] + a * dilation[0];
          const int64_t j = o[1] * stride[1] - padding[1] + b * dilation[1];
          const int64_t l = o[2] * stride[2] - padding[2] + c * dilation[2];
          const bool inside = i >= 0 && i < x[0] && j >= 0 && j < x[1] && l >= 0 && l < x[2];
          f(block, inside ? (i * x[1] + j) * x[2] + l : -1);
        }
  }
};

}  // namespace
}  // namespace hb::cpu::HB_ISA
