// Pooling over channels-last memory, or over contiguous memory as planes of one channel: a thread for each channel of
// each window, or a warp for a large window of one channel.
#include "backend/pool.h"

#include "cuda/kernel_file.h"
#include "cuda/planes.h"
#include "cuda/pool_rules.h"

namespace hb::cuda {
namespace {

/// Places of int32 or, for those that a program sees, of int64. May be absent.
struct WindowPlaces {
  void* at;
  bool wide;
  explicit WindowPlaces(const Tensor& t)
      : at(t.defined() ? t.impl().raw_data() : nullptr), wide(t.defined() && t.scalar_type() == kLong) {}
  __device__ void write(int64_t i, int32_t place) const {
    if (at && wide)
      static_cast<int64_t*>(at)[i] = place;
    else if (at)
      static_cast<int32_t*>(at)[i] = place;
  }
  __device__ int64_t operator[](int64_t i) const {
    return wide ? static_cast<const int64_t*>(at)[i] : static_cast<const int32_t*>(at)[i];
  }
};

/// The largest of a window so far, and where it stands: the first of equals, but the last NaN.
template <class C>
struct Largest {
  C top = 0;
  int32_t place = -1;
  __device__ void see(C v, int32_t p) {
    if (place < 0 || v > top || v != v) top = v, place = p;
  }
  /// Of two parts of a window whose elements alternate.
  __device__ void join(C v, int32_t p) {
    const bool own_nan = top != top;
    const bool better = v != v ? !own_nan || p > place : !own_nan && (v > top || (v == top && p < place));
    if (p >= 0 && (place < 0 || better)) top = v, place = p;
  }
  template <class T>
  __device__ void write(T* y, const WindowPlaces& index, int64_t at) {
    if (place < 0) top = -C(INFINITY), place = 0;  // a window without elements
    y[at] = T(top);
    index.write(at, place);
  }
};

template <int kEach, class T>
__global__ void __launch_bounds__(kThreads)
    max_pool_windows(T* y, WindowPlaces index, const T* x, PlaneWalk walk, HB_ARGUMENT(PoolRules) w) {
  using C = compute_t<T>;
  HB_GRID_LOOP(thread, walk.threads()) {
    const PlanesOfThread<kEach> of(walk, thread);
    const int64_t o = of.position / w.channels, c = of.position % w.channels;
    const T* from[kEach];
    for (int k = 0; k < kEach; ++k) from[k] = x + of[k] * w.inputs() * w.channels + c;
    Largest<C> largest[kEach];
    w.over_window(o, [&](int64_t p) {
      for (int k = 0; k < kEach; ++k) largest[k].see(widen<C>(from[k][p * w.channels]), static_cast<int32_t>(p));
    });
    for (int k = 0; k < kEach; ++k)
      if (of.has(k)) largest[k].write(y, index, of[k] * walk.positions + of.position);
  }
}
template <class T>
__global__ void __launch_bounds__(kThreads)
    max_pool_by_warps(T* y, WindowPlaces index, const T* x, int64_t windows, HB_ARGUMENT(PoolRules) w) {
  using C = compute_t<T>;
  const int64_t window = team_row();
  if (window >= windows) return;
  const T* from = x + window / w.outputs() * w.inputs();
  Largest<C> largest;
  w.over_part_of_window(window % w.outputs(),
                        [&](int64_t p) { largest.see(widen<C>(from[p]), static_cast<int32_t>(p)); });
  for (int lanes = kWarp / 2; lanes; lanes /= 2) {
    const C top = __shfl_xor_sync(kFullWarp, largest.top, lanes);
    largest.join(top, __shfl_xor_sync(kFullWarp, largest.place, lanes));
  }
  if (threadIdx.x == 0) largest.write(y, index, window);
}
template <int kEach, class T>
__global__ void __launch_bounds__(kThreads)
    max_pool_gradient(T* grad_x, const T* grad_y, WindowPlaces index, PlaneWalk walk, HB_ARGUMENT(PoolRules) w) {
  using C = compute_t<T>;
  HB_GRID_LOOP(thread, walk.threads()) {
    const PlanesOfThread<kEach> of(walk, thread);
    const int64_t p = of.position / w.channels, c = of.position % w.channels;
    int64_t first[kEach];
    for (int k = 0; k < kEach; ++k) first[k] = of[k] * w.outputs() * w.channels + c;
    C sum[kEach] = {};
    w.over_windows_of(p, [&](int64_t o, int64_t) {
      for (int k = 0; k < kEach; ++k) {
        const int64_t at = first[k] + o * w.channels;
        const C grad = widen<C>(grad_y[at]);
        if (index[at] == p) sum[k] += grad;
      }
    });
    for (int k = 0; k < kEach; ++k)
      if (of.has(k)) grad_x[of[k] * walk.positions + of.position] = T(sum[k]);
  }
}
template <int kEach, class T>
__global__ void __launch_bounds__(kThreads)
    avg_pool_windows(T* y, const T* x, PlaneWalk walk, HB_ARGUMENT(PoolRules) w) {
  using C = compute_t<T>;
  HB_GRID_LOOP(thread, walk.threads()) {
    const PlanesOfThread<kEach> of(walk, thread);
    const int64_t o = of.position / w.channels, c = of.position % w.channels;
    const T* from[kEach];
    for (int k = 0; k < kEach; ++k) from[k] = x + of[k] * w.inputs() * w.channels + c;
    C sum[kEach] = {};
    w.over_window(o, [&](int64_t p) {
      for (int k = 0; k < kEach; ++k) sum[k] += widen<C>(from[k][p * w.channels]);
    });
    const C divisor = w.divisor_of<C>(w.extent_of(o));
    for (int k = 0; k < kEach; ++k)
      if (of.has(k)) y[of[k] * walk.positions + of.position] = T(sum[k] / divisor);
  }
}
template <class T>
__global__ void __launch_bounds__(kThreads)
    avg_pool_by_warps(T* y, const T* x, int64_t windows, HB_ARGUMENT(PoolRules) w) {
  using C = compute_t<T>;
  const int64_t window = team_row();
  if (window >= windows) return;
  const T* from = x + window / w.outputs() * w.inputs();
  C sum = 0;
  w.over_part_of_window(window % w.outputs(), [&](int64_t p) { sum += widen<C>(from[p]); });
  sum = team_sum(sum);
  if (threadIdx.x == 0) y[window] = T(sum / w.divisor_of<C>(w.extent_of(window % w.outputs())));
}
template <int kEach, class T>
__global__ void __launch_bounds__(kThreads, 2)
    avg_pool_gradient(T* grad_x, const T* grad_y, PlaneWalk walk, HB_ARGUMENT(PoolRules) w) {
  using C = compute_t<T>;
  HB_GRID_LOOP(thread, walk.threads()) {
    const PlanesOfThread<kEach> of(walk, thread);
    const int64_t p = of.position / w.channels, c = of.position % w.channels;
    int64_t first[kEach];
    for (int k = 0; k < kEach; ++k) first[k] = of[k] * w.outputs() * w.channels + c;
    C sum[kEach] = {};
    w.over_windows_of(p, [&](int64_t o, int64_t extent) {
      const C share = 1 / w.divisor_of<C>(extent);
      for (int k = 0; k < kEach; ++k) sum[k] += widen<C>(grad_y[first[k] + o * w.channels]) * share;
    });
    for (int k = 0; k < kEach; ++k)
      if (of.has(k)) grad_x[of[k] * walk.positions + of.position] = T(sum[k]);
  }
}

template <class T>
T* data(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.impl().raw_data()) : nullptr;
}

/// What a pooling of (N, C, spatial…) tensors `x` and `y` is: planes, each with the channels or of one channel.
struct Call {
  PoolRules rules;
  int64_t planes;
  Call(const PoolWindows& w, const Tensor& x, const Tensor& y)
      : rules(w, x.impl().physically_contiguous() && y.impl().physically_contiguous() ? 1 : x.size(1)),
        planes(rules.channels == 1 ? x.size(0) * x.size(1) : x.size(0)) {}
  int64_t inputs() const { return rules.inputs() * rules.channels; }
  int64_t outputs() const { return rules.outputs() * rules.channels; }
  /// Whether a window of `planes` is work for a warp.
  bool by_warps() const {
    const int64_t elements = rules.elements_of_window();
    return rules.channels == 1 && elements >= kWarp && elements <= INT32_MAX;
  }
};

void max_pool(const Tensor& y, const Tensor& index, const Tensor& x, const PoolWindows& w) {
  const Call call(w, x, y);
  HB_FLOATING_SWITCH("max_pool", x.scalar_type(), [&](auto type) {
    using T = decltype(type);
    if (call.by_warps()) {
      const Teams teams(y.numel(), 1);
      HB_LAUNCH(max_pool_by_warps<T>, teams.grid, teams.block, 0, current_stream(), data<T>(y), WindowPlaces(index),
                data<T>(x), y.numel(), call.rules);
      return;
    }
    with_planes(call.outputs(), call.planes, [&](auto each, const PlaneWalk& walk) {
      HB_LAUNCH((max_pool_windows<each(), T>), blocks_for(walk.threads()), kThreads, 0, current_stream(), data<T>(y),
                WindowPlaces(index), data<T>(x), walk, call.rules);
    });
  });
}
void max_pool_backward(const Tensor& grad_x, const Tensor& grad_y, const Tensor& index, const PoolWindows& w) {
  const Call call(w, grad_x, grad_y);
  HB_FLOATING_SWITCH("max_pool_backward", grad_x.scalar_type(), [&](auto type) {
    using T = decltype(type);
    with_planes(call.inputs(), call.planes, [&](auto each, const PlaneWalk& walk) {
      HB_LAUNCH((max_pool_gradient<each(), T>), blocks_for(walk.threads()), kThreads, 0, current_stream(),
                data<T>(grad_x), data<T>(grad_y), WindowPlaces(index), walk, call.rules);
    });
  });
}
void avg_pool(const Tensor& y, const Tensor& x, const PoolWindows& w) {
  const Call call(w, x, y);
  HB_FLOATING_SWITCH("avg_pool", x.scalar_type(), [&](auto type) {
    using T = decltype(type);
    if (call.by_warps()) {
      const Teams teams(y.numel(), 1);
      HB_LAUNCH(avg_pool_by_warps<T>, teams.grid, teams.block, 0, current_stream(), data<T>(y), data<T>(x), y.numel(),
                call.rules);
      return;
    }
    with_planes(call.outputs(), call.planes, [&](auto each, const PlaneWalk& walk) {
      HB_LAUNCH((avg_pool_windows<each(), T>), blocks_for(walk.threads()), kThreads, 0, current_stream(), data<T>(y),
                data<T>(x), walk, call.rules);
    });
  });
}
void avg_pool_backward(const Tensor& grad_x, const Tensor& grad_y, const PoolWindows& w) {
  const Call call(w, grad_x, grad_y);
  HB_FLOATING_SWITCH("avg_pool_backward", grad_x.scalar_type(), [&](auto type) {
    using T = decltype(type);
    with_planes(call.inputs(), call.planes, [&](auto each, const PlaneWalk& walk) {
      HB_LAUNCH((avg_pool_gradient<each(), T>), blocks_for(walk.threads()), kThreads, 0, current_stream(),
                data<T>(grad_x), data<T>(grad_y), walk, call.rules);
    });
  });
}
HB_REGISTER_CUDA(max_pool_kernel, max_pool);
HB_REGISTER_CUDA(max_pool_backward_kernel, max_pool_backward);
HB_REGISTER_CUDA(avg_pool_kernel, avg_pool);
HB_REGISTER_CUDA(avg_pool_backward_kernel, avg_pool_backward);

}  // namespace
}  // namespace hb::cuda
