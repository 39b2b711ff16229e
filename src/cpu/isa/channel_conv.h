#pragma once
// Convolutions with a filter for each channel: what a matrix product would do with columns of one, done for all
// channels at once. Filters and their gradients are (kernel, channels).

#include "cpu/isa/conv_geometry.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Which kernel positions meet the input, for each output of each dimension.
class Taps {
 public:
  explicit Taps(const Geometry& g) : g_(g) {
    for (int d = 0; d < 3; ++d)
      for (int64_t o = 0; o < g.y[d]; ++o) {
        const int64_t at = o * g.stride[d] - g.padding[d], by = g.dilation[d];
        const int64_t first = at >= 0 ? 0 : (by - 1 - at) / by, last = at >= g.x[d] ? 0 : (g.x[d] - 1 - at) / by + 1;
        of_[d].push_back({first, std::min(last, g.k[d]), at});
      }
  }
  int64_t lines() const { return g_.y[0] * g_.y[1]; }
  /// Calls f(kernel position, input position) for output `o` of a line of outputs.
  template <class F>
  void each(int64_t line, int64_t o, const F& f) const {
    const One &a = of_[0][line / g_.y[1]], &b = of_[1][line % g_.y[1]], &c = of_[2][o];
    for (int64_t i = a.first; i < a.last; ++i)
      for (int64_t j = b.first; j < b.last; ++j) {
        const int64_t row = (i * g_.k[1] + j) * g_.k[2];
        const int64_t in = ((a.at + i * g_.dilation[0]) * g_.x[1] + b.at + j * g_.dilation[1]) * g_.x[2] + c.at;
        for (int64_t l = c.first; l < c.last; ++l) f(row + l, in + l * g_.dilation[2]);
      }
  }

 private:
  struct One {
    int64_t first, last, at;  // at: the input position of kernel position 0, which may lie outside
  };
  const Geometry& g_;
  std::vector<One> of_[3];
};

template <class T>
struct Channels {
  static constexpr int64_t kCount = (kIsaLevel >= 4 ? 64 : 32) / sizeof(T);
  typedef T type __attribute__((vector_size(kCount * sizeof(T)), aligned(alignof(T)), may_alias));
  static const type& at(const T* x) { return *reinterpret_cast<const type*>(x); }
  static type& at(T* x) { return *reinterpret_cast<type*>(x); }
};

/// out[c] += a[c] * b[c]
template <class T>
inline void add_products(T* out, const T* a, const T* b, int64_t n) {
  using V = Channels<T>;
  int64_t c = 0;
  for (; c + V::kCount <= n; c += V::kCount) V::at(out + c) += V::at(a + c) * V::at(b + c);
  for (; c < n; ++c) out[c] += a[c] * b[c];
}

/// (channels, kernel) to (kernel, channels), of filters of one channel each.
template <class T>
std::vector<T> positions_first(const Geometry& g, const T* w) {
  std::vector<T> out(g.kernel * g.cin);
  for (int64_t c = 0; c < g.cin; ++c)
    for (int64_t p = 0; p < g.kernel; ++p) out[p * g.cin + c] = w[c * g.kernel + p];
  return out;
}

template <class T>
void forward_by_channel(const Geometry& g, T* y, const T* x, const T* weight, const T* bias) {
  using V = Channels<T>;
  const std::vector<T> w = positions_first(g, weight);
  const Taps taps(g);
  const int64_t lines = taps.lines(), length = g.y[2], channels = g.cin;
  const auto line = [&](int64_t at) {
    const T* image = x + at / lines * g.inputs * channels;
    for (int64_t o = 0; o < length; ++o) {
      T* out = y + (at * length + o) * channels;
      // Sums of a few vectors stay in registers.
      const auto block = [&]<int n>(int64_t c, std::integral_constant<int, n>) {
        typename V::type sum[n];
        for (int v = 0; v < n; ++v) sum[v] = bias ? V::at(bias + c + v * V::kCount) : typename V::type{};
        taps.each(at % lines, o, [&](int64_t p, int64_t in) {
          for (int v = 0; v < n; ++v)
            sum[v] +=
                V::at(image + in * channels + c + v * V::kCount) * V::at(w.data() + p * channels + c + v * V::kCount);
        });
        for (int v = 0; v < n; ++v) V::at(out + c + v * V::kCount) = sum[v];
      };
      int64_t c = 0;
      for (; c + 2 * V::kCount <= channels; c += 2 * V::kCount) block(c, std::integral_constant<int, 2>());
      for (; c + V::kCount <= channels; c += V::kCount) block(c, std::integral_constant<int, 1>());
      if (c == channels) continue;
      for (int64_t l = c; l < channels; ++l) out[l] = bias ? bias[l] : T(0);
      taps.each(at % lines, o, [&](int64_t p, int64_t in) {
        add_products(out + c, image + in * channels + c, w.data() + p * channels + c, channels - c);
      });
    }
  };
  parallel_for(0, g.batch * lines, kGrain / std::max<int64_t>(1, g.kernel * channels * length) + 1,
               [&](int64_t from, int64_t to) {
                 for (int64_t at = from; at < to; ++at) line(at);
               });
}

template <class T>
void backward_data_by_channel(const Geometry& g, T* grad_x, const T* grad_y, const T* weight) {
  const std::vector<T> w = positions_first(g, weight);
  const Taps taps(g);
  const int64_t lines = taps.lines(), length = g.y[2], channels = g.cin;
  parallel_for(0, g.batch, 1, [&](int64_t from, int64_t to) {
    std::fill(grad_x + from * g.inputs * channels, grad_x + to * g.inputs * channels, T(0));
    for (int64_t at = from * lines; at < to * lines; ++at)
      for (int64_t o = 0; o < length; ++o) {
        T* image = grad_x + at / lines * g.inputs * channels;
        const T* grad = grad_y + (at * length + o) * channels;
        taps.each(at % lines, o, [&](int64_t p, int64_t in) {
          add_products(image + in * channels, grad, w.data() + p * channels, channels);
        });
      }
  });
}

template <class T>
void backward_weight_by_channel(const Geometry& g, T* grad_weight, const T* x, const T* grad_y) {
  const Taps taps(g);
  const int64_t lines = taps.lines(), length = g.y[2], channels = g.cin;
  const int threads = threads_for(g.batch, 1);
  std::vector<T> sums(threads * g.kernel * channels, T(0));
  parallel_ranges(0, g.batch, threads, [&](int64_t from, int64_t to, int thread) {
    T* mine = sums.data() + thread * g.kernel * channels;
    for (int64_t at = from * lines; at < to * lines; ++at)
      for (int64_t o = 0; o < length; ++o) {
        const T *image = x + at / lines * g.inputs * channels, *grad = grad_y + (at * length + o) * channels;
        taps.each(at % lines, o, [&](int64_t p, int64_t in) {
          add_products(mine + p * channels, grad, image + in * channels, channels);
        });
      }
  });
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t p = 0; p < g.kernel; ++p) {
      T sum = 0;
      for (int t = 0; t < threads; ++t) sum += sums[(t * g.kernel + p) * channels + c];
      grad_weight[c * g.kernel + p] = sum;
    }
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
