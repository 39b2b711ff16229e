#pragma once
// A convolution of bf16 images (batch, h, w, channels) as the products see it.

#include "cpu/amx/amx.h"
#include "cpu/amx/patches.h"

namespace hb::cpu::amx {
namespace {

struct Convolution {
  Size x, y, step, pad, dilation, kernel;
  int64_t batch, inputs, outputs;

  Convolution(const Tensor& tx, const Tensor& ty, const Tensor& weight, const ConvParams& p) {
    // One spatial dimension becomes two.
    const auto size = [&](const auto& of, int64_t missing) {
      return p.dims == 2 ? Size{of(0), of(1)} : Size{missing, of(0)};
    };
    x = size([&](int d) { return tx.size(2 + d); }, 1), y = size([&](int d) { return ty.size(2 + d); }, 1);
    kernel = size([&](int d) { return weight.size(2 + d); }, 1);
    step = size([&](int d) { return p.stride[d]; }, 1), pad = size([&](int d) { return p.padding[d]; }, 0);
    dilation = size([&](int d) { return p.dilation[d]; }, 1);
    batch = tx.size(0), inputs = tx.size(1), outputs = ty.size(1);
  }
  int64_t columns() const { return kernel.area() * inputs; }
  Patches of_input(const BFloat16* image) const {
    return {image, x, y, step, {-pad.h, -pad.w}, dilation, kernel, inputs};
  }
};

inline bool can_be_tiled(const Tensor& weight, const ConvParams& p) {
  return p.dims <= 2 && p.groups == 1 && weight.size(0) % kDepth == 0 && weight.size(1) % kDepth == 0;
}

inline BFloat16* data(const Tensor& t) { return t.defined() ? static_cast<BFloat16*>(t.impl().raw_data()) : nullptr; }

/// Weights (out, in, position) as (out, position, in), in memory of the calling thread.
inline const BFloat16* by_position(const Convolution& c, const Tensor& weight) {
  if (c.kernel.area() == 1) return data(weight);
  auto* out = scratch<BFloat16>(Scratch::weights, c.outputs * c.columns());
  transpose_kernel(kCPU)(sizeof(BFloat16), c.outputs, c.inputs, c.kernel.area(), out, data(weight));
  return out;
}

}  // namespace
}  // namespace hb::cpu::amx
