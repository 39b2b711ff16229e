// Batch norm in two launches each way: sums per channel, whose last block makes of them what there is once per channel,
// and the pass over all elements, which may do an addition and a relu besides (ops/nn/late_pass.h).
#include "backend/channel_pass.h"
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
__device__ T pass_value(const ChannelPass& p, int64_t i) {
  using C = compute_t<T>;
  T v = static_cast<const T*>(p.x)[i];
  if (p.scale) {
    const int64_t c = i / p.shape.inner % p.shape.channels;
    v = T(widen<C>(v) * static_cast<const C*>(p.scale)[c] + static_cast<const C*>(p.shift)[c]);
  }
  if (p.added) v = T(widen<C>(v) + widen<C>(static_cast<const T*>(p.added)[i]));
  if (p.relu && widen<C>(v) < C(0)) v = T(C(0));
  if (p.mask && widen<C>(static_cast<const T*>(p.mask)[i]) <= C(0)) v = T(C(0));
  return v;
}
template <class T>
__global__ void channel_pass(ChannelPass p, T* y) {
  HB_GRID_LOOP(i, p.shape.outer * p.shape.channels * p.shape.inner) y[i] = pass_value<T>(p, i);
}

/// The gradient that comes in: what is in memory, or what a pass gives, which is put there.
template <class T>
struct Incoming {
  const T* g;
  __device__ T operator()(int64_t i) const { return g[i]; }
};
template <class T>
struct IncomingPass {
  ChannelPass pass;
  T* g;
  __device__ T operator()(int64_t i) const { return g[i] = pass_value<T>(pass, i); }
};

template <class T, bool kPlanes, class G>
__global__ void gradient_sums(NormShape s, BatchNormChannels p, GradChannels grad, Partial partial, G g, const T* x) {
  using C = compute_t<T>;
  const C* const mean = static_cast<const C*>(p.mean);
  const auto f = [&](int64_t at, int64_t c) {
    const double v = widen<double>(g(at));
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
void launch_pass(const ChannelPass& p, void* y) {
  HB_LAUNCH(channel_pass<T>, blocks_for(p.shape.count() * p.shape.channels), kThreads, 0, current_stream(), p,
            static_cast<T*>(y));
}

template <class T>
void forward(const NormShape& s, const BatchNormChannels& p, T* y, const T* x) {
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
  if (!y) return;
  ChannelPass pass;
  pass.shape = s, pass.x = x, pass.scale = p.scale, pass.shift = p.shift;
  launch_pass<T>(pass, y);
}

template <class T, class G>
void backward(const NormShape& s, const BatchNormChannels& p, const BatchNormGradients& wanted, const G& g,
              const T* x) {
  const GradChannels grad(p, wanted);
  const Parts parts(s);
  const Scratch<Pair> memory(s.channels * parts.count);
  const Partial partial{memory.get(), block_counters(current_stream())};
  if (s.inner > 1)
    HB_LAUNCH((gradient_sums<T, true, G>), parts.grid, parts.block, 0, current_stream(), s, p, grad, partial, g, x);
  else
    HB_LAUNCH((gradient_sums<T, false, G>), parts.grid, parts.block, 0, current_stream(), s, p, grad, partial, g, x);
  if (wanted.x)
    HB_LAUNCH(gradient<T>, blocks_for(s.count() * s.channels), kThreads, 0, current_stream(), s, grad,
              static_cast<T*>(wanted.x), static_cast<const T*>(g.g), x, static_cast<const compute_t<T>*>(p.mean));
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
    backward<T>(s, p, grad, Incoming<T>{static_cast<const T*>(g)}, static_cast<const T*>(x));
  });
}
void run_pass(const ChannelPass& p, void* y) {
  HB_FLOATING_SWITCH("batch_norm", p.dtype, [&](auto type) { launch_pass<decltype(type)>(p, y); });
}
void backward_of_pass(const ChannelPass& incoming, const BatchNormChannels& p, const BatchNormGradients& grad, void* g,
                      const void* x) {
  HB_FLOATING_SWITCH("batch_norm_backward", incoming.dtype, [&](auto type) {
    using T = decltype(type);
    backward<T>(incoming.shape, p, grad, IncomingPass<T>{incoming, static_cast<T*>(g)}, static_cast<const T*>(x));
  });
}
HB_REGISTER_CUDA(batch_norm_kernel, batch_norm);
HB_REGISTER_CUDA(batch_norm_backward_kernel, batch_norm_backward);
HB_REGISTER_CUDA(channel_pass_kernel, run_pass);
HB_REGISTER_CUDA(batch_norm_backward_of_pass_kernel, backward_of_pass);

}  // namespace
}  // namespace hb::cuda
