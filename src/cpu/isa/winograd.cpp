// The loops of cpu/winograd.h. Vectors run along channels, which lie side by side in memory.
#include "cpu/winograd.h"

#include "cpu/isa/winograd_product.h"
#include "cpu/isa/winograd_tiles.h"
#include "cpu/isa/winograd_weights.h"
#include "cpu/pieces.h"
#include "cpu/scratch.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kDepth = 64;  // input channels whose weights are transformed at a time

// What a call of `forward` got.
template <class T>
struct Call {
  const Winograd& s;
  const T* x;
  Weights<T> weights;
  const T* bias;
  T* y;
};

int64_t full_rows(int64_t n) { return (n + kRowStep - 1) / kRowStep * kRowStep; }

// Rows beyond the tiles that a product computes, too.
void clear_rows(const Matrices& v, int64_t from, int64_t to) {
  for (int64_t p = 0; p < kPoints; ++p) std::fill(v.row(p, from), v.row(p, to), 0.0f);
}

// m = v u for each point, kPanel columns; a part of the sum, added to m unless it is the first.
void multiply_points(int64_t rows, const Matrices& v, int64_t row, int64_t channel, const Matrices& u, int64_t channels,
                     const Matrices& m) {
  for (int64_t p = 0; p < kPoints; ++p)
    multiply<true>(rows, v.row(p, row) + channel, v.row_step, u.row(p, 0), channels, m.row(p, 0), channel > 0);
}

// Memory that holds no element of a tensor: pixels outside of the image.
template <class T>
const T* cleared(float* memory, int64_t channels) {
  T* zeros = reinterpret_cast<T*>(memory);
  std::fill_n(zeros, channels, T(0.0f));
  return zeros;
}

// How many tiles a thread transforms into its second cache at a time.
int64_t tiles_at_once(const Winograd& s) {
  const int64_t fit = (576 << 10) / (kPoints * 4 * (s.in_channels + kPanel)) / kRows * kRows;
  const int64_t share = full_rows((s.tiles() + get_num_threads() - 1) / get_num_threads());
  return std::min(std::clamp<int64_t>(fit, 12, 96), share);
}

// Many tiles: `most` at a time are transformed into the second cache and multiplied with the weights of some panels,
// which were transformed before.
template <class T>
void multiply_tiles(const Call<T>& call, const Panels& u, int64_t panel, int64_t panels, int64_t from, int64_t to,
                    int64_t most) {
  const Winograd& s = call.s;
  const size_t v_floats = Matrices::floats(most, s.in_channels), m_floats = Matrices::floats(most, kPanel);
  float* memory = static_cast<float*>(scratch_buffer(Scratch::tiles, (v_floats + m_floats + s.in_channels) * 4));
  const Matrices v(memory, most, s.in_channels), m(memory + v_floats, most, kPanel);
  const T* zeros = cleared<T>(memory + v_floats + m_floats, s.in_channels);
  for (int64_t first = from; first < to; first += most) {
    const int64_t n = std::min(most, to - first), rows = full_rows(n);
    input_tiles(s, call.x, first, n, zeros, v, 0);
    clear_rows(v, n, rows);
    for (int64_t i = 0; i < panels; ++i) {
      multiply_points(rows, v, 0, 0, u[i], s.in_channels, m);
      output_tiles(s, m, call.bias, call.y, (panel + i) * kPanel, first, n);
    }
  }
}

template <class T>
void forward_by_tiles(const Call<T>& call) {
  const int64_t in = call.s.in_channels, panels = call.s.out_channels / kPanel, blocks = in / kLanes;
  const int64_t fit = std::max<int64_t>((10 << 20) / (Panels::floats(in, kPanel) * 4), 1);
  for (int64_t first = 0; first < panels; first += fit) {
    const int64_t count = std::min(fit, panels - first);
    const Panels u{static_cast<float*>(scratch_buffer(Scratch::weights, Panels::floats(in, count * kPanel) * 4)), in};
    parallel_for(0, count * blocks, 1, [&](int64_t from, int64_t to) {
      for (int64_t unit = from; unit < to; ++unit) {
        const int64_t panel = unit / blocks, c = unit % blocks * kLanes;
        transform_weights(call.weights, (first + panel) * kPanel, c, kLanes, u[panel], c);
      }
    });
    const int64_t tiles = call.s.tiles(), most = tiles_at_once(call.s);
    parallel_pieces(0, (tiles + most - 1) / most, 1, [&](int64_t from, int64_t to) {
      multiply_tiles(call, u, first, count, from * most, std::min(to * most, tiles), most);
    });
  }
}

// Few tiles: some weights at a time are transformed into the second cache and multiplied with all tiles, which were
// transformed before. `first` is the tile of row 0 of v.
template <class T>
void multiply_panel(const Call<T>& call, const Matrices& v, int64_t first, int64_t k, int64_t from, int64_t to) {
  const int64_t in = call.s.in_channels, n = to - from, rows = full_rows(n), most = std::min<int64_t>(in, kDepth);
  const size_t u_floats = Matrices::floats(most, kPanel), floats = u_floats + Matrices::floats(rows, kPanel);
  float* memory = static_cast<float*>(scratch_buffer(Scratch::weights, floats * 4));
  const Matrices u(memory, most, kPanel), m(memory + u_floats, rows, kPanel);
  for (int64_t c = 0; c < in; c += most) {
    const int64_t channels = std::min(most, in - c);
    transform_weights(call.weights, k, c, channels, u, 0);
    multiply_points(rows, v, from, c, u, channels, m);
  }
  output_tiles(call.s, m, call.bias, call.y, k, first + from, n);
}

template <class T>
void forward_by_weights(const Call<T>& call) {
  const Winograd& s = call.s;
  const int64_t total = s.tiles(), panels = s.out_channels / kPanel;
  const int64_t most = std::min<int64_t>(full_rows(total), 128),
                groups = std::min((get_num_threads() + panels - 1) / panels, most / kRowStep);
  const size_t v_floats = Matrices::floats(most, s.in_channels);
  float* memory = static_cast<float*>(scratch_buffer(Scratch::tiles, (v_floats + s.in_channels) * 4));
  const Matrices v(memory, most, s.in_channels);
  const T* zeros = cleared<T>(memory + v_floats, s.in_channels);
  for (int64_t first = 0; first < total; first += most) {
    const int64_t n = std::min(most, total - first), each = full_rows((n + groups - 1) / groups);
    parallel_for(0, n, 1,
                 [&](int64_t from, int64_t to) { input_tiles(s, call.x, first + from, to - from, zeros, v, from); });
    clear_rows(v, n, full_rows(n));
    parallel_pieces(0, panels * groups, 1, [&](int64_t from, int64_t to) {
      for (int64_t unit = from; unit < to; ++unit) {
        const int64_t tile = unit % groups * each;
        if (tile < n) multiply_panel(call, v, first, unit / groups * kPanel, tile, std::min(tile + each, n));
      }
    });
  }
}

template <class T>
void forward_as(const Call<T>& call) {
  2 * call.s.tiles() < call.s.out_channels ? forward_by_weights(call) : forward_by_tiles(call);
}

// The transformed inputs and gradients of results of some tiles, which all threads use.
template <class T>
struct TilePair {
  Matrices v;
  Panels z;
  const T* zeros;

  static TilePair of(const Winograd& s, int64_t tiles, int64_t out_channels) {
    const size_t v_floats = Matrices::floats(tiles, s.in_channels), z_floats = Panels::floats(tiles, out_channels);
    const size_t floats = v_floats + z_floats + std::max(s.in_channels, out_channels);
    float* memory = static_cast<float*>(scratch_buffer(Scratch::tiles, floats * 4));
    return {Matrices(memory, tiles, s.in_channels), Panels{memory + v_floats, tiles},
            cleared<T>(memory + v_floats + z_floats, std::max(s.in_channels, out_channels))};
  }
  void transform(const Winograd& s, const T* x, const T* grad_y, int64_t k, int64_t channels, int64_t first,
                 int64_t n) {
    parallel_for(0, n, 1, [&](int64_t from, int64_t to) {
      input_tiles(s, x, first + from, to - from, zeros, v, from);
      output_gradient_tiles(s, grad_y, k, channels, first + from, to - from, zeros, z, from);
    });
  }
};

constexpr int64_t kBlock = 4 * kRows;  // input channels of a product

// du = sum over tiles of v^T z for a block of input channels, a panel and a point.
void multiply_block(const Matrices& v, const Matrices& z, int64_t point, int64_t c, int64_t channels, int64_t tiles,
                    float* du, bool add) {
  multiply<false>(channels, v.row(point, 0) + c, v.row_step, z.row(point, 0), tiles, du, add);
}

// Few tiles: the gradient of a block of weights is computed at all points in the second cache and transformed there.
template <class T>
void backward_weight_by_weights(const Winograd& s, const T* x, const T* grad_y, T* grad_weight) {
  const int64_t in = s.in_channels, blocks = (in + kBlock - 1) / kBlock, panels = s.out_channels / kPanel;
  auto pair = TilePair<T>::of(s, s.tiles(), s.out_channels);
  pair.transform(s, x, grad_y, 0, s.out_channels, 0, s.tiles());
  parallel_pieces(0, panels * blocks, 1, [&](int64_t from, int64_t to) {
    const size_t floats = Matrices::floats(kBlock, kPanel);
    const Matrices du(static_cast<float*>(scratch_buffer(Scratch::weights, floats * 4)), kBlock, kPanel);
    for (int64_t unit = from; unit < to; ++unit) {
      const int64_t panel = unit / blocks, c = unit % blocks * kBlock, channels = std::min(kBlock, in - c);
      for (int64_t p = 0; p < kPoints; ++p)
        multiply_block(pair.v, pair.z[panel], p, c, channels, s.tiles(), du.row(p, 0), false);
      transform_weight_gradients(du, 0, panel * kPanel, c, channels, in, grad_weight);
    }
  });
}

// How many tiles are transformed at a time: as many as a thread's second cache holds, and more where the sums that each
// product adds to come from farther away.
int64_t tiles_of_a_sum(int64_t in_channels, int64_t out_channels) {
  const int64_t bytes = std::min<int64_t>(get_num_threads() * (int64_t{512} << 10), 4 << 20);
  const int64_t least = kPoints * 4 * in_channels * out_channels <= 4 << 20 ? 24 : 128;
  return std::max(bytes / (kPoints * 4 * (in_channels + out_channels)), least);
}

// Many tiles: some at a time are transformed and multiplied, and the products added up, for the panels that `du` holds.
template <class T>
void backward_weight_of_panels(const Winograd& s, const T* x, const T* grad_y, int64_t k, int64_t panels,
                               const Panels& du) {
  const int64_t in = s.in_channels, total = s.tiles(), blocks = (in + kBlock - 1) / kBlock;
  const int64_t most = std::min(tiles_of_a_sum(in, panels * kPanel), total);
  auto pair = TilePair<T>::of(s, most, panels * kPanel);
  for (int64_t first = 0; first < total; first += most) {
    const int64_t n = std::min(most, total - first);
    pair.transform(s, x, grad_y, k, panels * kPanel, first, n);
    parallel_for(0, kPoints * blocks, 1, [&](int64_t from, int64_t to) {
      for (int64_t unit = from; unit < to; ++unit) {
        const int64_t p = unit / blocks, c = unit % blocks * kBlock, channels = std::min(kBlock, in - c);
        for (int64_t i = 0; i < panels; ++i)
          multiply_block(pair.v, pair.z[i], p, c, channels, n, du[i].row(p, c), first > 0);
      }
    });
  }
}

template <class T>
void backward_weight_by_tiles(const Winograd& s, const T* x, const T* grad_y, T* grad_weight) {
  const int64_t in = s.in_channels, panels = s.out_channels / kPanel, blocks = in / kLanes;
  const int64_t fit = std::max<int64_t>((10 << 20) / (Panels::floats(in, kPanel) * 4), 1);
  for (int64_t first = 0; first < panels; first += fit) {
    const int64_t count = std::min(fit, panels - first);
    const Panels du{static_cast<float*>(scratch_buffer(Scratch::weights, Panels::floats(in, count * kPanel) * 4)), in};
    backward_weight_of_panels(s, x, grad_y, first * kPanel, count, du);
    parallel_for(0, count * blocks, 1, [&](int64_t from, int64_t to) {
      for (int64_t unit = from; unit < to; ++unit) {
        const int64_t panel = unit / blocks, c = unit % blocks * kLanes;
        transform_weight_gradients(du[panel], c, (first + panel) * kPanel, c, kLanes, in, grad_weight);
      }
    });
  }
}

template <class T>
void backward_weight_as(const Winograd& s, const T* x, const T* grad_y, T* grad_weight) {
  const int64_t bytes = kPoints * s.tiles() * (s.in_channels + s.out_channels) * 4;
  if (s.tiles() < s.out_channels && bytes <= 12 << 20)
    backward_weight_by_weights(s, x, grad_y, grad_weight);
  else
    backward_weight_by_tiles(s, x, grad_y, grad_weight);
}

void forward(ScalarType dtype, const Winograd& s, const void* x, const void* weight, bool transposed, const void* bias,
             void* y) {
  HB_FLOATING_SWITCH("convolution", dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (!std::is_same_v<T, double>)
      forward_as(Call<T>{s,
                         static_cast<const T*>(x),
                         {static_cast<const T*>(weight), transposed, s.in_channels, s.out_channels},
                         static_cast<const T*>(bias),
                         static_cast<T*>(y)});
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
