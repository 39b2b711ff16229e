// Statistics and transforms per channel, for batch norm.
#include "backend/norm.h"

#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

/// Two numbers that are summed side by side.
struct Pair {
  double a, b;
};

constexpr int kColumns = 32, kRows = 8;  // threads of a block: channels beside each other, or values of one

// Each block sums a part of the values of some channels: (outer, channels) memory by columns of 32 channels, planes by
// one channel. `f(index, channel)` gives the pair of an element; part p of a channel goes to partial[p * channels + c].
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

// Shifted by a value of the channel, so that one pass loses little where the mean is far from zero.
template <class T, bool kPlanes>
__global__ void stats_parts(NormShape s, Pair* partial, const T* x) {
  const auto f = [&](int64_t at, int64_t c) {
    const double d = widen<double>(x[at]) - widen<double>(x[c * s.inner]);
    return Pair{d, d * d};
  };
  kPlanes ? sum_planes(s, partial, f) : sum_columns(s, partial, f);
}
template <class T>
__global__ void stats_of_parts(NormShape s, compute_t<T>* mean, compute_t<T>* var, const Pair* partial, int parts,
                               const T* x) {
  using C = compute_t<T>;
  HB_GRID_LOOP(c, s.channels) {
    Pair sum{0, 0};
    for (int p = 0; p < parts; ++p) {
      sum.a += partial[p * s.channels + c].a;
      sum.b += partial[p * s.channels + c].b;
    }
    const double count = static_cast<double>(s.outer * s.inner), m = sum.a / count, v = sum.b / count - m * m;
    mean[c] = static_cast<C>(m + widen<double>(x[c * s.inner]));
    var[c] = static_cast<C>(v < 0 ? 0 : v);
  }
}

template <class T, bool kPlanes>
__global__ void grad_parts(NormShape s, Pair* partial, const T* g, const T* x, const compute_t<T>* mean) {
  const auto f = [&](int64_t at, int64_t c) {
    const double grad = widen<double>(g[at]);
    return Pair{grad, grad * (widen<double>(x[at]) - static_cast<double>(mean[c]))};
  };
  kPlanes ? sum_planes(s, partial, f) : sum_columns(s, partial, f);
}
template <class C>
__global__ void sums_of_parts(NormShape s, C* a, C* b, const Pair* partial, int parts) {
  HB_GRID_LOOP(c, s.channels) {
    Pair sum{0, 0};
    for (int p = 0; p < parts; ++p) {
      sum.a += partial[p * s.channels + c].a;
      sum.b += partial[p * s.channels + c].b;
    }
    a[c] = static_cast<C>(sum.a), b[c] = static_cast<C>(sum.b);
  }
}

template <class T>
__global__ void affine(NormShape s, T* y, const T* x, const compute_t<T>* scale, const compute_t<T>* shift) {
  using C = compute_t<T>;
  HB_GRID_LOOP(i, s.outer * s.channels * s.inner) {
    const int64_t c = i / s.inner % s.channels;
    y[i] = T(widen<C>(x[i]) * scale[c] + shift[c]);
  }
}
template <class T>
__global__ void gradient(NormShape s, T* grad_x, const T* g, const T* x, const compute_t<T>* mean,
                         const compute_t<T>* a, const compute_t<T>* b, const compute_t<T>* c) {
  using C = compute_t<T>;
  HB_GRID_LOOP(i, s.outer * s.channels * s.inner) {
    const int64_t k = i / s.inner % s.channels;
    grad_x[i] = T(widen<C>(g[i]) * a[k] + (widen<C>(x[i]) - mean[k]) * b[k] + c[k]);
  }
}

/// How the parts of the channels' sums are launched.
struct Parts {
  dim3 grid, block;
  int count;
  explicit Parts(const NormShape& s) {
    const bool planes = s.inner > 1;
    const int64_t wide = planes ? s.channels : (s.channels + kColumns - 1) / kColumns;
    const int64_t deep = planes ? s.count() / (8 * kThreads) : s.outer / (8 * kRows);
    const int64_t enough = (1024 + wide - 1) / wide;  // blocks
    count = static_cast<int>(deep < 1 ? 1 : deep < enough ? deep : enough);
    grid = dim3(static_cast<unsigned>(wide), static_cast<unsigned>(count));
    block = planes ? dim3(kThreads) : dim3(kColumns, kRows);
  }
};

void channel_stats(ScalarType dtype, const NormShape& s, const void* x_data, void* mean, void* var) {
  HB_FLOATING_SWITCH("batch_norm", dtype, [&](auto type) {
    using T = decltype(type);
    using C = compute_t<T>;
    const auto* x = static_cast<const T*>(x_data);
    const Parts parts(s);
    const Scratch<Pair> memory(s.channels * parts.count);
    auto* partial = memory.get();
    if (s.inner > 1)
      HB_LAUNCH((stats_parts<T, true>), parts.grid, parts.block, 0, current_stream(), s, partial, x);
    else
      HB_LAUNCH((stats_parts<T, false>), parts.grid, parts.block, 0, current_stream(), s, partial, x);
    HB_LAUNCH(stats_of_parts<T>, blocks_for(s.channels), kThreads, 0, current_stream(), s, static_cast<C*>(mean),
              static_cast<C*>(var), partial, parts.count, x);
  });
}
void channel_grad_stats(ScalarType dtype, const NormShape& s, const void* g_data, const void* x_data, const void* mean,
                        void* sum_g, void* sum_gx) {
  HB_FLOATING_SWITCH("batch_norm_backward", dtype, [&](auto type) {
    using T = decltype(type);
    using C = compute_t<T>;
    const auto *g = static_cast<const T*>(g_data), *x = static_cast<const T*>(x_data);
    const auto* m = static_cast<const C*>(mean);
    const Parts parts(s);
    const Scratch<Pair> memory(s.channels * parts.count);
    auto* partial = memory.get();
    if (s.inner > 1)
      HB_LAUNCH((grad_parts<T, true>), parts.grid, parts.block, 0, current_stream(), s, partial, g, x, m);
    else
      HB_LAUNCH((grad_parts<T, false>), parts.grid, parts.block, 0, current_stream(), s, partial, g, x, m);
    HB_LAUNCH(sums_of_parts<C>, blocks_for(s.channels), kThreads, 0, current_stream(), s, static_cast<C*>(sum_g),
              static_cast<C*>(sum_gx), partial, parts.count);
  });
}
void channel_affine(ScalarType dtype, const NormShape& s, void* y, const void* x, const void* scale,
                    const void* shift) {
  HB_FLOATING_SWITCH("batch_norm", dtype, [&](auto type) {
    using T = decltype(type);
    using C = compute_t<T>;
    HB_LAUNCH(affine<T>, blocks_for(s.count() * s.channels), kThreads, 0, current_stream(), s, static_cast<T*>(y),
              static_cast<const T*>(x), static_cast<const C*>(scale), static_cast<const C*>(shift));
  });
}
void channel_grad(ScalarType dtype, const NormShape& s, void* grad_x, const void* g, const void* x, const void* mean,
                  const void* a, const void* b, const void* c) {
  HB_FLOATING_SWITCH("batch_norm_backward", dtype, [&](auto type) {
    using T = decltype(type);
    using C = compute_t<T>;
    HB_LAUNCH(gradient<T>, blocks_for(s.count() * s.channels), kThreads, 0, current_stream(), s,
              static_cast<T*>(grad_x), static_cast<const T*>(g), static_cast<const T*>(x), static_cast<const C*>(mean),
              static_cast<const C*>(a), static_cast<const C*>(b), static_cast<const C*>(c));
  });
}
HB_REGISTER_CUDA(channel_stats_kernel, channel_stats);
HB_REGISTER_CUDA(channel_affine_kernel, channel_affine);
HB_REGISTER_CUDA(channel_grad_stats_kernel, channel_grad_stats);
HB_REGISTER_CUDA(channel_grad_kernel, channel_grad);

}  // namespace
}  // namespace hb::cuda
