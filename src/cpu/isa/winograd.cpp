// The loops of cpu/winograd.h. Vectors run along channels, which lie side by side in memory.
#include "cpu/winograd.h"

#include "cpu/isa/winograd_transforms.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"

namespace hb::cpu::HB_ISA {
namespace {

// c (R, kPanel) (+)= sum over k of a(r, k) b(k, panel).
template <int R>
inline void micro_kernel(const float* a, int64_t a_row, int64_t a_k, const float* b, int64_t b_k, int64_t k, float* c,
                         int64_t c_row, bool add) {
  Vec acc[R][2];
  for (int r = 0; r < R; ++r)
    for (int j = 0; j < 2; ++j) acc[r][j] = add ? at(c + r * c_row + j * kLanes) : Vec{};
  for (int64_t i = 0; i < k; ++i, a += a_k, b += b_k) {
    const Vec b0 = at(b), b1 = at(b + kLanes);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      acc[r][0] += a[r * a_row] * b0;
      acc[r][1] += a[r * a_row] * b1;
    }
  }
  for (int r = 0; r < R; ++r)
    for (int j = 0; j < 2; ++j) at(c + r * c_row + j * kLanes) = acc[r][j];
}

// Rows in groups of 12, 8 and 4 (AVX2 has the registers for 4).
void multiply(int64_t rows, const float* a, int64_t a_row, int64_t a_k, const float* b, int64_t b_k, int64_t k,
              float* c, int64_t c_row, bool add) {
  int64_t r = 0;
  if constexpr (kRows >= 12) {
    for (; r + 12 <= rows; r += 12) micro_kernel<12>(a + r * a_row, a_row, a_k, b, b_k, k, c + r * c_row, c_row, add);
    for (; r + 8 <= rows; r += 8) micro_kernel<8>(a + r * a_row, a_row, a_k, b, b_k, k, c + r * c_row, c_row, add);
  }
  for (; r + 4 <= rows; r += 4) micro_kernel<4>(a + r * a_row, a_row, a_k, b, b_k, k, c + r * c_row, c_row, add);
}

// Where tile number `tile` lies.
struct Place {
  int64_t image, row, col;
  Place(const Winograd& s, int64_t tile)
      : image(tile / (s.tiles_h() * s.tiles_w())),
        row(tile / s.tiles_w() % s.tiles_h() * kTile),
        col(tile % s.tiles_w() * kTile) {}
};

// The 6x6 inputs of a tile; those outside the image are `zeros`.
void input_tile(const Winograd& s, const float* x, int64_t tile, const float* zeros, const Matrices& v, int64_t slot) {
  const Place at_tile(s, tile);
  const float* pixel[kPoints];
  for (int64_t i = 0; i < kPatch; ++i)
    for (int64_t j = 0; j < kPatch; ++j) {
      const int64_t h = at_tile.row + i - s.pad_h, w = at_tile.col + j - s.pad_w;
      const bool inside = h >= 0 && h < s.in_h && w >= 0 && w < s.in_w;
      pixel[i * kPatch + j] = inside ? x + ((at_tile.image * s.in_h + h) * s.in_w + w) * s.in_channels : zeros;
    }
  for (int64_t c = 0; c < s.in_channels; c += kLanes) {
    Vec d[kPoints], rows[kPoints], out[kPatch];
    for (int64_t i = 0; i < kPoints; ++i) d[i] = at(pixel[i] + c);
    for (int64_t i = 0; i < kPatch; ++i) transform_input(d + i * kPatch, 1, rows + i * kPatch, 1);
    for (int64_t j = 0; j < kPatch; ++j) {
      transform_input(rows + j, kPatch, out, 1);
      for (int64_t i = 0; i < kPatch; ++i) at(v.row(i * kPatch + j, slot) + c) = out[i];
    }
  }
}

void output_tile(const Winograd& s, const Matrices& m, int64_t slot, const float* bias, int64_t tile, float* y) {
  const Place place(s, tile);
  const int64_t rows = std::min(kTile, s.out_h - place.row), cols = std::min(kTile, s.out_w - place.col);
  float* corner = y + ((place.image * s.out_h + place.row) * s.out_w + place.col) * s.out_channels;
  for (int64_t c = 0; c < s.out_channels; c += kLanes) {
    Vec in[kPoints], half[kTile * kPatch], out[kTile * kTile];
    for (int64_t i = 0; i < kPoints; ++i) in[i] = at(m.row(i, slot) + c);
    for (int64_t j = 0; j < kPatch; ++j) transform_output(in + j, kPatch, half + j, kPatch);
    for (int64_t i = 0; i < kTile; ++i) transform_output(half + i * kPatch, 1, out + i * kTile, 1);
    const Vec shift = bias ? at(bias + c) : Vec{};
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        at(corner + (i * s.out_w + j) * s.out_channels + c) = out[i * kTile + j] + shift;
  }
}

void output_gradient_tile(const Winograd& s, const float* grad_y, int64_t tile, const float* zeros, const Matrices& z,
                          int64_t slot) {
  const Place place(s, tile);
  const float* pixel[kTile * kTile];
  for (int64_t i = 0; i < kTile; ++i)
    for (int64_t j = 0; j < kTile; ++j) {
      const int64_t h = place.row + i, w = place.col + j;
      const bool inside = h < s.out_h && w < s.out_w;
      pixel[i * kTile + j] = inside ? grad_y + ((place.image * s.out_h + h) * s.out_w + w) * s.out_channels : zeros;
    }
  for (int64_t c = 0; c < s.out_channels; c += kLanes) {
    Vec in[kTile * kTile], half[kTile * kPatch], out[kPatch];
    for (int64_t i = 0; i < kTile * kTile; ++i) in[i] = at(pixel[i] + c);
    for (int64_t i = 0; i < kTile; ++i) transform_output_gradient(in + i * kTile, 1, half + i * kPatch, 1);
    for (int64_t j = 0; j < kPatch; ++j) {
      transform_output_gradient(half + j, kPatch, out, 1);
      for (int64_t i = 0; i < kPatch; ++i) at(z.row(i * kPatch + j, slot) + c) = out[i];
    }
  }
}

// Calls fn(out channel, in channel) for every kLanes output channels and every input channel. What lies together in a
// weight is visited together.
template <class F>
void for_each_weight(const Winograd& s, const F& fn) {
  constexpr int64_t kSide = 16;
  const int64_t blocks = s.in_channels / kSide;
  parallel_for(0, s.out_channels / kLanes * blocks, 1, [&](int64_t from, int64_t to) {
    for (int64_t unit = from; unit < to; ++unit)
      for (int64_t c = unit % blocks * kSide, end = c + kSide; c < end; ++c) fn(unit / blocks * kLanes, c);
  });
}

// u holds panels of kPanel output channels: (out_channels / kPanel * in_channels, kPanel).
void transform_weights(const Winograd& s, const float* weight, bool transposed, const Matrices& u) {
  const int64_t out_step = transposed ? 9 : s.in_channels * 9, in_step = transposed ? s.out_channels * 9 : 9;
  for_each_weight(s, [&](int64_t k, int64_t c) {
    const float* from = weight + k * out_step + c * in_step;
    float g[9][kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < 9; ++i) g[transposed ? 8 - i : i][lane] = from[lane * out_step + i];
    Vec half[kPatch * 3], out[kPatch];
    for (int j = 0; j < 3; ++j) transform_weight(&at(g[j]), 3, half + j, 3);
    for (int64_t i = 0; i < kPatch; ++i) {
      transform_weight(half + i * 3, 1, out, 1);
      for (int64_t j = 0; j < kPatch; ++j)
        at(u.row(i * kPatch + j, k / kPanel * s.in_channels + c) + k % kPanel) = out[j];
    }
  });
}

// du lies as the transformed weights do.
void transform_weight_gradients(const Winograd& s, const Matrices& du, float* grad_weight) {
  for_each_weight(s, [&](int64_t k, int64_t c) {
    Vec in[kPoints], half[kPatch * 3], out[9];
    for (int64_t p = 0; p < kPoints; ++p) in[p] = at(du.row(p, k / kPanel * s.in_channels + c) + k % kPanel);
    for (int64_t i = 0; i < kPatch; ++i) transform_weight_gradient(in + i * kPatch, 1, half + i * 3, 1);
    for (int j = 0; j < 3; ++j) transform_weight_gradient(half + j, 3, out + j, 3);
    for (int64_t lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < 9; ++i) grad_weight[((k + lane) * s.in_channels + c) * 9 + i] = out[i][lane];
  });
}

// Tiles whose transformed inputs and results one core keeps in its cache.
int64_t tiles_at_once(const Winograd& s, int64_t mine) {
  const int64_t fit = (2 << 20) / (kPoints * 4 * (s.in_channels + s.out_channels));
  const int64_t n = std::clamp<int64_t>(fit / 12 * 12, 24, 96);
  return std::min(n, (mine + kRowStep - 1) / kRowStep * kRowStep);
}

void forward_tiles(const Winograd& s, const float* x, const Matrices& u, const float* bias, float* y, int64_t from,
                   int64_t to) {
  const int64_t most = tiles_at_once(s, to - from);
  const size_t floats = Matrices::floats(most, s.in_channels) + Matrices::floats(most, s.out_channels) + s.in_channels;
  float* memory = static_cast<float*>(scratch_buffer(Scratch::tiles, floats * 4));
  const Matrices v(memory, most, s.in_channels),
      m(memory + Matrices::floats(most, s.in_channels), most, s.out_channels);
  float* zeros = memory + floats - s.in_channels;
  std::fill_n(zeros, s.in_channels, 0.0f);
  for (int64_t first = from; first < to; first += most) {
    const int64_t n = std::min(most, to - first), rows = (n + kRowStep - 1) / kRowStep * kRowStep;
    for (int64_t t = 0; t < n; ++t) input_tile(s, x, first + t, zeros, v, t);
    for (int64_t t = n; t < rows; ++t)
      for (int64_t p = 0; p < kPoints; ++p) std::fill_n(v.row(p, t), s.in_channels, 0.0f);
    for (int64_t p = 0; p < kPoints; ++p)
      for (int64_t k = 0; k < s.out_channels; k += kPanel)
        multiply(rows, v.row(p, 0), s.in_channels, 1, u.row(p, k / kPanel * s.in_channels), kPanel, s.in_channels,
                 m.row(p, 0) + k, s.out_channels, false);
    for (int64_t t = 0; t < n; ++t) output_tile(s, m, t, bias, first + t, y);
  }
}

void forward(const Winograd& s, const float* x, const float* weight, bool transposed, const float* bias, float* y) {
  const size_t bytes = Matrices::floats(s.in_channels, s.out_channels) * sizeof(float);
  const Matrices u(static_cast<float*>(scratch_buffer(Scratch::weights, bytes)),
                   s.in_channels * (s.out_channels / kPanel), kPanel);
  transform_weights(s, weight, transposed, u);
  parallel_for(0, s.tiles(), kRowStep, [&](int64_t from, int64_t to) { forward_tiles(s, x, u, bias, y, from, to); });
}

void backward_weight(const Winograd& s, const float* x, const float* grad_y, float* grad_weight) {
  const int64_t total = s.tiles(), width = s.in_channels + s.out_channels;
  const int64_t most = std::min(std::max<int64_t>((4 << 20) / (kPoints * 4 * width), 128), total);
  const int64_t widest = std::max(s.in_channels, s.out_channels);
  const size_t floats = Matrices::floats(most, width) + kPoints * Matrices::kGap + widest;
  const size_t products = Matrices::floats(s.in_channels, s.out_channels);
  const Matrices du(static_cast<float*>(scratch_buffer(Scratch::weight_products, products * 4)),
                    s.in_channels * (s.out_channels / kPanel), kPanel);
  float* memory = static_cast<float*>(scratch_buffer(Scratch::tiles, floats * 4));
  const Matrices v(memory, most, s.in_channels);
  const Matrices z(v.data + Matrices::floats(most, s.in_channels), most, s.out_channels);
  float* zeros = memory + floats - widest;
  std::fill_n(zeros, widest, 0.0f);
  constexpr int64_t kBlock = 4 * kRows;
  const int64_t blocks = (s.in_channels + kBlock - 1) / kBlock;
  for (int64_t first = 0; first < total; first += most) {
    const int64_t n = std::min(most, total - first);
    parallel_for(0, n, 1, [&](int64_t from, int64_t to) {
      for (int64_t t = from; t < to; ++t) {
        input_tile(s, x, first + t, zeros, v, t);
        output_gradient_tile(s, grad_y, first + t, zeros, z, t);
      }
    });
    parallel_for(0, kPoints * blocks, 1, [&](int64_t from, int64_t to) {
      for (int64_t unit = from; unit < to; ++unit) {
        const int64_t p = unit / blocks, c = unit % blocks * kBlock, rows = std::min(kBlock, s.in_channels - c);
        for (int64_t k = 0; k < s.out_channels; k += kPanel)
          multiply(rows, v.row(p, 0) + c, 1, s.in_channels, z.row(p, 0) + k, s.out_channels, n,
                   du.row(p, k / kPanel * s.in_channels + c), kPanel, first > 0);
      }
    });
  }
  transform_weight_gradients(s, du, grad_weight);
}

}  // namespace

extern const WinogradLoops winograd_loops;
const WinogradLoops winograd_loops = {kPanel, forward, backward_weight};

}  // namespace hb::cpu::HB_ISA
