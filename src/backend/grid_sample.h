#pragma once

#include <array>

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// The numbers are LibTorch's.
enum class Interpolation : int64_t { bilinear, nearest, bicubic };
enum class GridPadding : int64_t { zeros, border, reflection };

/// Samples of images at positions of a grid, channels last, or on CUDA without gradients also first.
struct GridSampling {
  Interpolation mode;
  GridPadding padding;
  bool align_corners;
  int dims;                     // 2 or 3
  std::array<int64_t, 3> size;  // of the image, `dims` of them
  int64_t batch, channels, samples;
  const void* in;    // (batch, size…, channels)
  const void* grid;  // (batch, samples, dims), the last dimension of `size` first
  bool channels_first = false;
};
inline void operands(capture::Operands& v, GridSampling& s) { v.reads(s.in), v.reads(s.grid); }

/// out (batch, samples, channels), or with channels first as the images; float or double.
HB_API inline Kernel<void(ScalarType dtype, const GridSampling& s, void* out)> grid_sample_kernel{"grid_sampler"};
/// grad_in and grad_grid, either of which may be null, from grad (batch, samples, channels).
HB_API inline Kernel<void(ScalarType dtype, const GridSampling& s, const void* grad, void* grad_in, void* grad_grid)>
    grid_sample_backward_kernel{"grid_sampler_backward"};

}  // namespace hb
