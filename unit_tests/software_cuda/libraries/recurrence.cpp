#include "software_cuda/libraries/recurrence.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/floating_switch.h"

namespace software_cuda {

constexpr int64_t kGap = 8;  // elements between the matrices of the input and of the hidden state

int64_t RnnShape::matrix(int64_t layer, int64_t id) const {
  if (id < 0 || id > 2 * gates() || (id == 2 * gates() && !projected())) return 0;
  return id == 2 * gates() ? out * hidden : hidden * (id < gates() ? width_of(layer) : out);
}
int64_t RnnShape::matrix_at(int64_t layer, int64_t id) const {
  int64_t at = 0;
  for (int64_t l = 0; l <= layer; ++l) {
    for (int64_t i = 0; i < (l == layer ? id : 2 * gates() + 1); ++i)
      at += matrix(l, i) + (i == gates() - 1 ? kGap : 0);
  }
  return at;
}
int64_t RnnShape::bias_at(int64_t layer, int64_t id) const {
  return matrix_at(layers * directions, 0) + (layer * 2 * gates() + id) * hidden;
}
int64_t RnnShape::weights() const {
  return biased ? bias_at(layers * directions, 0) : matrix_at(layers * directions, 0);
}

int64_t RnnData::rows() const {
  int64_t n = 0;
  for (const int length : lengths) n += length;
  return n;
}
std::vector<std::vector<int64_t>> RnnData::sequences() const {
  std::vector<std::vector<int64_t>> all(lengths.size());
  int64_t row = 0;
  for (int64_t t = 0; t < steps; ++t)
    for (size_t b = 0; b < lengths.size(); ++b)
      if (t < lengths[b]) all[b].push_back(batch_major ? static_cast<int64_t>(b) * steps + t : row++);
  return all;
}

namespace {

enum class Left : int64_t { forward = 0x0f0a4d, data = 0xda7a };  // what a reserve begins with

/// What the passes keep of each layer and direction: rows of values.
template <class C>
struct Kept {
  C *in, *gates, *hidden_part, *cells, *unprojected, *before, *cells_before;  // of the forward pass
  C *grad_in, *grad_hidden, *grad_out;  // of the sums of the gates, and of the projected result
};
template <class C>
std::vector<Kept<C>> places(const RnnShape& net, int64_t rows, C* at, int64_t* total = nullptr) {
  std::vector<Kept<C>> all(static_cast<size_t>(net.layers * net.directions));
  C* const start = at;
  const auto take = [&](int64_t width) { return std::exchange(at, at + rows * width); };
  for (size_t l = 0; l < all.size(); ++l) {
    const int64_t g = net.gates() * net.hidden;
    all[l] = {take(net.width_of(static_cast<int64_t>(l))),
              take(g),
              take(net.hidden),
              take(net.hidden),
              take(net.hidden),
              take(net.out),
              take(net.hidden),
              take(g),
              take(g),
              take(net.out)};
  }
  if (total) *total = at - start;
  return all;
}
template <class T>
using compute_t = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
struct Recurrence {
  using C = compute_t<T>;
  const RnnShape& net;
  const RnnData& data;
  const int64_t H = net.hidden, O = net.out, G = net.gates(), rows = data.rows();
  const std::vector<std::vector<int64_t>> sequences = data.sequences();
  std::vector<C> w;  // the weights

  Recurrence(const RnnShape& n, const RnnData& d, const void* weights) : net(n), data(d) {
    if (!weights) return;
    w.resize(static_cast<size_t>(net.weights()));
    for (int64_t l = 0; l < net.layers * net.directions; ++l) {
      for (int64_t id = 0; id <= 2 * G; ++id) {
        widen(weights, net.matrix_at(l, id), net.matrix(l, id));
        if (net.biased && id < 2 * G) widen(weights, net.bias_at(l, id), H);
      }
    }
  }
  void widen(const void* from, int64_t at, int64_t count) {
    for (int64_t i = at; i < at + count; ++i) w[static_cast<size_t>(i)] = value(from, i);
  }
  static C value(const void* from, int64_t i) { return from ? static_cast<C>(static_cast<const T*>(from)[i]) : C(0); }
  static void put(void* to, int64_t i, C v) {
    if (to) static_cast<T*>(to)[i] = T(v);
  }
  const C* matrix(int64_t l, int64_t id) const { return w.data() + net.matrix_at(l, id); }
  static C sigmoid(C v) { return C(1) / (C(1) + std::exp(-v)); }
  /// The steps of a sequence in the order of a direction.
  static std::vector<int64_t> ordered(std::vector<int64_t> steps, bool reverse) {
    if (reverse) std::reverse(steps.begin(), steps.end());
    return steps;
  }

  /// out (n) += m (n, k) v (k), or of the transpose: out (k) += v (n) m.
  static void times(C* out, const C* m, const C* v, int64_t n, int64_t k) {
    for (int64_t i = 0; i < n; ++i) {
      C sum = 0;
      for (int64_t j = 0; j < k; ++j) sum += m[i * k + j] * v[j];
      out[i] += sum;
    }
  }
  static void times_transposed(C* out, const C* m, const C* v, int64_t n, int64_t k) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < k; ++j) out[j] += v[i] * m[i * k + j];
  }

  void step(const Kept<C>& k, int64_t l, int64_t row, std::vector<C>& h, std::vector<C>& c) const {
    std::vector<C> a(static_cast<size_t>(G * H)), u(a.size());
    if (net.biased) {
      std::copy_n(w.data() + net.bias_at(l, 0), G * H, a.data());
      std::copy_n(w.data() + net.bias_at(l, G), G * H, u.data());
    }
    const int64_t in = net.width_of(l);
    std::copy(h.begin(), h.end(), k.before + row * O);
    for (int64_t g = 0; g < G; ++g) {
      times(a.data() + g * H, matrix(l, g), k.in + row * in, H, in);
      times(u.data() + g * H, matrix(l, G + g), h.data(), H, O);
    }
    C* const gate = k.gates + row * G * H;
    std::vector<C> next(static_cast<size_t>(H));
    for (int64_t j = 0; j < H; ++j) {
      const auto sum = [&](int64_t g) { return a[g * H + j] + u[g * H + j]; };
      if (net.mode == CUDNN_LSTM) {
        const C i = sigmoid(sum(0)), f = sigmoid(sum(1)), n = std::tanh(sum(2)), o = sigmoid(sum(3));
        k.cells_before[row * H + j] = c[j];
        c[j] = f * c[j] + i * n, next[j] = o * std::tanh(c[j]);
        gate[j] = i, gate[H + j] = f, gate[2 * H + j] = n, gate[3 * H + j] = o, k.cells[row * H + j] = c[j];
      } else if (net.mode == CUDNN_GRU) {
        const C r = sigmoid(sum(0)), z = sigmoid(sum(1)), n = std::tanh(a[2 * H + j] + r * u[2 * H + j]);
        gate[j] = r, gate[H + j] = z, gate[2 * H + j] = n, k.hidden_part[row * H + j] = u[2 * H + j];
        next[j] = (C(1) - z) * n + z * h[j];
      } else {
        gate[j] = next[j] = net.mode == CUDNN_RNN_TANH ? std::tanh(sum(0)) : std::max(C(0), sum(0));
      }
    }
    if (net.projected()) {
      std::copy(next.begin(), next.end(), k.unprojected + row * H);
      next.assign(static_cast<size_t>(O), C(0));
      times(next.data(), matrix(l, 2 * G), k.unprojected + row * H, O, H);
    }
    for (int64_t j = 0; j < O; ++j) h[j] = static_cast<C>(T(next[j]));  // as y has it
  }

  void forward(const void* x, void* y, const void* hx, void* hy, const void* cx, void* cy, C* room) const {
    const auto kept = places<C>(net, rows, room);
    const auto batch = static_cast<int64_t>(sequences.size());
    for (int64_t i = 0; i < rows * net.features; ++i)
      for (int64_t d = 0; d < net.directions; ++d) kept[static_cast<size_t>(d)].in[i] = value(x, i);
    for (int64_t l = 0; l < net.layers * net.directions; ++l) {
      const int64_t d = l % net.directions, wide = net.directions * O;
      for (int64_t b = 0; b < batch; ++b) {
        std::vector<C> h, c;
        for (int64_t j = 0; j < O; ++j) h.push_back(value(hx, (l * batch + b) * O + j));
        for (int64_t j = 0; j < H; ++j) c.push_back(value(cx, (l * batch + b) * H + j));
        for (const int64_t row : ordered(sequences[static_cast<size_t>(b)], d == 1)) {
          step(kept[static_cast<size_t>(l)], l, row, h, c);
          const int64_t at = row * wide + d * O;
          for (int64_t above = l - d + net.directions; above < l - d + 2 * net.directions; ++above)
            if (above < static_cast<int64_t>(kept.size()))
              std::copy(h.begin(), h.end(), kept[static_cast<size_t>(above)].in + at);
          if (l + net.directions >= static_cast<int64_t>(kept.size()))
            for (int64_t j = 0; j < O; ++j) put(y, at + j, h[j]);
        }
        for (int64_t j = 0; j < O; ++j) put(hy, (l * batch + b) * O + j, h[j]);
        for (int64_t j = 0; j < H; ++j) put(cy, (l * batch + b) * H + j, c[j]);
      }
    }
  }

  /// The gradients of the sums of a row's gates, from that of its result. dh: of the state before, as far as it is used
  /// beside the gates; dc: of the cell, becomes that of the one before.
  void step_back(const Kept<C>& k, int64_t l, int64_t row, std::vector<C>& dh, std::vector<C>& dc) const {
    std::vector<C> dn = dh;
    if (net.projected()) {
      std::copy(dh.begin(), dh.end(), k.grad_out + row * O);
      dn.assign(static_cast<size_t>(H), C(0));
      times_transposed(dn.data(), matrix(l, 2 * G), dh.data(), O, H);
    }
    dh.assign(static_cast<size_t>(O), C(0));
    C *da = k.grad_in + row * G * H, *du = k.grad_hidden + row * G * H;
    const C* const gate = k.gates + row * G * H;
    for (int64_t j = 0; j < H; ++j) {
      if (net.mode == CUDNN_LSTM) {
        const C i = gate[j], f = gate[H + j], n = gate[2 * H + j], o = gate[3 * H + j];
        const C seen = std::tanh(k.cells[row * H + j]), d = dc[j] + dn[j] * o * (1 - seen * seen);
        da[j] = d * n * i * (1 - i), da[H + j] = d * k.cells_before[row * H + j] * f * (1 - f);
        da[2 * H + j] = d * i * (1 - n * n), da[3 * H + j] = dn[j] * seen * o * (1 - o);
        dc[j] = d * f;
      } else if (net.mode == CUDNN_GRU) {
        const C r = gate[j], z = gate[H + j], n = gate[2 * H + j], before = k.before[row * O + j];
        const C d = dn[j] * (1 - z) * (1 - n * n), part = k.hidden_part[row * H + j];
        da[j] = d * part * r * (1 - r), da[H + j] = dn[j] * (before - n) * z * (1 - z), da[2 * H + j] = d;
        dh[j] = dn[j] * z;
      } else {
        da[j] = net.mode == CUDNN_RNN_TANH ? dn[j] * (1 - gate[j] * gate[j]) : gate[j] > 0 ? dn[j] : C(0);
      }
    }
    std::copy_n(da, G * H, du);
    if (net.mode == CUDNN_GRU)
      for (int64_t j = 0; j < H; ++j) du[2 * H + j] *= gate[j];
    for (int64_t g = 0; g < G; ++g) times_transposed(dh.data(), matrix(l, G + g), du + g * H, H, O);
  }

  void backward_data(const void* dy, void* dx, const void* dhy, void* dhx, const void* dcy, void* dcx, C* room) const {
    const auto kept = places<C>(net, rows, room);
    const auto batch = static_cast<int64_t>(sequences.size());
    std::vector<C> above(static_cast<size_t>(rows * net.directions * O));
    for (size_t i = 0; i < above.size(); ++i) above[i] = value(dy, static_cast<int64_t>(i));
    for (int64_t layer = net.layers; layer-- > 0;) {
      const int64_t in = net.width_of(layer * net.directions);
      std::vector<C> below(static_cast<size_t>(rows * in));
      for (int64_t d = 0; d < net.directions; ++d) {
        const int64_t l = layer * net.directions + d;
        const Kept<C>& k = kept[static_cast<size_t>(l)];
        for (int64_t b = 0; b < batch; ++b) {
          std::vector<C> dh, dc;
          for (int64_t j = 0; j < O; ++j) dh.push_back(value(dhy, (l * batch + b) * O + j));
          for (int64_t j = 0; j < H; ++j) dc.push_back(value(dcy, (l * batch + b) * H + j));
          for (const int64_t row : ordered(sequences[static_cast<size_t>(b)], d == 0)) {
            for (int64_t j = 0; j < O; ++j) dh[j] += above[static_cast<size_t>((row * net.directions + d) * O + j)];
            step_back(k, l, row, dh, dc);
            for (int64_t g = 0; g < G; ++g)
              times_transposed(below.data() + row * in, matrix(l, g), k.grad_in + (row * G + g) * H, H, in);
          }
          for (int64_t j = 0; j < O; ++j) put(dhx, (l * batch + b) * O + j, dh[j]);
          for (int64_t j = 0; j < H; ++j) put(dcx, (l * batch + b) * H + j, dc[j]);
        }
      }
      above = std::move(below);
    }
    for (size_t i = 0; i < above.size(); ++i) put(dx, static_cast<int64_t>(i), above[i]);
  }

  /// Adds to (n, k), or to (n) where `by` is null.
  void add_products(void* dw, int64_t at, const C* grad, int64_t step, int64_t n, const C* by, int64_t k) const {
    std::vector<C> sum(static_cast<size_t>(n * (by ? k : 1)));
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < (by ? k : 1); ++j)
          sum[static_cast<size_t>(by ? i * k + j : i)] += grad[row * step + i] * (by ? by[row * k + j] : C(1));
    for (size_t i = 0; i < sum.size(); ++i)
      put(dw, at + static_cast<int64_t>(i), value(dw, at + static_cast<int64_t>(i)) + sum[i]);
  }
  void backward_weights(void* dw, C* room) const {
    const auto kept = places<C>(net, rows, room);
    for (int64_t l = 0; l < net.layers * net.directions; ++l) {
      const Kept<C>& k = kept[static_cast<size_t>(l)];
      for (int64_t g = 0; g < G; ++g) {
        add_products(dw, net.matrix_at(l, g), k.grad_in + g * H, G * H, H, k.in, net.width_of(l));
        add_products(dw, net.matrix_at(l, G + g), k.grad_hidden + g * H, G * H, H, k.before, O);
        if (!net.biased) continue;
        add_products(dw, net.bias_at(l, g), k.grad_in + g * H, G * H, H, nullptr, 0);
        add_products(dw, net.bias_at(l, G + g), k.grad_hidden + g * H, G * H, H, nullptr, 0);
      }
      if (net.projected()) add_products(dw, net.matrix_at(l, 2 * G), k.grad_out, O, O, k.unprojected, H);
    }
  }
};

template <class F>
void with_type(hb::ScalarType dtype, const F& f) {
  using namespace hb;
  HB_FLOATING_SWITCH("rnn", dtype, f);
}

constexpr int64_t kHeader = 64;
int64_t values_kept(const RnnShape& net, const RnnData& data) {
  int64_t count = 0;
  places<float>(net, data.rows(), nullptr, &count);
  return count;
}
bool takes(void* reserve, Left expected, Left next) {
  int64_t left;
  std::memcpy(&left, reserve, sizeof left);
  const bool good = left == static_cast<int64_t>(expected);
  std::memcpy(reserve, &next, sizeof next);
  return good;
}

}  // namespace

int64_t reserve_bytes(const RnnShape& net, const RnnData& data) {
  return kHeader + values_kept(net, data) * static_cast<int64_t>(net.dtype == hb::kDouble ? 8 : 4);
}

void run_forward(const RnnShape& net, const RnnData& data, const void* x, void* y, const void* hx, void* hy,
                 const void* cx, void* cy, const void* weights, void* reserve) {
  std::vector<char> own(reserve ? 0 : static_cast<size_t>(reserve_bytes(net, data)));
  char* const room = reserve ? static_cast<char*>(reserve) : own.data();
  takes(room, Left::forward, Left::forward);
  with_type(net.dtype, [&](auto type) {
    using R = Recurrence<decltype(type)>;
    R(net, data, weights).forward(x, y, hx, hy, cx, cy, reinterpret_cast<typename R::C*>(room + kHeader));
  });
}
bool run_backward_data(const RnnShape& net, const RnnData& data, const void* dy, void* dx, const void* dhy, void* dhx,
                       const void* dcy, void* dcx, const void* weights, void* reserve) {
  if (!takes(reserve, Left::forward, Left::data)) return false;
  with_type(net.dtype, [&](auto type) {
    using R = Recurrence<decltype(type)>;
    R(net, data, weights)
        .backward_data(dy, dx, dhy, dhx, dcy, dcx,
                       reinterpret_cast<typename R::C*>(static_cast<char*>(reserve) + kHeader));
  });
  return true;
}
bool run_backward_weights(const RnnShape& net, const RnnData& data, void* dweights, void* reserve) {
  if (!takes(reserve, Left::data, Left::data)) return false;
  with_type(net.dtype, [&](auto type) {
    using R = Recurrence<decltype(type)>;
    R(net, data, nullptr)
        .backward_weights(dweights, reinterpret_cast<typename R::C*>(static_cast<char*>(reserve) + kHeader));
  });
  return true;
}

}  // namespace software_cuda
