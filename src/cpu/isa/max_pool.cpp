// Pooling by maxima, and where its gradients go.
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "cpu/isa/lanes.h"
#include "cpu/isa/pool_windows.h"
#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kMaxRun = 32;  // channels at a time, of which values and places are kept

// The largest of one window for `run` channels; a constant run stays in registers. Padding and dilation may leave a
// window without elements: -inf, at place 0, where its gradient does not go.
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
  if (first) std::fill(top, top + n, -std::numeric_limits<C>::infinity()), std::fill(place, place + n, 0);
  store(top, y, n);
  if (index)
    for (int64_t c = 0; c < n; ++c) index[c] = place[c];
}

template <class T>
void max_pool_of(T* y, int32_t* index, const Images<T>& x, const PoolWindows& w) {
  const int64_t outputs = w.outputs(), channels = x.channels;
  parallel_for(0, x.batch * outputs, grain_for(channels), [&](int64_t from, int64_t to) {
    ImageReader<T> images(x);
    for (int64_t at = from; at < to; ++at) {
      const T* const whole = images[at / outputs];
      const int64_t o = at % outputs;
      for (int64_t c0 = 0; c0 < channels; c0 += kMaxRun) {
        const T* image = whole + c0;
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

/// Places of a plane before the end of the last window of row `oh` of slice `od`.
int64_t reach_of(const PoolWindows& w, int64_t od, int64_t oh) {
  const auto &d = w.dim[0], &h = w.dim[1];
  const bool one_slice = d.end[od] - d.begin[od] == 1;
  return (one_slice ? d.begin[od] * h.in + h.end[oh] : d.end[od] * h.in) * w.dim[2].in;
}

constexpr int64_t kPlacedRun = 16;  // channels that are placed at once

/// The gradients of a run of channels of the window of row `oh` that is number `ov`, where each of its places is in no
/// other window: each place has those whose largest element stands there, and else 0.
template <class C>
inline void place_run(const PoolWindows& w, int64_t od, int64_t oh, int64_t ov, C* image, const C* grad,
                      const int32_t* index, int64_t channels) {
  constexpr int kParts = kPlacedRun / kLanes<C>;
  using Numbers = LaneNumbers<C>;
  using Number = std::conditional_t<sizeof(C) == 4, int32_t, int64_t>;
  const auto &d = w.dim[0], &h = w.dim[1], &v = w.dim[2];
  Numbers bits[kParts], place[kParts];
  for (int part = 0; part < kParts; ++part) {
    bits[part] = reinterpret_cast<Numbers>(load<C>(grad + part * kLanes<C>) + C(0));
    typename LanesOf<int32_t, kLanes<C>>::Vector narrow_place;
    std::memcpy(&narrow_place, index + part * kLanes<C>, sizeof narrow_place);
    place[part] = __builtin_convertvector(narrow_place, Numbers);
  }
  const int64_t k0 = v.begin[ov], k1 = v.end[ov];
  for (int64_t i = d.begin[od]; i < d.end[od]; ++i)
    for (int64_t j = h.begin[oh]; j < h.end[oh]; ++j) {
      auto here = static_cast<Number>((i * h.in + j) * v.in + k0);
      C* to = image + here * channels;
      for (int64_t k = k0; k < k1; ++k, ++here, to += channels)
        for (int part = 0; part < kParts; ++part)
          store<C>(to + part * kLanes<C>, reinterpret_cast<Vector<C>>(bits[part] & (place[part] == here)));
    }
}

/// The windows of one dimension that hold each of its places, in their order.
struct Holders {
  std::vector<int64_t> windows, begin;  // of place p: windows[begin[p]] to windows[begin[p + 1]]
  explicit Holders(const PoolWindows::Dim& d) : begin(d.in + 1) {
    for (int64_t o = 0; o < d.out; ++o)
      for (int64_t p = d.begin[o]; p < d.end[o]; p += d.step) ++begin[p + 1];
    for (int64_t p = 0; p < d.in; ++p) begin[p + 1] += begin[p];
    windows.resize(begin[d.in]);
    std::vector<int64_t> next(begin.begin(), begin.end() - 1);
    for (int64_t o = 0; o < d.out; ++o)
      for (int64_t p = d.begin[o]; p < d.end[o]; p += d.step) windows[next[p]++] = o;
  }
};

/// The gradients of a run of channels, whose largest element of a window is its place `here`, from `at` on.
template <class C>
struct GradientsOf {
  static constexpr int kParts = kPlacedRun / kLanes<C>;
  using Number = std::conditional_t<sizeof(C) == 4, int32_t, int64_t>;
  const C* grad;
  const int32_t* index;
  void add_to(Vector<C> (&sum)[kParts], int64_t at, int64_t here) const {
    for (int part = 0; part < kParts; ++part) {
      typename LanesOf<int32_t, kLanes<C>>::Vector place;
      std::memcpy(&place, index + at + part * kLanes<C>, sizeof place);
      const auto its = __builtin_convertvector(place, LaneNumbers<C>) == static_cast<Number>(here);
      const auto bits = reinterpret_cast<LaneNumbers<C>>(load<C>(grad + at + part * kLanes<C>));
      sum[part] += reinterpret_cast<Vector<C>>(bits & its);
    }
  }
};

/// The gradients of a run of channels at one row of places: each sums those of the windows whose largest element it is,
/// of the rows of windows that begin at `rows`, a known number of them or (0) `count` rows.
template <class C, int kRows>
__attribute__((noinline)) void gather_row(GradientsOf<C> of, const int64_t* rows, int64_t count, const Holders& holders,
                                          int64_t here, C* to, int64_t channels) {
  const int64_t row_count = kRows ? kRows : count;
  const int64_t *begin = holders.begin.data(), *const last = begin + holders.begin.size() - 1;
  for (const int64_t* window = holders.windows.data(); begin != last; ++begin, ++here, to += channels) {
    const int64_t windows = begin[1] - begin[0];
    Vector<C> sum[GradientsOf<C>::kParts] = {};
    if (windows == 1) {  // two of each three places of most nets' pooling
      for (int64_t r = 0; r < row_count; ++r) of.add_to(sum, rows[r] + window[0] * channels, here);
    } else if (windows == 2) {
      const int64_t first = window[0] * channels, second = window[1] * channels;
      for (int64_t r = 0; r < row_count; ++r) {
        of.add_to(sum, rows[r] + first, here);
        of.add_to(sum, rows[r] + second, here);
      }
    } else {
      for (int64_t r = 0; r < row_count; ++r)
        for (int64_t i = 0; i < windows; ++i) of.add_to(sum, rows[r] + window[i] * channels, here);
    }
    for (int part = 0; part < GradientsOf<C>::kParts; ++part) store<C>(to + part * kLanes<C>, sum[part]);
    window += windows;
  }
}

/// The gradient of one image, place by place: no sum goes through memory, and each has its windows in their order.
template <class C>
void gather_gradients(const PoolWindows& w, const Holders (&holders)[3], C* image, const C* grad, const int32_t* index,
                      int64_t channels) {
  const auto& [of_slices, of_rows, of_columns] = holders;
  const auto &d = w.dim[0], &h = w.dim[1], &v = w.dim[2];
  std::vector<int64_t> rows;
  for (int64_t i = 0, here = 0; i < d.in; ++i)
    for (int64_t j = 0; j < h.in; ++j, here += v.in) {
      rows.clear();
      for (int64_t a = of_slices.begin[i]; a < of_slices.begin[i + 1]; ++a)
        for (int64_t b = of_rows.begin[j]; b < of_rows.begin[j + 1]; ++b)
          rows.push_back((of_slices.windows[a] * h.out + of_rows.windows[b]) * v.out * channels);
      const auto count = static_cast<int64_t>(rows.size());
      const auto gather = count == 1 ? gather_row<C, 1> : count == 2 ? gather_row<C, 2> : gather_row<C, 0>;
      for (int64_t c = 0; c < channels; c += kPlacedRun)
        gather({grad + c, index + c}, rows.data(), count, of_columns, here, image + here * channels + c, channels);
    }
}

/// Places of the largest window.
int64_t places_of(const PoolWindows& w) {
  int64_t places = 1;
  for (const auto& d : w.dim) {
    int64_t longest = 0;
    for (int64_t o = 0; o < d.out; ++o) longest = std::max(longest, (d.end[o] - d.begin[o] + d.step - 1) / d.step);
    places *= longest;
  }
  return places;
}

/// Looking at every place of a window for a run of channels pays up to so many of them.
template <class C>
constexpr int64_t kMostPlaces = sizeof(C) == 4 ? 15 : 7;

/// A memset may go around the nearest cache, where the next sums would miss them.
template <class C>
void write_zeros(C* from, C* to) {
  constexpr int64_t kStep = 4 * kLanes<C>;
  const Vector<C> zero{};
  for (; to - from >= kStep; from += kStep)
    for (int64_t i = 0; i < kStep; i += kLanes<C>) store<C>(from + i, zero);
  for (; from < to; ++from) *from = C(0);
}

/// The gradient of one image. Rows of windows add to zeros that were written just before, while they are near.
template <class T>
__attribute__((noinline)) void max_pool_image_backward(T* grad_x, const T* grad_y, const int32_t* index,
                                                       int64_t channels, const PoolWindows& w, bool placed,
                                                       compute_t<T>* sums, compute_t<T>* wide) {
  using C = compute_t<T>;
  const auto &d = w.dim[0], &h = w.dim[1], &v = w.dim[2];
  const int64_t row = v.out * channels, all = w.inputs() * channels;
  C* image = results(grad_x, sums);
  int64_t zeros = 0;
  for (int64_t od = 0; od < d.out; ++od)
    for (int64_t oh = 0; oh < h.out; ++oh, grad_y += row, index += row) {
      const C* __restrict grad = computable(grad_y, wide, row);
      if (placed) {
        for (int64_t at = 0; at < row; at += kPlacedRun)
          place_run(w, od, oh, at / channels, image + at % channels, grad + at, index + at, channels);
        continue;
      }
      const int64_t reach = reach_of(w, od, oh) * channels;
      if (reach > zeros) write_zeros(image + zeros, image + reach), zeros = reach;
      if (d.begin[od] >= d.end[od] || h.begin[oh] >= h.end[oh]) continue;
      for (int64_t ov = 0; ov < v.out; ++ov) {
        if (v.begin[ov] >= v.end[ov]) continue;
        const int64_t at = ov * channels;
        for (int64_t c = 0; c < channels; ++c) image[index[at + c] * channels + c] += grad[at + c];
      }
    }
  if (!placed) write_zeros(image + zeros, image + all);
  finish(image, grad_x, all);
}

/// Where each element has one gradient at most and most have none, there is nothing to sum: it is stored as it stays.
template <class T>
void single_gradients(T* grad_x, const T* grad_y, const int32_t* index, int64_t batch, int64_t channels, int64_t inputs,
                      int64_t outputs) {
  using C = compute_t<T>;
  parallel_for(0, batch, 1, [&](int64_t from, int64_t to) {
    for (int64_t n = from; n < to; ++n) {
      T* image = grad_x + n * inputs * channels;
      std::memset(static_cast<void*>(image), 0, inputs * channels * sizeof(T));
      for (int64_t at = n * outputs; at < (n + 1) * outputs; ++at)
        for (int64_t c = 0; c < channels; ++c)
          image[index[at * channels + c] * channels + c] =
              static_cast<T>(C(0) + static_cast<C>(grad_y[at * channels + c]));
    }
  });
}

/// Where places are in several windows of few elements each.
template <class T>
void gathered_gradients(T* grad_x, const T* grad_y, const int32_t* index, int64_t batch, int64_t channels,
                        const PoolWindows& w) {
  const Holders holders[3] = {Holders(w.dim[0]), Holders(w.dim[1]), Holders(w.dim[2])};
  const int64_t outputs = w.outputs() * channels, inputs = w.inputs() * channels;
  parallel_for(0, batch, 1, [&](int64_t from, int64_t to) {
    RunBuffer<T> sums(inputs), wide(outputs);
    for (int64_t n = from; n < to; ++n) {
      auto* const image = results(grad_x + n * inputs, sums.data());
      gather_gradients(w, holders, image, computable(grad_y + n * outputs, wide.data(), outputs), index + n * outputs,
                       channels);
      finish(image, grad_x + n * inputs, inputs);
    }
  });
}

template <class T>
void max_pool_backward_of(T* grad_x, const T* grad_y, const int32_t* index, int64_t batch, int64_t channels,
                          const PoolWindows& w) {
  constexpr int64_t kManyPlaces = 16;  // of a window
  const int64_t outputs = w.outputs() * channels, inputs = w.inputs() * channels;
  const bool each_once = tiled(w), placed = channels % kPlacedRun == 0 && each_once;
  if (each_once && w.inputs() >= kManyPlaces * w.outputs())
    return single_gradients(grad_x, grad_y, index, batch, channels, w.inputs(), w.outputs());
  if (!each_once && channels % kPlacedRun == 0 && places_of(w) <= kMostPlaces<compute_t<T>>)
    return gathered_gradients(grad_x, grad_y, index, batch, channels, w);
  parallel_for(0, batch, 1, [&](int64_t from, int64_t to) {
    RunBuffer<T> sums(inputs), wide(w.dim[2].out * channels);
    for (int64_t n = from; n < to; ++n)
      max_pool_image_backward(grad_x + n * inputs, grad_y + n * outputs, index + n * outputs, channels, w, placed,
                              sums.data(), wide.data());
  });
}

void max_pool(const Tensor& y, const Tensor& index, const Tensor& x, const PoolWindows& w) {
  HB_FLOATING_SWITCH("max_pool", x.scalar_type(), [&](auto type) {
    using T = decltype(type);
    max_pool_of(at<T>(y), at<int32_t>(index), Images<T>(x), w);
  });
}
void max_pool_backward(const Tensor& grad_x, const Tensor& grad_y, const Tensor& index, const PoolWindows& w) {
  HB_FLOATING_SWITCH("max_pool_backward", grad_x.scalar_type(), [&](auto type) {
    using T = decltype(type);
    max_pool_backward_of(at<T>(grad_x), at<T>(grad_y), at<int32_t>(index), grad_x.size(0), grad_x.size(1), w);
  });
}
HB_REGISTER_ISA(max_pool_kernel, max_pool);
HB_REGISTER_ISA(max_pool_backward_kernel, max_pool_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
