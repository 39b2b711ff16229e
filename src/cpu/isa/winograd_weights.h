#pragma once
// Kernels of 3x3 weights and their transforms (cpu/winograd.h), by squares of kLanes input and output channels.

#include "cpu/isa/winograd_transforms.h"

namespace hb::cpu::HB_ISA {
namespace {

// Weights (out_channels, in_channels, 3, 3); `turned`: (in_channels, out_channels, 3, 3), each to be turned by 180
// degrees.
template <class T>
struct Weights {
  const T* data;
  bool turned;
  int64_t in_channels, out_channels;
};

// The kernels of a square: g[c * 9 + i] is element i of input channel c for kLanes output channels.
template <class T>
void read_square(const Weights<T>& w, int64_t k, int64_t c, Vec* g) {
  if (!w.turned) {
    const T* corner = w.data + (k * w.in_channels + c) * 9;
    for (int64_t block = 0; block < 9 * kLanes; block += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) g[block + lane] = read(corner + lane * w.in_channels * 9 + block);
      transpose(g + block);
    }
    return;
  }
  float rows[kLanes][9 * kLanes + kLanes];  // of one input channel each; what is read beyond 9 * kLanes is not used
  for (int64_t i = 0; i < kLanes; ++i)
    for (int64_t j = 0; j < 9 * kLanes; j += kLanes)
      at(rows[i] + j) = read(w.data + ((c + i) * w.out_channels + k) * 9 + j);
  for (int64_t i = 0; i < kLanes; ++i) {
    Vec square[kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane) square[lane] = at(rows[i] + lane * 9);
    transpose(square);
    for (int64_t j = 0; j < std::min<int64_t>(9, kLanes); ++j) g[i * 9 + 8 - j] = square[j];
    for (int64_t j = kLanes; j < 9; ++j)  // AVX2's eight lanes have no place for the last element
      for (int64_t lane = 0; lane < kLanes; ++lane) g[i * 9 + 8 - j][lane] = rows[i][lane * 9 + j];
  }
}

// The transformed weights of the kPanel output channels from `k` and the input channels from `first` to rows of u.
template <class T>
void transform_weights(const Weights<T>& w, int64_t k, int64_t first, int64_t channels, const Matrices& u,
                       int64_t row) {
  for (int64_t block = 0; block < channels; block += kLanes)
    for (int64_t lanes = 0; lanes < kPanel; lanes += kLanes) {
      Vec g[9 * kLanes];
      read_square(w, k + lanes, first + block, g);
      for (int64_t c = 0; c < kLanes; ++c) {
        const auto element = [&](int i, int j) __attribute__((always_inline)) { return g[c * 9 + i * 3 + j]; };
        transform_square<3>(element, transform_weight, u.row(0, row + block + c) + lanes, u.point_step);
      }
    }
}

// The reverse of transform_weights for gradients: grad_weight (out_channels, in_channels, 3, 3) from rows of du.
template <class T>
void transform_weight_gradients(const Matrices& du, int64_t row, int64_t k, int64_t first, int64_t channels,
                                int64_t in_channels, T* grad_weight) {
  for (int64_t block = 0; block < channels; block += kLanes)
    for (int64_t lanes = 0; lanes < kPanel; lanes += kLanes) {
      Vec g[9 * kLanes];
      for (int64_t c = 0; c < kLanes; ++c) {
        Vec half[kPatch * 3];
        transform_rows_back<3>(du.row(0, row + block + c) + lanes, du.point_step, transform_weight_gradient, half);
#pragma GCC unroll 3
        for (int j = 0; j < 3; ++j) transform_weight_gradient(half + j, 3, g + c * 9 + j, 3);
      }
      T* corner = grad_weight + ((k + lanes) * in_channels + first + block) * 9;
      for (int64_t part = 0; part < 9 * kLanes; part += kLanes) {
        transpose(g + part);
        for (int64_t lane = 0; lane < kLanes; ++lane) write(corner + lane * in_channels * 9 + part, g[part + lane]);
      }
    }
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
