// group_norm: a block for each group, and teams of its threads for the group's channels.
#include "backend/group_norm.h"

#include "cuda/convert.h"
#include "cuda/kernel_file.h"
#include "cuda/row_pieces.h"

namespace hb::cuda {
namespace {

template <class T, int kEach>
struct alignas(kEach * sizeof(T)) Several {
  T x[kEach];
};

/// The block's threads are teams of one channel each: as many as there are channels, but of a warp at least, unless its
/// lanes had nothing to do.
dim3 teams_of(const GroupNorm& p, int each) {
  int width = kThreads;
  while (width > kWarp ? kThreads / width < p.channels : width > 1 && width / 2 * each >= p.plane) width /= 2;
  return dim3(static_cast<unsigned>(width), static_cast<unsigned>(kThreads / width));
}

/// Of all threads of the block, which all call it.
template <class C>
__device__ C block_sum(C value) {
  constexpr int kWarps = kThreads / kWarp;
  HB_SHARED(C, of_warps, kWarps);
  const int self = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (int lanes = kWarp / 2; lanes; lanes /= 2) value += __shfl_xor_sync(kFullWarp, value, lanes);
  __syncthreads();  // those of the sum before have been read
  if (self % kWarp == 0) of_warps[self / kWarp] = value;
  __syncthreads();
  C all = 0;
  for (int w = 0; w < kWarps; ++w) all += of_warps[w];
  return all;
}

/// A channel's parameter; `missing` where there are none.
template <class C>
__device__ C parameter(const void* from, ScalarType dtype, int64_t channel, C missing) {
  if (!from) return missing;
  return load_as<C>(static_cast<const char*>(from) + channel * static_cast<int64_t>(element_size(dtype)), dtype);
}

template <class T>
struct Stats {
  compute_t<T> mean, rstd;
};
/// Deviations are those from the first element, so that a large mean swallows no small variance.
template <class T, int kEach>
__device__ Stats<T> stats_of(const GroupNorm& p, const T* in) {
  const int64_t n = p.channels * p.plane;
  const double first = widen<double>(in[0]), shift = first - first == 0 ? first : 0;
  double sum = 0, squares = 0;
#pragma unroll 4
  for (int64_t i = threadIdx.y * blockDim.x + threadIdx.x; i < n / kEach; i += kThreads) {
    const auto v = load_vector<Several<T, kEach>>(in + i * kEach);
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      const double d = widen<double>(v.x[e]) - shift;
      sum += d, squares += d * d;
    }
  }
  sum = block_sum(sum), squares = block_sum(squares);
  const double mean = sum / static_cast<double>(n), left = (squares - sum * mean) / static_cast<double>(n);
  const double variance = left < 0 ? 0 : left;
  return {static_cast<compute_t<T>>(shift + mean), static_cast<compute_t<T>>(1 / std::sqrt(variance + p.eps))};
}

template <class T, int kEach>
__global__ void __launch_bounds__(kThreads, 4)
    normalize_groups(GroupNorm p, T* y, const T* x, compute_t<T>* mean, compute_t<T>* rstd) {
  using C = compute_t<T>;
  const int64_t row = blockIdx.x, begin = row * p.channels * p.plane;
  const Stats<T> s = stats_of<T, kEach>(p, x + begin);
  for (int64_t c = threadIdx.y; c < p.channels; c += blockDim.y) {
    const int64_t channel = row % p.groups * p.channels + c, plane = begin + c * p.plane;
    const C factor = s.rstd * parameter<C>(p.weight, p.affine_dtype, channel, 1);
    const C shift = parameter<C>(p.bias, p.affine_dtype, channel, 0);
#pragma unroll 4
    for (int64_t i = threadIdx.x; i < p.plane / kEach; i += blockDim.x) {
      auto v = load_vector<Several<T, kEach>>(x + plane + i * kEach);
#pragma unroll
      for (int e = 0; e < kEach; ++e) v.x[e] = T((widen<C>(v.x[e]) - s.mean) * factor + shift);
      store_vector(y + plane + i * kEach, v);
    }
  }
  if (threadIdx.x == 0 && threadIdx.y == 0) mean[row] = s.mean, rstd[row] = s.rstd;
}

template <class T>
struct Gradients {
  T* x;  // may be absent
  const T *g, *values;
  const compute_t<T>*mean, *rstd;
  compute_t<T>* parts;  // (2, channels, batch): sums for the weights, and for the biases
};

template <class T, int kEach>
__global__ void __launch_bounds__(kThreads, 4) group_gradients(GroupNorm p, Gradients<T> grad) {
  using C = compute_t<T>;
  HB_SHARED(C, sums, kWarp);
  HB_SHARED(C, products, kWarp);
  const int64_t row = blockIdx.x, begin = row * p.channels * p.plane, all_channels = p.groups * p.channels;
  const C m = grad.mean[row], scale = grad.rstd[row];
  C a = 0, b = 0;  // sums of the scaled gradient, and of it times the normalised values
  for (int64_t first = 0; first < p.channels; first += blockDim.y) {  // as often in all teams
    const int64_t c = first + threadIdx.y, channel = row % p.groups * p.channels + c, plane = begin + c * p.plane;
    const bool there = c < p.channels;
    C sum = 0, product = 0;
#pragma unroll 4
    for (int64_t i = threadIdx.x; there && i < p.plane / kEach; i += blockDim.x) {
      const auto g = load_vector<Several<T, kEach>>(grad.g + plane + i * kEach);
      const auto v = load_vector<Several<T, kEach>>(grad.values + plane + i * kEach);
#pragma unroll
      for (int e = 0; e < kEach; ++e) sum += widen<C>(g.x[e]), product += widen<C>(g.x[e]) * (widen<C>(v.x[e]) - m);
    }
    __syncthreads();  // those of the round before have been read
    sum = teams_sum(sum, sums), product = teams_sum(product, products) * scale;
    if (threadIdx.x != 0 || !there) continue;
    const int64_t at = channel * p.batch + row / p.groups;
    grad.parts[at] = product, grad.parts[all_channels * p.batch + at] = sum;
    const C w = parameter<C>(p.weight, p.affine_dtype, channel, 1);
    a += sum * w, b += product * w;
  }
  if (!grad.x) return;
  const C n = static_cast<C>(p.channels * p.plane);
  a = block_sum(a) / n, b = block_sum(b) * scale / n;
  for (int64_t c = threadIdx.y; c < p.channels; c += blockDim.y) {
    const int64_t plane = begin + c * p.plane;
    const C w = parameter<C>(p.weight, p.affine_dtype, row % p.groups * p.channels + c, 1);
#pragma unroll 4
    for (int64_t i = threadIdx.x; i < p.plane / kEach; i += blockDim.x) {
      auto g = load_vector<Several<T, kEach>>(grad.g + plane + i * kEach);
      const auto v = load_vector<Several<T, kEach>>(grad.values + plane + i * kEach);
#pragma unroll
      for (int e = 0; e < kEach; ++e) g.x[e] = T((widen<C>(g.x[e]) * w - a - (widen<C>(v.x[e]) - m) * b) * scale);
      store_vector(grad.x + plane + i * kEach, g);
    }
  }
}

/// A block for each channel adds what the batch's samples gave.
template <class C>
__global__ void __launch_bounds__(kThreads, 4)
    sum_parts(void* weight, void* bias, ScalarType dtype, const C* parts, int64_t batch, int64_t channels) {
  const int64_t channel = blockIdx.x, at = channel * static_cast<int64_t>(element_size(dtype));
  double product = 0, sum = 0;
  for (int64_t i = threadIdx.x; i < batch; i += kThreads) {
    product += parts[channel * batch + i];
    sum += parts[(channels + channel) * batch + i];
  }
  product = block_sum(product), sum = block_sum(sum);
  if (threadIdx.x != 0) return;
  if (weight) store_as<double>(static_cast<char*>(weight) + at, dtype, product);
  if (bias) store_as<double>(static_cast<char*>(bias) + at, dtype, sum);
}

/// Calls fn(T(), elements of a vector): 16 bytes, or one where planes do not consist of such vectors.
template <class F, class... P>
void with_vectors(const char* name, const GroupNorm& p, const F& fn, const P*... at) {
  HB_FLOATING_SWITCH(name, p.dtype, [&](auto type) {
    using T = decltype(type);
    constexpr int kEach = kRowEach<T>;
    if (p.plane % kEach == 0 && begin_vectors(at...))
      fn(T(), std::integral_constant<int, kEach>());
    else
      fn(T(), std::integral_constant<int, 1>());
  });
}

void group_norm(const GroupNorm& p, void* y, const void* x, void* mean, void* rstd) {
  const int64_t rows = p.batch * p.groups;
  if (rows * p.channels * p.plane == 0) return;
  const auto launch = [&](auto type, auto each) {
    using T = decltype(type);
    using C = compute_t<T>;
    HB_LAUNCH((normalize_groups<T, each.value>), static_cast<unsigned>(rows), teams_of(p, each), 0, current_stream(), p,
              static_cast<T*>(y), static_cast<const T*>(x), static_cast<C*>(mean), static_cast<C*>(rstd));
  };
  with_vectors("group_norm", p, launch, static_cast<const char*>(x), static_cast<const char*>(y));
}

void group_norm_backward(const GroupNorm& p, void* grad_x, void* grad_weight, void* grad_bias, const void* g,
                         const void* x, const void* mean, const void* rstd) {
  const int64_t rows = p.batch * p.groups, channels = p.groups * p.channels;
  if (rows * p.channels * p.plane == 0) return;
  const auto launch = [&](auto type, auto each) {
    using T = decltype(type);
    using C = compute_t<T>;
    const Scratch<C> parts(2 * channels * p.batch);
    const Gradients<T> grad{static_cast<T*>(grad_x),      static_cast<const T*>(g),    static_cast<const T*>(x),
                            static_cast<const C*>(mean), static_cast<const C*>(rstd), parts.get()};
    HB_LAUNCH((group_gradients<T, each.value>), static_cast<unsigned>(rows), teams_of(p, each), 0, current_stream(), p,
              grad);
    if (grad_weight || grad_bias)
      HB_LAUNCH(sum_parts<C>, static_cast<unsigned>(channels), kThreads, 0, current_stream(), grad_weight, grad_bias,
                p.affine_dtype, static_cast<const C*>(parts.get()), p.batch, channels);
  };
  with_vectors("group_norm_backward", p, launch, static_cast<const char*>(g), static_cast<const char*>(x),
               static_cast<const char*>(grad_x));
}
HB_REGISTER_CUDA(group_norm_kernel, group_norm);
HB_REGISTER_CUDA(group_norm_backward_kernel, group_norm_backward);

}  // namespace
}  // namespace hb::cuda
