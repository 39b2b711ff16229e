#pragma once
// Tiles of images and their transforms (cpu/winograd.h). Vectors run along channels, which lie side by side in memory.
// What the next tile reads and writes is fetched while one is computed: it lies in several rows of the image, which no
// prefetcher of a CPU follows.

#include "cpu/isa/winograd_transforms.h"

namespace hb::cpu::HB_ISA {
namespace {

// Where tile number `tile` lies.
struct Place {
  int64_t image, row, col;
  Place(const Winograd& s, int64_t tile)
      : image(tile / (s.tiles_h() * s.tiles_w())),
        row(tile / s.tiles_w() % s.tiles_h() * kTile),
        col(tile % s.tiles_w() * kTile) {}
};

// The addresses of `side` x `side` pixels from (row, col) of an image (h, w, channels); `zeros` for those outside.
template <int side, class T>
void pixels_of(const T* image, int64_t h, int64_t w, int64_t channels, int64_t row, int64_t col, const T* zeros,
               const T** pixel) {
  for (int64_t i = 0; i < side; ++i)
    for (int64_t j = 0; j < side; ++j) {
      const bool inside = row + i >= 0 && row + i < h && col + j >= 0 && col + j < w;
      pixel[i * side + j] = inside ? image + ((row + i) * w + col + j) * channels : zeros;
    }
}

// Calls transform(pixels, t, channel) for n tiles and all vectors of channels; locate(t, pixels) finds a tile's.
template <int count, class T, class Locate, class Transform>
inline __attribute__((always_inline)) void over_tiles(int64_t n, int64_t channels, const Locate& locate,
                                                      const Transform& transform) {
  constexpr int64_t kLine = 64 / sizeof(T);
  const T* pixels[2][count];
  locate(0, pixels[0]);
  for (int64_t t = 0; t < n; ++t) {
    const T** next = pixels[(t + 1) % 2];
    locate(std::min(t + 1, n - 1), next);
    for (int64_t c = 0; c < channels; c += kLanes) {
      if (c % kLine == 0)
        for (int i = 0; i < count; ++i) __builtin_prefetch(next[i] + c);
      transform(pixels[t % 2], t, c);
    }
  }
}

// The transformed 6x6 inputs of n tiles to rows of v.
template <class T>
void input_tiles(const Winograd& s, const T* x, int64_t first, int64_t n, const T* zeros, const Matrices& v,
                 int64_t row) {
  const auto locate = [&](int64_t t, const T** pixel) {
    const Place p(s, first + t);
    pixels_of<kPatch>(x + p.image * s.in_h * s.in_w * s.in_channels, s.in_h, s.in_w, s.in_channels, p.row - s.pad_h,
                      p.col - s.pad_w, zeros, pixel);
  };
  over_tiles<kPoints, T>(n, s.in_channels, locate, [&](const T* const* pixel, int64_t t, int64_t c) {
    const auto element = [&](int i, int j) __attribute__((always_inline)) { return read(pixel[i * kPatch + j] + c); };
    transform_square<kPatch>(element, transform_input, v.row(0, row + t) + c, v.point_step);
  });
}

// The transformed gradients of the 4x4 results of n tiles to rows of z, whose panels hold the channels from `k`.
template <class T>
void output_gradient_tiles(const Winograd& s, const T* grad_y, int64_t k, int64_t channels, int64_t first, int64_t n,
                           const T* zeros, const Panels& z, int64_t row) {
  const auto locate = [&](int64_t t, const T** pixel) {
    const Place p(s, first + t);
    pixels_of<kTile>(grad_y + p.image * s.out_h * s.out_w * s.out_channels + k, s.out_h, s.out_w, s.out_channels, p.row,
                     p.col, zeros, pixel);
  };
  over_tiles<kTile * kTile, T>(n, channels, locate, [&](const T* const* pixel, int64_t t, int64_t c) {
    const auto element = [&](int i, int j) __attribute__((always_inline)) { return read(pixel[i * kTile + j] + c); };
    const Matrices panel = z[c / kPanel];
    transform_square<kTile>(element, transform_output_gradient, panel.row(0, row + t) + c % kPanel, panel.point_step);
  });
}

// The 4x4 results of a tile from row `row` of m, kLanes channels; those beyond the image are left out.
template <class T>
inline __attribute__((always_inline)) void output_lanes(const Matrices& m, int64_t row, int64_t c, const Vec& shift,
                                                        T* y, int64_t y_row, int64_t y_col, int64_t rows,
                                                        int64_t cols) {
  Vec half[kPatch * kTile];
  transform_rows_back<kTile>(m.row(0, row) + c, m.point_step, transform_output, half);
#pragma GCC unroll 4
  for (int j = 0; j < kTile; ++j) {
    Vec out[kTile];
    transform_output(half + j, kTile, out, 1);
    if (j < cols)
#pragma GCC unroll 4
      for (int i = 0; i < kTile; ++i)
        if (i < rows) write(y + i * y_row + j * y_col + c, out[i] + shift);
  }
}

// The results of n tiles for the kPanel channels from `k`.
template <class T>
void output_tiles(const Winograd& s, const Matrices& m, const T* bias, T* y, int64_t k, int64_t first, int64_t n) {
  const int64_t y_col = s.out_channels, y_row = s.out_w * y_col;
  const auto corner = [&](const Place& p) { return y + ((p.image * s.out_h + p.row) * s.out_w + p.col) * y_col + k; };
  for (int64_t t = 0; t < n; ++t) {
    const Place p(s, first + t);
    T* next = corner(Place(s, first + std::min(t + 1, n - 1)));
    const int64_t rows = std::min(kTile, s.out_h - p.row), cols = std::min(kTile, s.out_w - p.col);
    for (int64_t i = 0; i < kTile; ++i)
      for (int64_t j = 0; j < kTile; ++j) __builtin_prefetch(next + i * y_row + j * y_col, 1);
    for (int64_t c = 0; c < kPanel; c += kLanes)
      output_lanes(m, t, c, bias ? read(bias + k + c) : Vec{}, corner(p), y_row, y_col, rows, cols);
  }
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
