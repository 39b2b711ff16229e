// Batch norm in two launches each way: sums per channel, whose last block makes of them what there is once per channel,
// and the pass over all elements.
#include "formulas/batch_norm.h"

#include "cuda/kernel_file.h"
#include "cuda/last_block.h"

namespace hb::cuda {
namespace {

using per_channel::GradChannels;

/// Two numbers that are summed side by side.
struct Pair {
  double a, b;
};

constexpr int kColumns = 32, kRows = 8;  // threads of a block: channels beside each other, or values of one

/// How the channels' sums are shared among blocks. Memory is (outer, channels), by columns of 32 channels, or planes,
/// a block's of one channel. Part p of channel c is at partial[p * channels + c].
struct Parts {
  dim3 grid, block;
  int count;
  explicit Parts(const NormShape& s) {
    const bool planes = s.inner > 1;
    const int64_t wide = planes ? s.channels : (s.channels + kColumns - 1) / kColumns;
    const int64_t deep = planes ? s.count() / (8 * kThreads) : s.outer / (8 * kRows);
    const int64_t enough = (kBlockCounters + wide - 1) / wide;  // blocks
    count = static_cast<int>(deep < 1 ? 1 : deep < enough ? deep : enough);
    grid = dim3(static_cast<unsigned>(wide), static_cast<unsigned>(count));
    block = planes ? dim3(kThreads) : dim3(kColumns, kRows);
  }
};
struct Partial {
  Pair* memory;
  int* counters;
};

// `f(index, channel)` gives the pair of an element.
template <class F>
__device__ void sum_columns(const NormShape& s, Pair* partial, const F& f) {
  const int64_t c = int64_t{blockIdx.x} * kColumns + threadIdx.x;
  Pair sum{0, 0};
  if (c < s.channels) {
    for (int64_t r = int64_t{blockIdx.y} * kRows + threadIdx.y; r < s.outer; r += int64_t{gridDim.y} * kRows) {
      const Pair p = f(r * s.channels + c, c);
      sum.a += p.a, sum.b += p.b;
    }
  }
  HB_SHARED(Pair, of_rows, (kRows * kColumns));
  of_rows[threadIdx.y * kColumns + threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || c >= s.channels) return;
  for (int y = 1; y < kRows; ++y) {
    const Pair p = of_rows[y * kColumns + threadIdx.x];
    sum.a += p.a, sum.b += p.b;
  }
  partial[blockIdx.y * s.channels + c] = sum;
}
template <class F>
__device__ void sum_planes(const NormShape& s, Pair* partial, const F& f) {
  const int64_t c = blockIdx.x, n = s.outer * s.inner;
  Pair sum{0, 0};
  for (int64_t i = int64_t{blockIdx.y} * blockDim.x + threadIdx.x; i < n; i += int64_t{gridDim.y} * blockDim.x) {
    const Pair p = f((i / s.inner * s.channels + c) * s.inner + i % s.inner, c);
    sum.a += p.a, sum.b += p.b;
  }
  sum.a = team_sum(sum.a);
  sum.b = team_sum(sum.b);
  if (threadIdx.x == 0) partial[blockIdx.y * s.channels + c] = sum;
}
// The last block of some channels calls `end(channel, sums)` for each of them.
template <bool kPlanes, class F, class End>
__device__ void sum_channels(const NormShape& s, const Partial& partial, const F& f, const End& end) {
  kPlanes ? sum_planes(s, partial.memory, f) : sum_columns(s, partial.memory, f);
  const int parts = static_cast<int>(gridDim.y);
  if (!is_last_block(partial.counters + (parts > 1 ? blockIdx.x : 0), parts)) return;
  const int64_t c = kPlanes ? int64_t{blockIdx.x} : int64_t{blockIdx.x} * kColumns + threadIdx.x;
  if (threadIdx.y != 0 || c >= s.channels || (kPlanes && threadIdx.x != 0)) return;
  Pair sum{0, 0};
  for (int p = 0; p < parts; ++p) {
    sum.a += written_by_others(&partial.memory[p * s.channels + c].a);
    sum.b += written_by_others(&partial.memory[p * s.channels + c].b);
  }
  end(c, sum);
}

// Shifted by a value of the channel, so that one pass loses little where the mean is far from zero.
template <class T, bool kPlanes>
__global__ void statistics(NormShape s, BatchNormChannels p, Partial partial, const T* x) {
  using C = compute_t<T>;
  const auto f = [&](int64_t at, int64_t c) {
    const double d = widen<double>(x[at]) - widen<double>(x[c * s.inner]);
    return Pair{d, d * d};
  };
  sum_channels<kPlanes>(s, partial, f, [&](int64_t c, const Pair& sum) {
    const double count = static_cast<double>(s.outer * s.inner), m = sum.a / count, v = sum.b / count - m * m;
    static_cast<C*>(p.mean)[c] = static_cast<C>(m + widen<double>(x[c * s.inner]));
    static_cast<C*>(p.rstd)[c] = static_cast<C>(v < 0 ? 0 : v);
    per_channel::channel(p, c);
    if (c == 0 && p.batches) ++*p.batches;
  });
}
__global__ void from_running(BatchNormChannels p) { HB_GRID_LOOP(i, p.channels) per_channel::channel(p, i); }

template <class T>
__global__ void affine(NormShape s, T* y, const T* x, const compute_t<T>* scale, const compute_t<T>* shift) {
  using C = compute_t<T>;
  HB_GRID_LOOP(i, s.outer * s.channels * s.inner) {
    const int64_t c = i / s.inner % s.channels;
    y[i] = T(widen<C>(x[i]) * scale[c] + shift[c]);
  }
}

template <class T, bool kPlanes>
__global__ void gradient_sums(NormShape s, BatchNormChannels p, GradChannels grad, Partial partial, const T* g,
                              const T* x) {
  using C = compute_t<T>;
  const C* const mean = static_cast<const C*>(p.mean);
  const auto f = [&](int64_t at, int64_t c) {
    const double v = widen<double>(g[at]);
    return Pair{v, v * (widen<double>(x[at]) - static_cast<double>(mean[c]))};
  };
  sum_channels<kPlanes>(s, partial, f, [&](int64_t c, const Pair& sum) {
    static_cast<C*>(grad.sum_g)[c] = static_cast<C>(sum.a), static_cast<C*>(grad.sum_gx)[c] = static_cast<C>(sum.b);
    per_channel::grad_channel(p, c, grad);
  });
}
template <class T>
__global__ void gradient(NormShape s, GradChannels grad, T* grad_x, const T* g, const T* x, const compute_t<T>* mean) {
  using C = compute_t<T>;
  const C *const a = static_cast<const C*>(grad.a), *const b = static_cast<const C*>(grad.b),
                 *const c = static_cast<const C*>(grad.c);
  HB_GRID_LOOP(i, s.outer * s.channels * s.inner) {
    const int64_t k = i / s.inner % s.channels;
    grad_x[i] = T(widen<C>(g[i]) * a[k] + (widen<C>(x[i]) - mean[k]) * b[k] + c[k]);
  }
}

template <class T>
void forward(const NormShape& s, const BatchNormChannels& p, T* y, const T* x) {
  using C = compute_t<T>;
  if (p.training) {
    const Parts parts(s);
    const Scratch<Pair> memory(s.channels * parts.count);
    const Partial partial{memory.get(), block_counters(current_stream())};
    if (s.inner > 1)
      HB_LAUNCH((statistics<T, true>), parts.grid, parts.block, 0, current_stream(), s, p, partial, x);
    else
      HB_LAUNCH((statistics<T, false>), parts.grid, parts.block, 0, current_stream(), s, p, partial, x);
  } else {
    HB_LAUNCH(from_running, blocks_for(p.channels, 64), 64, 0, current_stream(), p);
  }
  HB_LAUNCH(affine<T>, blocks_for(s.count() * s.channels), kThreads, 0, current_stream(), s, y, x,
            static_cast<const C*>(p.scale), static_cast<const C*>(p.shift));
}

template <class T>
void backward(const NormShape& s, const BatchNormChannels& p, const BatchNormGradients& wanted, const T* g,
              const T* x) {
  const GradChannels grad(p, wanted);
  const Parts parts(s);
  const Scratch<Pair> memory(s.channels * parts.count);
  const Partial partial{memory.get(), block_counters(current_stream())};
  if (s.inner > 1)
    HB_LAUNCH((gradient_sums<T, true>), parts.grid, parts.block, 0, current_stream(), s, p, grad, partial, g, x);
  else
    HB_LAUNCH((gradient_sums<T, false>), parts.grid, parts.block, 0, current_stream(), s, p, grad, partial, g, x);
  if (wanted.x)
    HB_LAUNCH(gradient<T>, blocks_for(s.count() * s.channels), kThreads, 0, current_stream(), s, grad,
              static_cast<T*>(wanted.x), g, x, static_cast<const compute_t<T>*>(p.mean));
}

void batch_norm(ScalarType dtype, const NormShape& s, const BatchNormChannels& p, void* y, const void* x) {
  HB_FLOATING_SWITCH("batch_norm", dtype, [&](auto type) {
    using T = decltype(type);
    forward<T>(s, p, static_cast<T*>(y), static_cast<const T*>(x));
  });
}
void batch_norm_backward(ScalarType dtype, const NormShape& s, const BatchNormChannels& p,
                         const BatchNormGradients& grad, const void* g, const void* x) {
  HB_FLOATING_SWITCH("batch_norm_backward", dtype, [&](auto type) {
    using T = decltype(type);
    backward<T>(s, p, grad, static_cast<const T*>(g), static_cast<const T*>(x));
  });
}
HB_REGISTER_CUDA(batch_norm_kernel, batch_norm);
HB_REGISTER_CUDA(batch_norm_backward_kernel, batch_norm_backward);

}  // namespace
}  // namespace hb::cuda
