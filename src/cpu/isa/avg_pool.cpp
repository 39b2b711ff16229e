// Pooling by averages.
#include <algorithm>
#include <vector>

#include "cpu/isa/copy_bytes.h"
#include "cpu/isa/pool_windows.h"
#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kRun = 256;  // channels at a time

double divisor_of(const PoolWindows& w, int64_t o) {
  if (w.divisor != 0) return w.divisor;
  const auto &d = w.dim[0], &h = w.dim[1], &v = w.dim[2];
  return static_cast<double>(d.extent[o / (h.out * v.out)] * h.extent[o / v.out % h.out] * v.extent[o % v.out]);
}

/// The averages of one window: of a constant number of channels, whose sums stay in registers, or (0) of `run`.
template <class T, int64_t constant>
inline __attribute__((always_inline)) void average_of_window(const PoolWindows& w, int64_t o, const T* image,
                                                             int64_t channels, int64_t run, T* y) {
  using C = compute_t<T>;
  constexpr int64_t kMost = constant ? constant : kRun;
  const int64_t n = constant ? constant : run;
  C sum[kMost], wide[kMost];
  std::fill(sum, sum + n, C(0));
  over_window(
      w, o, [&](int64_t p) __attribute__((always_inline)) {
        const C* __restrict in = computable(image + p * channels, wide, n);
        for (int64_t c = 0; c < n; ++c) sum[c] += in[c];
      });
  const C divisor = static_cast<C>(divisor_of(w, o));
  for (int64_t c = 0; c < n; ++c) sum[c] /= divisor;
  store(sum, y, n);
}

template <class T>
void avg_pool_of(T* y, const Images<T>& x, const PoolWindows& w) {
  const int64_t outputs = w.outputs(), channels = x.channels;
  parallel_for(0, x.batch * outputs, grain_for(channels), [&](int64_t from, int64_t to) {
    ImageReader<T> images(x);
    for (int64_t at = from; at < to; ++at) {
      const T* const whole = images[at / outputs];
      const int64_t o = at % outputs;
      for (int64_t c = 0, run; c < channels; c += run) {
        const T* image = whole + c;
        T* out = y + at * channels + c;
        run = std::min(kRun, channels - c);
        if (run < 64 && run >= 16)
          average_of_window<T, 16>(w, o, image, channels, run = 16, out);
        else
          average_of_window<T, 0>(w, o, image, channels, run, out);
      }
    }
  });
}

/// Where each element is in one window its gradient is that window's share.
template <class T>
void spread_shares(T* grad_x, const T* grad_y, int64_t batch, int64_t channels, const PoolWindows& w) {
  using C = compute_t<T>;
  const int64_t outputs = w.outputs(), inputs = w.inputs();
  parallel_for(0, batch, 1, [&](int64_t from, int64_t to) {
    RunBuffer<T> wide(channels), shares(channels);
    std::vector<T> kept(channels);
    for (int64_t at = from * outputs; at < to * outputs; ++at) {
      const C* __restrict grad = computable(grad_y + at * channels, wide.data(), channels);
      const C share = static_cast<C>(1 / divisor_of(w, at % outputs));
      C* __restrict sums = results(kept.data(), shares.data());
      for (int64_t c = 0; c < channels; ++c) sums[c] = C(0) + share * grad[c];
      finish(sums, kept.data(), channels);
      T* image = grad_x + at / outputs * inputs * channels;
      over_window(w, at % outputs,
                  [&](int64_t p) { copy_bytes(image + p * channels, kept.data(), channels * sizeof(T)); });
    }
  });
}

template <class T>
void avg_pool_backward_of(T* grad_x, const T* grad_y, int64_t batch, int64_t channels, const PoolWindows& w) {
  if (tiled(w)) return spread_shares(grad_x, grad_y, batch, channels, w);
  using C = compute_t<T>;
  const int64_t outputs = w.outputs(), inputs = w.inputs();
  parallel_for(0, batch, 1, [&](int64_t from, int64_t to) {
    RunBuffer<T> sums(inputs * channels), wide(channels);
    for (int64_t n = from; n < to; ++n) {
      C* __restrict image = results(grad_x + n * inputs * channels, sums.data());
      std::fill(image, image + inputs * channels, C(0));
      for (int64_t o = 0; o < outputs; ++o) {
        const C* __restrict grad = computable(grad_y + (n * outputs + o) * channels, wide.data(), channels);
        const C share = static_cast<C>(1 / divisor_of(w, o));
        over_window(w, o, [&](int64_t p) {
          C* __restrict to_image = image + p * channels;
          for (int64_t c = 0; c < channels; ++c) to_image[c] += share * grad[c];
        });
      }
      finish(image, grad_x + n * inputs * channels, inputs * channels);
    }
  });
}

/// Averages over windows of several elements: last dimensions whose windows are single elements join the channels.
struct Averages {
  PoolWindows w;
  int64_t channels;
  Averages(const PoolWindows& windows, int64_t c) : w(windows), channels(c) {
    for (int k = 0; k < 3 && single(w.dim[2]); ++k) {
      channels *= w.dim[2].in;
      w.dim[2] = std::move(w.dim[1]), w.dim[1] = std::move(w.dim[0]), w.dim[0] = {};
    }
  }
  static bool single(const PoolWindows::Dim& d) {
    bool single = d.in == d.out;
    for (int64_t o = 0; single && o < d.out; ++o) single = d.begin[o] == o && d.end[o] == o + 1 && d.extent[o] == 1;
    return single;
  }
};

void avg_pool(const Tensor& y, const Tensor& x, const PoolWindows& w) {
  HB_FLOATING_SWITCH("avg_pool", x.scalar_type(), [&](auto type) {
    using T = decltype(type);
    Images<T> images(x);
    if (!images.last) return avg_pool_of(at<T>(y), images, w);
    const Averages a(w, images.channels);
    images.channels = a.channels;
    avg_pool_of(at<T>(y), images, a.w);
  });
}
void avg_pool_backward(const Tensor& grad_x, const Tensor& grad_y, const PoolWindows& w) {
  HB_FLOATING_SWITCH("avg_pool_backward", grad_x.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const Averages a(w, grad_x.size(1));
    avg_pool_backward_of(at<T>(grad_x), at<T>(grad_y), grad_x.size(0), a.channels, a.w);
  });
}
HB_REGISTER_ISA(avg_pool_kernel, avg_pool);
HB_REGISTER_ISA(avg_pool_backward_kernel, avg_pool_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
