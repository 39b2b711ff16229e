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
template <class T>
void input_tile(const Winograd& s, const T* x, int64_t tile, const T* zeros, const Matrices& v, int64_t slot) {
  const Place at_tile(s, tile);
  const T* pixel[kPoints];
  for (int64_t i = 0; i < kPatch; ++i)
    for (int64_t j = 0; j < kPatch; ++j) {
      const int64_t h = at_tile.row + i - s.pad_h, w = at_tile.col + j - s.pad_w;
      const bool inside = h >= 0 && h < s.in_h && w >= 0 && w < s.in_w;
      pixel[i * kPatch + j] = inside ? x + ((at_tile.image * s.in_h + h) * s.in_w + w) * s.in_channels : zeros;
    }
  for (int64_t c = 0; c < s.in_channels; c += kLanes) {
    Vec d[kPoints], rows[kPoints], out[kPatch];
    for (int64_t i = 0; i < kPoints; ++i) d[i] = read(pixel[i] + c);
    for (int64_t i = 0; i < kPatch; ++i) transform_input(d + i * kPatch, 1, rows + i * kPatch, 1);
    for (int64_t j = 0; j < kPatch; ++j) {
      transform_input(rows + j, kPatch, out, 1);
      for (int64_t i = 0; i < kPatch; ++i) at(v.row(i * kPatch + j, slot) + c) = out[i];
    }
  }
}

template <class T>
void output_tile(const Winograd& s, const Matrices& m, int64_t slot, const T* bias, int64_t tile, T* y) {
  const Place place(s, tile);
  const int64_t rows = std::min(kTile, s.out_h - place.row), cols = std::min(kTile, s.out_w - place.col);
  T* corner = y + ((place.image * s.out_h + place.row) * s.out_w + place.col) * s.y_channels;
  for (int64_t c = 0; c < s.out_channels; c += kLanes) {
    Vec in[kPoints], half[kTile * kPatch], out[kTile * kTile];
    for (int64_t i = 0; i < kPoints; ++i) in[i] = at(m.row(i, slot) + c);
    for (int64_t j = 0; j < kPatch; ++j) transform_output(in + j, kPatch, half + j, kPatch);
    for (int64_t i = 0; i < kTile; ++i) transform_output(half + i * kPatch, 1, out + i * kTile, 1);
    const Vec shift = bias ? read(bias + c) : Vec{};
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        write(corner + (i * s.out_w + j) * s.y_channels + c, out[i * kTile + j] + shift);
  }
}

template <class T>
void output_gradient_tile(const Winograd& s, const T* grad_y, int64_t tile, const T* zeros, const Matrices& z,
                          int64_t slot) {
  const Place place(s, tile);
  const T* pixel[kTile * kTile];
  for (int64_t i = 0; i < kTile; ++i)
    for (int64_t j = 0; j < kTile; ++j) {
      const int64_t h = place.row + i, w = place.col + j;
      const bool inside = h < s.out_h && w < s.out_w;
      pixel[i * kTile + j] = inside ? grad_y + ((place.image * s.out_h + h) * s.out_w + w) * s.y_channels : zeros;
    }
  for (int64_t c = 0; c < s.out_channels; c += kLanes) {
    Vec in[kTile * kTile], half[kTile * kPatch], out[kPatch];
    for (int64_t i = 0; i < kTile * kTile; ++i) in[i] = read(pixel[i] + c);
    for (int64_t i = 0; i < kTile; ++i) transform_output_gradient(in + i * kTile, 1, half + i * kPatch, 1);
    for (int64_t j = 0; j < kPatch; ++j) {
      transform_output_gradient(half + j, kPatch, out, 1);
      for (int64_t i = 0; i < kPatch; ++i) at(z.row(i * kPatch + j, slot) + c) = out[i];
    }
  }
}

// Calls fn(out channel, in channel) for every square of kLanes channels, whose weights are used together.
template <class F>
void for_each_square(const Winograd& s, const F& fn) {
  const int64_t blocks = s.in_channels / kLanes;
  parallel_for(0, s.out_channels / kLanes * blocks, 1, [&](int64_t from, int64_t to) {
    for (int64_t unit = from; unit < to; ++unit) fn(unit / blocks * kLanes, unit % blocks * kLanes);
  });
}

// The kernels of a square: g[c * 9 + i] is element i of input channel c for kLanes output channels.
template <class T>
void read_square(const Winograd& s, const T* weight, bool transposed, Vec* g) {
  if (transposed) {
    for (int64_t c = 0; c < kLanes; ++c)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        for (int i = 0; i < 9; ++i) g[c * 9 + 8 - i][lane] = widen(weight[(c * s.y_channels + lane) * 9 + i]);
    return;
  }
  for (int64_t block = 0; block < 9 * kLanes; block += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) g[block + lane] = read(weight + lane * s.in_channels * 9 + block);
    transpose(g + block);
  }
}

// u holds panels of kPanel output channels: (out_channels / kPanel * in_channels, kPanel).
template <class T>
void transform_weights(const Winograd& s, const T* weight, bool transposed, const Matrices& u) {
  const int64_t out_step = transposed ? 9 : s.in_channels * 9, in_step = transposed ? s.y_channels * 9 : 9;
  for_each_square(s, [&](int64_t k, int64_t first) {
    Vec g[9 * kLanes], half[kPatch * 3], out[kPatch];
    read_square(s, weight + k * out_step + first * in_step, transposed, g);
    for (int64_t c = 0; c < kLanes; ++c) {
      for (int j = 0; j < 3; ++j) transform_weight(g + c * 9 + j, 3, half + j, 3);
      for (int64_t i = 0; i < kPatch; ++i) {
        transform_weight(half + i * 3, 1, out, 1);
        for (int64_t j = 0; j < kPatch; ++j)
          at(u.row(i * kPatch + j, k / kPanel * s.in_channels + first + c) + k % kPanel) = out[j];
      }
    }
  });
}

// du lies as the transformed weights do.
template <class T>
void transform_weight_gradients(const Winograd& s, const Matrices& du, T* grad_weight) {
  for_each_square(s, [&](int64_t k, int64_t first) {
    Vec g[9 * kLanes], in[kPoints], half[kPatch * 3];
    for (int64_t c = 0; c < kLanes; ++c) {
      const int64_t row = k / kPanel * s.in_channels + first + c;
      for (int64_t p = 0; p < kPoints; ++p) in[p] = at(du.row(p, row) + k % kPanel);
      for (int64_t i = 0; i < kPatch; ++i) transform_weight_gradient(in + i * kPatch, 1, half + i * 3, 1);
      for (int j = 0; j < 3; ++j) transform_weight_gradient(half + j, 3, g + c * 9 + j, 3);
    }
    T* corner = grad_weight + (k * s.in_channels + first) * 9;
    for (int64_t block = 0; block < 9 * kLanes; block += kLanes) {
      transpose(g + block);
      for (int64_t lane = 0; lane < kLanes; ++lane) write(corner + lane * s.in_channels * 9 + block, g[block + lane]);
    }
  });
}

// Tiles whose transformed inputs and results one core keeps in its cache.
int64_t tiles_at_once(const Winograd& s, int64_t mine) {
  const int64_t fit = (2 << 20) / (kPoints * 4 * (s.in_channels + s.out_channels));
  const int64_t n = std::clamp<int64_t>(fit / 12 * 12, 24, 96);
  return std::min(n, (mine + kRowStep - 1) / kRowStep * kRowStep);
}

template <class T>
void forward_tiles(const Winograd& s, const T* x, const Matrices& u, const T* bias, T* y, int64_t from, int64_t to) {
  const int64_t most = tiles_at_once(s, to - from);
  const size_t floats = Matrices::floats(most, s.in_channels) + Matrices::floats(most, s.out_channels) + s.in_channels;
  float* memory = static_cast<float*>(scratch_buffer(Scratch::tiles, floats * 4));
  const Matrices v(memory, most, s.in_channels),
      m(memory + Matrices::floats(most, s.in_channels), most, s.out_channels);
  T* zeros = reinterpret_cast<T*>(memory + floats - s.in_channels);
  std::fill_n(zeros, s.in_channels, T(0.0f));
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

// The convolution for so many output channels that their transformed weights take 10 MiB; fn(part, first channel).
template <class F>
void for_each_part(const Winograd& s, const F& fn) {
  const int64_t fit = (10 << 20) / (kPoints * 4 * s.in_channels), step = std::max(fit / kPanel * kPanel, kPanel);
  for (int64_t k = 0; k < s.out_channels; k += step) {
    Winograd part = s;
    part.out_channels = std::min(step, s.out_channels - k);
    fn(part, k);
  }
}

// Memory for the transformed weights of a part.
Matrices weight_matrices(const Winograd& s) {
  const size_t floats = Matrices::floats(s.in_channels, s.out_channels);
  return Matrices(static_cast<float*>(scratch_buffer(Scratch::weights, floats * 4)),
                  s.in_channels * (s.out_channels / kPanel), kPanel);
}

template <class T>
void forward_as(const Winograd& shape, const T* x, const T* weight, bool transposed, const T* bias, T* y) {
  for_each_part(shape, [&](const Winograd& s, int64_t k) {
    const Matrices u = weight_matrices(s);
    transform_weights(s, weight + k * 9 * (transposed ? 1 : s.in_channels), transposed, u);
    parallel_for(0, s.tiles(), kRowStep,
                 [&](int64_t from, int64_t to) { forward_tiles(s, x, u, bias ? bias + k : nullptr, y + k, from, to); });
  });
}

// du = sum over the tiles of a chunk of v^T z, added to what du held unless it is the first.
void multiply_chunk(const Winograd& s, const Matrices& v, const Matrices& z, int64_t tiles, const Matrices& du,
                    bool add) {
  constexpr int64_t kBlock = 4 * kRows;
  const int64_t blocks = (s.in_channels + kBlock - 1) / kBlock;
  parallel_for(0, kPoints * blocks, 1, [&](int64_t from, int64_t to) {
    for (int64_t unit = from; unit < to; ++unit) {
      const int64_t p = unit / blocks, c = unit % blocks * kBlock, rows = std::min(kBlock, s.in_channels - c);
      for (int64_t k = 0; k < s.out_channels; k += kPanel)
        multiply(rows, v.row(p, 0) + c, 1, s.in_channels, z.row(p, 0) + k, s.out_channels, tiles,
                 du.row(p, k / kPanel * s.in_channels + c), kPanel, add);
    }
  });
}

template <class T>
void backward_weight_part(const Winograd& s, const T* x, const T* grad_y, T* grad_weight) {
  const int64_t total = s.tiles(), width = s.in_channels + s.out_channels;
  const int64_t most = std::min(std::max<int64_t>((4 << 20) / (kPoints * 4 * width), 128), total);
  const int64_t widest = std::max(s.in_channels, s.out_channels);
  const size_t floats = Matrices::floats(most, width) + kPoints * Matrices::kGap + widest;
  float* memory = static_cast<float*>(scratch_buffer(Scratch::tiles, floats * 4));
  const Matrices v(memory, most, s.in_channels), du = weight_matrices(s);
  const Matrices z(v.data + Matrices::floats(most, s.in_channels), most, s.out_channels);
  T* zeros = reinterpret_cast<T*>(memory + floats - widest);
  std::fill_n(zeros, widest, T(0.0f));
  for (int64_t first = 0; first < total; first += most) {
    const int64_t n = std::min(most, total - first);
    parallel_for(0, n, 1, [&](int64_t from, int64_t to) {
      for (int64_t t = from; t < to; ++t) {
        input_tile(s, x, first + t, zeros, v, t);
        output_gradient_tile(s, grad_y, first + t, zeros, z, t);
      }
    });
    multiply_chunk(s, v, z, n, du, first > 0);
  }
  transform_weight_gradients(s, du, grad_weight);
}

template <class T>
void backward_weight_as(const Winograd& shape, const T* x, const T* grad_y, T* grad_weight) {
  for_each_part(shape, [&](const Winograd& s, int64_t k) {
    backward_weight_part(s, x, grad_y + k, grad_weight + k * s.in_channels * 9);
  });
}

void forward(ScalarType dtype, const Winograd& s, const void* x, const void* weight, bool transposed, const void* bias,
             void* y) {
  HB_FLOATING_SWITCH("convolution", dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (!std::is_same_v<T, double>)
      forward_as(s, static_cast<const T*>(x), static_cast<const T*>(weight), transposed, static_cast<const T*>(bias),
                 static_cast<T*>(y));
  });
}

void backward_weight(ScalarType dtype, const Winograd& s, const void* x, const void* grad_y, void* grad_weight) {
  HB_FLOATING_SWITCH("convolution_backward", dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (!std::is_same_v<T, double>)
      backward_weight_as(s, static_cast<const T*>(x), static_cast<const T*>(grad_y), static_cast<T*>(grad_weight));
  });
}

}  // namespace

extern const WinogradLoops winograd_loops;
const WinogradLoops winograd_loops = {kPanel, forward, backward_weight};

}  // namespace hb::cpu::HB_ISA
