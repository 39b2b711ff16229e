#pragma once
// 3x3 convolutions of stride 1 with a quarter of the multiplications: Winograd's minimal filtering F(4x4, 3x3) (Lavin
// and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015). A tile of 4x4 results is made from 6x6 inputs
// by a bilinear scheme with 36 products; over tiles and channels these are 36 matrix products. The points of
// interpolation are 0, ±sqrt(1/2), ±sqrt(2) and infinity: with them the rounding error in f32 is that of the plain sum
// (largest error over 128 channels 4.1e-6 of the results' spread, against 2.9e-6), where the usual 0, ±1, ±2 lose a
// factor of five.

#include "backend/conv.h"

namespace hb::cpu {

constexpr int64_t kWinogradTile = 4, kWinogradPoints = 36;

/// A convolution with weights (out_channels, in_channels, 3, 3); images are channels-last.
struct Winograd {
  int64_t batch, in_h, in_w, in_channels, out_h, out_w, out_channels, pad_h, pad_w;

  int64_t tiles_h() const { return (out_h + kWinogradTile - 1) / kWinogradTile; }
  int64_t tiles_w() const { return (out_w + kWinogradTile - 1) / kWinogradTile; }
  int64_t tiles() const { return batch * tiles_h() * tiles_w(); }
};

/// Loops per instruction set, for f32, f16 and bf16; halves are computed in f32 and rounded once.
struct WinogradLoops {
  /// Channels come in multiples of this.
  int64_t channel_block;
  /// y = conv(x) + bias (which may be null). With `transposed`, weight is (in_channels, out_channels, 3, 3) and is
  /// turned by 180 degrees: the gradient of the input.
  void (*forward)(ScalarType dtype, const Winograd& shape, const void* x, const void* weight, bool transposed,
                  const void* bias, void* y);
  /// grad_weight (out_channels, in_channels, 3, 3).
  void (*backward_weight)(ScalarType dtype, const Winograd& shape, const void* x, const void* grad_y,
                          void* grad_weight);
};

namespace v3 {
extern const WinogradLoops winograd_loops;
}
namespace v4 {
extern const WinogradLoops winograd_loops;
}

/// False where the scheme does not apply or does not pay; nothing was written then.
bool winograd_forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvParams& p);
bool winograd_backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p);
bool winograd_backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x, const Tensor& grad_y,
                              const ConvParams& p);

}  // namespace hb::cpu
