// The loops of cpu/winograd.h. Vectors run along channels, which lie side by side in memory.
#include "cpu/winograd.h"

#include <cmath>

#include "cpu/isa/isa.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int kBytes = kIsaLevel >= 4 ? 64 : 32;
typedef float Vec __attribute__((vector_size(kBytes), aligned(4)));
constexpr int64_t kLanes = kBytes / 4, kPanel = 2 * kLanes;
constexpr int kRows = kIsaLevel >= 4 ? 12 : 4, kRowStep = 4;  // rows of a product come in multiples of kRowStep
constexpr int64_t kPoints = kWinogradPoints, kTile = kWinogradTile, kPatch = 6;
// Points ±a and ±b, their squares and cubes, and the products of differences that the weights are divided by.
constexpr float kA = 0.70710678118654752f, kB = 1.41421356237309505f, kA3 = kA * 0.5f, kB3 = kB * 2.0f;
constexpr float kNa = -1.0f / 1.5f, kNb = 1.0f / 6.0f;

inline Vec& at(float* p) { return *reinterpret_cast<Vec*>(p); }
inline const Vec& at(const float* p) { return *reinterpret_cast<const Vec*>(p); }

// The one-dimensional transforms; `step` apart lie the values of a column. Applied to rows, then to columns.
inline __attribute__((always_inline)) void transform_input(const Vec* d, int s, Vec* v, int t) {
  const Vec e1 = d[4 * s] - 2.0f * d[2 * s], o1 = kA * d[3 * s] - (2.0f * kA) * d[s];
  const Vec e2 = d[4 * s] - 0.5f * d[2 * s], o2 = kB * d[3 * s] - (0.5f * kB) * d[s];
  v[0] = d[0] - 2.5f * d[2 * s] + d[4 * s];
  v[t] = e1 + o1;
  v[2 * t] = e1 - o1;
  v[3 * t] = e2 + o2;
  v[4 * t] = e2 - o2;
  v[5 * t] = d[s] - 2.5f * d[3 * s] + d[5 * s];
}
inline __attribute__((always_inline)) void transform_output(const Vec* m, int s, Vec* y, int t) {
  const Vec p = m[s] + m[2 * s], r = m[s] - m[2 * s], q = m[3 * s] + m[4 * s], u = m[3 * s] - m[4 * s];
  y[0] = m[0] + p + q;
  y[t] = kA * r + kB * u;
  y[2 * t] = 0.5f * p + 2.0f * q;
  y[3 * t] = kA3 * r + kB3 * u + m[5 * s];
}
inline __attribute__((always_inline)) void transform_output_gradient(const Vec* y, int s, Vec* z, int t) {
  const Vec e1 = y[0] + 0.5f * y[2 * s], o1 = kA * y[s] + kA3 * y[3 * s];
  const Vec e2 = y[0] + 2.0f * y[2 * s], o2 = kB * y[s] + kB3 * y[3 * s];
  z[0] = y[0];
  z[t] = e1 + o1;
  z[2 * t] = e1 - o1;
  z[3 * t] = e2 + o2;
  z[4 * t] = e2 - o2;
  z[5 * t] = y[3 * s];
}
inline __attribute__((always_inline)) void transform_weight(const Vec* g, int s, Vec* u, int t) {
  const Vec e1 = kNa * g[0] + (0.5f * kNa) * g[2 * s], o1 = (kNa * kA) * g[s];
  const Vec e2 = kNb * g[0] + (2.0f * kNb) * g[2 * s], o2 = (kNb * kB) * g[s];
  u[0] = g[0];
  u[t] = e1 + o1;
  u[2 * t] = e1 - o1;
  u[3 * t] = e2 + o2;
  u[4 * t] = e2 - o2;
  u[5 * t] = g[2 * s];
}
inline __attribute__((always_inline)) void transform_weight_gradient(const Vec* z, int s, Vec* g, int t) {
  const Vec p = kNa * (z[s] + z[2 * s]), r = kNa * (z[s] - z[2 * s]);
  const Vec q = kNb * (z[3 * s] + z[4 * s]), u = kNb * (z[3 * s] - z[4 * s]);
  g[0] = z[0] + p + q;
  g[t] = kA * r + kB * u;
  g[2 * t] = 0.5f * p + 2.0f * q + z[5 * s];
}

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
    for (; r + 12 <= rows; r += 12)
      micro_kernel<12>(a + r * a_row, a_row, a_k, b, b_k, k, c + r * c_row, c_row, add);
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

// Matrices of a chunk of tiles: point after point, each (tiles, channels). The gap between them keeps the 36 that one tile
// writes from falling into the same lines of a cache.
struct Chunk {
  float* data;
  int64_t channels, stride;
  Chunk(float* memory, int64_t tiles, int64_t width) : data(memory), channels(width), stride(tiles * width + kGap) {}
  static size_t floats(int64_t tiles, int64_t width) { return kPoints * (tiles * width + kGap); }
  float* row(int64_t point, int64_t tile) const { return data + point * stride + tile * channels; }
  static constexpr int64_t kGap = 48;
};

// The 6x6 inputs of a tile; those outside the image are `zeros`.
void input_tile(const Winograd& s, const float* x, int64_t tile, const float* zeros, const Chunk& v, int64_t slot) {
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

void output_tile(const Winograd& s, const Chunk& m, int64_t slot, const float* bias, int64_t tile, float* y) {
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

void output_gradient_tile(const Winograd& s, const float* grad_y, int64_t tile, const float* zeros, const Chunk& z,
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

// u: point after point, panels of kPanel output channels, each (in_channels, kPanel). One panel.
void weight_panel(const Winograd& s, const float* weight, bool transposed, int64_t panel, float* u) {
  const int64_t out_step = transposed ? 9 : s.in_channels * 9, in_step = transposed ? s.out_channels * 9 : 9;
  for (int64_t c = 0; c < s.in_channels; ++c)
    for (int64_t k = 0; k < kPanel; k += kLanes) {
      const float* from = weight + (panel * kPanel + k) * out_step + c * in_step;
      float g[9][kLanes];
      for (int64_t lane = 0; lane < kLanes; ++lane)
        for (int i = 0; i < 9; ++i) g[transposed ? 8 - i : i][lane] = from[lane * out_step + i];
      Vec half[kPatch * 3], out[kPatch];
      for (int j = 0; j < 3; ++j) transform_weight(&at(g[j]), 3, half + j, 3);
      for (int64_t i = 0; i < kPatch; ++i) {
        transform_weight(half + i * 3, 1, out, 1);
        for (int64_t j = 0; j < kPatch; ++j)
          at(u + (i * kPatch + j) * s.in_channels * s.out_channels + (panel * s.in_channels + c) * kPanel + k) = out[j];
      }
    }
}

// Tiles whose transformed inputs and results one core keeps in its cache.
int64_t tiles_at_once(const Winograd& s, int64_t mine) {
  const int64_t fit = (2 << 20) / (kPoints * 4 * (s.in_channels + s.out_channels));
  const int64_t n = std::clamp<int64_t>(fit / 12 * 12, 24, 96);
  return std::min(n, (mine + kRowStep - 1) / kRowStep * kRowStep);
}

void forward_tiles(const Winograd& s, const float* x, const float* u, const float* bias, float* y, int64_t from,
                   int64_t to) {
  const int64_t most = tiles_at_once(s, to - from);
  const size_t floats = Chunk::floats(most, s.in_channels) + Chunk::floats(most, s.out_channels) + s.in_channels;
  float* memory = static_cast<float*>(scratch_buffer(Scratch::tiles, floats * 4));
  const Chunk v(memory, most, s.in_channels), m(memory + Chunk::floats(most, s.in_channels), most, s.out_channels);
  float* zeros = memory + floats - s.in_channels;
  std::fill_n(zeros, s.in_channels, 0.0f);
  for (int64_t first = from; first < to; first += most) {
    const int64_t n = std::min(most, to - first), rows = (n + kRowStep - 1) / kRowStep * kRowStep;
    for (int64_t t = 0; t < n; ++t) input_tile(s, x, first + t, zeros, v, t);
    for (int64_t t = n; t < rows; ++t)
      for (int64_t p = 0; p < kPoints; ++p) std::fill_n(v.row(p, t), s.in_channels, 0.0f);
    for (int64_t p = 0; p < kPoints; ++p)
      for (int64_t k = 0; k < s.out_channels; k += kPanel)
        multiply(rows, v.row(p, 0), s.in_channels, 1, u + (p * s.out_channels + k) * s.in_channels, kPanel,
                 s.in_channels, m.row(p, 0) + k, s.out_channels, false);
    for (int64_t t = 0; t < n; ++t) output_tile(s, m, t, bias, first + t, y);
  }
}

void forward(const Winograd& s, const float* x, const float* weight, bool transposed, const float* bias, float* y) {
  float* u = static_cast<float*>(
      scratch_buffer(Scratch::weights, sizeof(float) * kPoints * s.in_channels * s.out_channels));
  parallel_for(0, s.out_channels / kPanel, 1, [&](int64_t from, int64_t to) {
    for (int64_t panel = from; panel < to; ++panel) weight_panel(s, weight, transposed, panel, u);
  });
  parallel_for(0, s.tiles(), kRowStep,
               [&](int64_t from, int64_t to) { forward_tiles(s, x, u, bias, y, from, to); });
}

// grad_weight for input channel c from du: point after point (in_channels, out_channels).
void weight_gradient_row(const Winograd& s, const float* du, int64_t c, float* grad_weight) {
  for (int64_t k = 0; k < s.out_channels; k += kLanes) {
    Vec in[kPoints], half[kPatch * 3], out[9];
    for (int64_t p = 0; p < kPoints; ++p) in[p] = at(du + (p * s.in_channels + c) * s.out_channels + k);
    for (int64_t i = 0; i < kPatch; ++i) transform_weight_gradient(in + i * kPatch, 1, half + i * 3, 1);
    for (int j = 0; j < 3; ++j) transform_weight_gradient(half + j, 3, out + j, 3);
    for (int64_t lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < 9; ++i) grad_weight[((k + lane) * s.in_channels + c) * 9 + i] = out[i][lane];
  }
}

void backward_weight(const Winograd& s, const float* x, const float* grad_y, float* grad_weight) {
  const int64_t total = s.tiles(), width = s.in_channels + s.out_channels;
  const int64_t most = std::min(std::max<int64_t>((4 << 20) / (kPoints * 4 * width), 128), total);
  const size_t products = kPoints * s.in_channels * s.out_channels;
  const int64_t widest = std::max(s.in_channels, s.out_channels);
  const size_t floats = Chunk::floats(most, width) + kPoints * Chunk::kGap + widest;
  float* du = static_cast<float*>(scratch_buffer(Scratch::weight_products, products * 4));
  float* memory = static_cast<float*>(scratch_buffer(Scratch::tiles, floats * 4));
  const Chunk v(memory, most, s.in_channels);
  const Chunk z(v.data + Chunk::floats(most, s.in_channels), most, s.out_channels);
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
                   du + (p * s.in_channels + c) * s.out_channels + k, s.out_channels, first > 0);
      }
    });
  }
  parallel_for(0, s.in_channels, 1, [&](int64_t from, int64_t to) {
    for (int64_t c = from; c < to; ++c) weight_gradient_row(s, du, c, grad_weight);
  });
}

}  // namespace

extern const WinogradLoops winograd_loops;
const WinogradLoops winograd_loops = {kPanel, forward, backward_weight};

}  // namespace hb::cpu::HB_ISA
