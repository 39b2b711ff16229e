// Convolutions whose results come from one channel each, over channels-last memory: a thread for each channel of each
// position, in several images.
#include "cuda/depthwise.h"

#include <limits>

#include "cuda/kernel_file.h"
#include "cuda/planes.h"

namespace hb::cuda {
namespace {

/// `from` and `to` are the sizes of what is read and of what is written: input and result, or their gradients.
struct Windows {
  int32_t from[3] = {1, 1, 1}, to[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  int32_t stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};
  int64_t channels, each;  // channels of the input, and how many of the result come from each

  Windows(const Tensor& written, const Tensor& read, const Tensor& weight, const ConvParams& p)
      : channels(p.groups), each(weight.size(0) / p.groups) {
    for (int d = 0; d < p.dims; ++d) {
      const int at = 3 - p.dims + d;
      from[at] = static_cast<int32_t>(read.size(2 + d)), to[at] = static_cast<int32_t>(written.size(2 + d));
      kernel[at] = static_cast<int32_t>(weight.size(2 + d)), stride[at] = static_cast<int32_t>(p.stride[d]);
      padding[at] = static_cast<int32_t>(p.padding[d]), dilation[at] = static_cast<int32_t>(p.dilation[d]);
    }
  }
  /// Where the tap of number k finds what it reads for position `at`; -1: nowhere.
  template <bool kGradient>
  __device__ int32_t place(int d, int32_t at, int32_t k) const {
    int32_t place = at * stride[d] - padding[d] + k * dilation[d];
    if constexpr (kGradient) {
      place = at + padding[d] - k * dilation[d];
      if (place < 0 || (stride[d] > 1 && place % stride[d] != 0)) return -1;
      place /= stride[d];
    }
    return place >= 0 && place < from[d] ? place : -1;
  }
};

template <int kEach, bool kGradient, class T>
__global__ void __launch_bounds__(kThreads, 3) sum_windows(T* out, const T* in, const T* weight, const T* bias,
                                                        PlaneWalk walk, HB_ARGUMENT(Windows) w) {
  using C = compute_t<T>;
  const int64_t written = kGradient ? w.channels : w.channels * w.each, read = kGradient ? w.channels * w.each : w.channels;
  const int64_t plane = int64_t{w.from[0]} * w.from[1] * w.from[2] * read;
  const int taps = w.kernel[0] * w.kernel[1] * w.kernel[2];
  HB_GRID_LOOP(thread, walk.threads()) {
    const PlanesOfThread<kEach> of(walk, thread);
    const int64_t at = of.position / written, channel = of.position - at * written, row = at / w.to[2];
    const auto x = static_cast<int32_t>(row / w.to[1]), y = static_cast<int32_t>(row - int64_t{x} * w.to[1]);
    const auto z = static_cast<int32_t>(at - row * w.to[2]);
    const T* image[kEach];
    for (int k = 0; k < kEach; ++k) image[k] = in + of[k] * plane;
    C sum[kEach] = {};
    const int64_t last = kGradient ? (channel + 1) * w.each : channel + 1;
    for (int64_t c = kGradient ? channel * w.each : channel; c < last; ++c) {
      const int64_t source = kGradient ? c : c / w.each;
      const T* const factors = weight + c * taps;
      for (int32_t i = 0, tap = 0; i < w.kernel[0]; ++i) {
        const int32_t a = w.place<kGradient>(0, x, i);
        for (int32_t j = 0; j < w.kernel[1]; ++j) {
          const int32_t b = a < 0 ? -1 : w.place<kGradient>(1, y, j);
          const int64_t line = (int64_t{a} * w.from[1] + b) * w.from[2];
          for (int32_t l = 0; l < w.kernel[2]; ++l, ++tap) {
            const int32_t e = b < 0 ? -1 : w.place<kGradient>(2, z, l);
            if (e < 0) continue;
            const C factor = widen<C>(factors[tap]);
            for (int k = 0; k < kEach; ++k) sum[k] += factor * widen<C>(image[k][(line + e) * read + source]);
          }
        }
      }
    }
    const C added = bias ? widen<C>(bias[channel]) : C(0);
    for (int k = 0; k < kEach; ++k)
      if (of.has(k)) out[of[k] * walk.positions + of.position] = T(sum[k] + added);
  }
}

template <bool kGradient>
void run(const Tensor& out, const Tensor& in, const Tensor& weight, const Tensor& bias, const ConvParams& p) {
  HB_FLOATING_SWITCH("convolution", out.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const auto data = [](const Tensor& t) { return t.defined() ? static_cast<T*>(t.impl().raw_data()) : nullptr; };
    with_planes(out.numel() / out.size(0), out.size(0), [&](auto each, const PlaneWalk& walk) {
      HB_LAUNCH((sum_windows<each(), kGradient, T>), blocks_for(walk.threads()), kThreads, 0, current_stream(),
                data(out), data(in), data(weight), data(bias), walk, Windows(out, in, weight, p));
    });
  });
}

}  // namespace

bool is_depthwise(const Tensor& x, const Tensor& weight, const ConvParams& p) {
  bool narrow = true;  // places are computed in 32 bits
  for (int d = 0; d < p.dims; ++d) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 4;
    const int64_t reach = p.dilation[d] > kMost ? kMost : p.dilation[d] * weight.size(2 + d);
    narrow = narrow && x.size(2 + d) < kMost && p.padding[d] < kMost && p.stride[d] < kMost && reach < kMost;
  }
  return p.groups > 1 && p.groups == x.size(1) && weight.size(1) == 1 && narrow;
}

void depthwise(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvParams& p) {
  run<false>(y, x, weight, bias, p);
}
void depthwise_backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p) {
  run<true>(grad_x, grad_y, weight, {}, p);
}

}  // namespace hb::cuda
