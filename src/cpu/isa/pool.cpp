// Pooling over channels-last memory: every step handles a run of channels.
#include "backend/pool.h"

#include <cstring>
#include <vector>

#include "cpu/isa/copy_bytes.h"
#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kRun = 256;    // channels at a time
constexpr int64_t kMaxRun = 32;  // the same for maxima, which keep values and places

// Calls f(position in the plane) for each element of the window of output `o`.
template <class F>
inline void over_window(const PoolWindows& w, int64_t o, const F& f) {
  const auto &d = w.dim[0], &h = w.dim[1], &v = w.dim[2];
  const int64_t od = o / (h.out * v.out), oh = o / v.out % h.out, ov = o % v.out;
  for (int64_t i = d.begin[od]; i < d.end[od]; i += d.step)
    for (int64_t j = h.begin[oh]; j < h.end[oh]; j += h.step)
      for (int64_t k = v.begin[ov]; k < v.end[ov]; k += v.step) f((i * h.in + j) * v.in + k);
}

int64_t largest_window(const PoolWindows& w) {
  int64_t n = 1;
  for (const auto& d : w.dim) {
    int64_t most = 1;
    for (int64_t o = 0; o < d.out; ++o) most = std::max<int64_t>(most, (d.end[o] - d.begin[o] + d.step - 1) / d.step);
    n *= most;
  }
  return n;
}

double divisor_of(const PoolWindows& w, int64_t o) {
  if (w.divisor != 0) return w.divisor;
  const auto &d = w.dim[0], &h = w.dim[1], &v = w.dim[2];
  return static_cast<double>(d.extent[o / (h.out * v.out)] * h.extent[o / v.out % h.out] * v.extent[o % v.out]);
}

int64_t grain_for(int64_t channels) { return std::max<int64_t>(1, kGrain / 8 / std::max<int64_t>(channels, 1)); }

// The largest of one window for `run` channels; a constant run stays in registers.
template <class T, bool kWhole>
inline __attribute__((always_inline)) void max_of_window(const PoolWindows& w, int64_t o, const T* image,
                                                         int64_t channels, int64_t run, T* y, int32_t* index) {
  using C = compute_t<T>;
  const int64_t n = kWhole ? kMaxRun : run;
  C top[kMaxRun], wide[kMaxRun];
  int32_t place[kMaxRun];
  bool first = true;
  over_window(
      w, o, [&](int64_t p) __attribute__((always_inline)) {
        const C* __restrict in = computable(image + p * channels, wide, n);
        const int32_t here = static_cast<int32_t>(p);
        if (first) {
          for (int64_t c = 0; c < n; ++c) top[c] = in[c], place[c] = here;
          first = false;
          return;
        }
        for (int64_t c = 0; c < n; ++c) {
          const bool better = (in[c] > top[c]) | (in[c] != in[c]);
          top[c] = better ? in[c] : top[c];
          place[c] = better ? here : place[c];
        }
      });
  store(top, y, n);
  if (index)
    for (int64_t c = 0; c < n; ++c) index[c] = place[c];
}

template <class T>
void max_pool_of(T* y, int32_t* index, const T* x, int64_t batch, int64_t channels, const PoolWindows& w) {
  const int64_t outputs = w.outputs(), inputs = w.inputs();
  parallel_for(0, batch * outputs, grain_for(channels), [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) {
      const int64_t n = at / outputs, o = at % outputs;
      for (int64_t c0 = 0; c0 < channels; c0 += kMaxRun) {
        const T* image = x + n * inputs * channels + c0;
        const int64_t out = at * channels + c0, run = channels - c0;
        int32_t* place = index ? index + out : nullptr;
        if (run >= kMaxRun) {
          max_of_window<T, true>(w, o, image, channels, kMaxRun, y + out, place);
        } else {
          max_of_window<T, false>(w, o, image, channels, run, y + out, place);
        }
      }
    }
  });
}

/// Whether no element is in two windows.
bool disjoint(const PoolWindows& w) {
  for (const auto& d : w.dim)
    for (int64_t o = 1; o < d.out; ++o)
      if (d.begin[o] < d.end[o - 1]) return false;
  return true;
}

/// Where each element has one gradient at most, there is nothing to sum: it is stored as it will stay.
template <class T>
void single_gradients(T* grad_x, const T* grad_y, const int32_t* index, int64_t batch, int64_t channels, int64_t inputs,
                      int64_t outputs) {
  parallel_for(0, batch, 1, [&](int64_t from, int64_t to) {
    for (int64_t n = from; n < to; ++n) {
      T* image = grad_x + n * inputs * channels;
      std::memset(static_cast<void*>(image), 0, inputs * channels * sizeof(T));
      for (int64_t at = n * outputs; at < (n + 1) * outputs; ++at)
        for (int64_t c = 0; c < channels; ++c) {
          const compute_t<T> sum = compute_t<T>(0) + static_cast<compute_t<T>>(grad_y[at * channels + c]);
          image[index[at * channels + c] * channels + c] = static_cast<T>(sum);
        }
    }
  });
}

template <class T>
void max_pool_backward_of(T* grad_x, const T* grad_y, const int32_t* index, int64_t batch, int64_t channels,
                          const PoolWindows& w) {
  using C = compute_t<T>;
  const int64_t outputs = w.outputs(), inputs = w.inputs();
  // One channel after the other where a look at each place of the window, for all channels at once, takes longer.
  const bool by_place = largest_window(w) * (12 + channels / 4) > channels;
  if (by_place && disjoint(w)) return single_gradients(grad_x, grad_y, index, batch, channels, inputs, outputs);
  parallel_for(0, batch, 1, [&](int64_t from, int64_t to) {
    RunBuffer<T> sums(inputs * channels), wide(channels);
    for (int64_t n = from; n < to; ++n) {
      C* __restrict image = results(grad_x + n * inputs * channels, sums.data());
      std::fill(image, image + inputs * channels, C(0));
      for (int64_t o = 0; o < outputs; ++o) {
        const C* __restrict grad = computable(grad_y + (n * outputs + o) * channels, wide.data(), channels);
        const int32_t* __restrict place = index + (n * outputs + o) * channels;
        if (by_place) {
          for (int64_t c = 0; c < channels; ++c) image[place[c] * channels + c] += grad[c];
          continue;
        }
        over_window(w, o, [&](int64_t p) {
          C* __restrict to_image = image + p * channels;
          const int32_t here = static_cast<int32_t>(p);
          for (int64_t c = 0; c < channels; ++c) to_image[c] += place[c] == here ? grad[c] : C(0);
        });
      }
      finish(image, grad_x + n * inputs * channels, inputs * channels);
    }
  });
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
void avg_pool_of(T* y, const T* x, int64_t batch, int64_t channels, const PoolWindows& w) {
  const int64_t outputs = w.outputs(), inputs = w.inputs();
  parallel_for(0, batch * outputs, grain_for(channels), [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) {
      const int64_t n = at / outputs, o = at % outputs;
      for (int64_t c = 0, run; c < channels; c += run) {
        const T* image = x + n * inputs * channels + c;
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

/// Whether each element is in one window.
bool tiled(const PoolWindows& w) {
  for (const auto& d : w.dim) {
    if (d.out == 0 || d.step != 1 || d.begin[0] != 0 || d.end[d.out - 1] != d.in) return false;
    for (int64_t o = 1; o < d.out; ++o)
      if (d.begin[o] != d.end[o - 1]) return false;
  }
  return true;
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

template <class T>
T* at(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.impl().raw_data()) : nullptr;
}

void max_pool(const Tensor& y, const Tensor& index, const Tensor& x, const PoolWindows& w) {
  HB_FLOATING_SWITCH("max_pool", x.scalar_type(), [&](auto type) {
    using T = decltype(type);
    max_pool_of(at<T>(y), at<int32_t>(index), at<T>(x), x.size(0), x.size(1), w);
  });
}
void max_pool_backward(const Tensor& grad_x, const Tensor& grad_y, const Tensor& index, const PoolWindows& w) {
  HB_FLOATING_SWITCH("max_pool_backward", grad_x.scalar_type(), [&](auto type) {
    using T = decltype(type);
    max_pool_backward_of(at<T>(grad_x), at<T>(grad_y), at<int32_t>(index), grad_x.size(0), grad_x.size(1), w);
  });
}
void avg_pool(const Tensor& y, const Tensor& x, const PoolWindows& w) {
  HB_FLOATING_SWITCH("avg_pool", x.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const Averages a(w, x.size(1));
    avg_pool_of(at<T>(y), at<T>(x), x.size(0), a.channels, a.w);
  });
}
void avg_pool_backward(const Tensor& grad_x, const Tensor& grad_y, const PoolWindows& w) {
  HB_FLOATING_SWITCH("avg_pool_backward", grad_x.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const Averages a(w, grad_x.size(1));
    avg_pool_backward_of(at<T>(grad_x), at<T>(grad_y), grad_x.size(0), a.channels, a.w);
  });
}
HB_REGISTER_ISA(max_pool_kernel, max_pool);
HB_REGISTER_ISA(max_pool_backward_kernel, max_pool_backward);
HB_REGISTER_ISA(avg_pool_kernel, avg_pool);
HB_REGISTER_ISA(avg_pool_backward_kernel, avg_pool_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
