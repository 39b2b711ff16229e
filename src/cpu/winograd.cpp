// Which convolutions go by Winograd's scheme.
#include "cpu/winograd.h"

#include <halfbridge/numerics.h>

#include "backend/gemm.h"
#include "cpu/amx/amx.h"

namespace hb::cpu {
namespace {

const WinogradLoops& loops() { return isa_level() >= 4 ? v4::winograd_loops : v3::winograd_loops; }

void* data(const Tensor& t) { return t.defined() ? t.impl().raw_data() : nullptr; }

// The convolution of x that gives y; padding as the gradient of the input needs it with `transposed`.
Winograd shape_of(const Tensor& x, const Tensor& y, const ConvParams& p, bool transposed) {
  const auto in = x.impl().sizes(), out = y.impl().sizes();
  const int64_t pad_h = transposed ? 2 - p.padding[0] : p.padding[0];
  const int64_t pad_w = transposed ? 2 - p.padding[1] : p.padding[1];
  return {in[0], in[2], in[3], in[1], out[2], out[3], out[1], pad_h, pad_w};
}

bool applies(const Winograd& s, const Tensor& weight, const ConvParams& p) {
  if (!allow_winograd()) return false;
  // A quarter of the products in f32 takes longer than all of them in tiles of bf16.
  if (weight.scalar_type() == kBFloat16 && has_bf16_tiles()) return false;
  if (weight.scalar_type() == kDouble || p.dims != 2 || p.groups != 1 || isa_level() < 3) return false;
  for (int d = 0; d < 2; ++d)
    if (weight.size(2 + d) != 3 || p.stride[d] != 1 || p.dilation[d] != 1 || p.padding[d] > 2) return false;
  const int64_t block = loops().channel_block;
  return s.in_channels % block == 0 && s.out_channels % block == 0;
}

// Tiles must be mostly full, and many enough for what the weights cost to transform.
bool pays(const Winograd& s) {
  const int64_t tiles = s.tiles(), area = tiles * kWinogradTile * kWinogradTile;
  return 10 * s.batch * s.out_h * s.out_w >= 6 * area && tiles >= 24;
}

}  // namespace

bool winograd_forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvParams& p) {
  const Winograd s = shape_of(x, y, p, false);
  if (!applies(s, weight, p) || !pays(s)) return false;
  loops().forward(x.scalar_type(), s, data(x), data(weight), false, data(bias), data(y));
  return true;
}

bool winograd_backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p) {
  const Winograd s = shape_of(grad_y, grad_x, p, true);
  if (!applies(s, weight, p) || !pays(s)) return false;
  loops().forward(grad_x.scalar_type(), s, data(grad_y), data(weight), true, nullptr, data(grad_x));
  return true;
}

bool winograd_backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x, const Tensor& grad_y,
                              const ConvParams& p) {
  const Winograd s = shape_of(x, grad_y, p, false);
  if (!applies(s, grad_weight, p) || !pays(s)) return false;
  loops().backward_weight(x.scalar_type(), s, data(x), data(grad_y), data(grad_weight));
  if (grad_bias.defined())
    column_sum_kernel(kCPU)(x.scalar_type(), data(grad_bias), data(grad_y), s.batch * s.out_h * s.out_w, s.out_channels,
                            s.out_channels);
  return true;
}

}  // namespace hb::cpu
