// Distances between all rows of a matrix: a warp for each pair, and for the gradients a block for each row.
#include "backend/pair_distance.h"

#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

constexpr int kRows = kThreads / kWarp;

/// Where the pairs of row i begin, less i + 1: that of rows i < j is the j-th from there.
__device__ inline int64_t pairs_of(int64_t i, int64_t n) { return i * (2 * n - i - 1) / 2 - i - 1; }

template <class T>
__global__ void __launch_bounds__(kThreads) distances(T* out, const T* x, int64_t n, int64_t m, double p) {
  const int64_t i = blockIdx.x, j = int64_t{blockIdx.y} * kRows + threadIdx.y;
  if (j <= i || j >= n) return;
  const T *const a = x + i * m, *const b = x + j * m;
  T of_lane = 0;
  for (int64_t k = threadIdx.x; k < m; k += kWarp) {
    const T apart = std::abs(a[k] - b[k]);
    if (p == 2)
      of_lane += apart * apart;
    else if (p == 1)
      of_lane += apart;
    else if (p == 0)
      of_lane += a[k] != b[k];
    else
      of_lane = larger_or_nan(apart, of_lane);
  }
  const bool largest = p != 0 && p != 1 && p != 2;
  const T all = largest ? team_max(of_lane) : team_sum(of_lane);
  if (threadIdx.x == 0) out[pairs_of(i, n) + j] = p == 2 ? std::sqrt(all) : all;
}

/// Block (i, c) makes columns 32 c to 32 c + 31 of row i; each of its warps takes 32 other rows at a time, whose
/// weights the lanes find together.
template <class T>
__global__ void __launch_bounds__(kThreads)
    distance_gradients(T* grad_x, const T* grad, const T* x, const T* apart, int64_t n, int64_t m, double p) {
  HB_SHARED(T, sums, kThreads);
  const int lane = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const int64_t i = blockIdx.x, k = int64_t{blockIdx.y} * kWarp + lane;
  const T own = k < m ? x[i * m + k] : T(0);
  T sum = 0;
  for (int64_t first = row * kWarp; first < n && p != 0; first += kThreads) {
    const int64_t j = first + lane;
    T weight = 0, distance = 0;
    if (j < n && j != i) {
      const int64_t pair = pairs_of(j < i ? j : i, n) + (j < i ? i : j);
      distance = apart[pair];
      if (distance != 0) weight = p == 2 ? grad[pair] / distance : grad[pair];
    }
    const int count = static_cast<int>(n - first < kWarp ? n - first : kWarp);
#pragma unroll 4
    for (int other = 0; other < count; ++other) {
      const T w = __shfl_sync(kFullWarp, weight, other), d = __shfl_sync(kFullWarp, distance, other);
      const T difference = own - (k < m ? x[(first + other) * m + k] : T(0));
      if (p == 2)
        sum += w * difference;
      else if (p == 1 || std::abs(difference) == d)
        sum += w * static_cast<T>((difference > 0) - (difference < 0));
    }
  }
  sums[row * kWarp + lane] = sum;
  __syncthreads();
  if (row != 0 || k >= m) return;
  for (int r = 1; r < kRows; ++r) sum += sums[r * kWarp + lane];
  grad_x[i * m + k] = sum;
}

template <class F>
void with_type(const char* name, const Tensor& x, const F& f) {
  if (x.scalar_type() == kFloat) return f(float());
  HB_CHECK(x.scalar_type() == kDouble, "[", name, "] expected f32 or f64, got ", x.scalar_type());
  f(double());
}
template <class T>
T* data(const Tensor& t) {
  return static_cast<T*>(t.impl().raw_data());
}

void pair_distance(const Tensor& out, const Tensor& x, double p) {
  const int64_t n = x.size(0), m = x.size(1);
  if (n < 2) return;
  const dim3 grid(static_cast<unsigned>(n), static_cast<unsigned>((n + kRows - 1) / kRows));
  with_type("pdist", x, [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(distances<T>, grid, dim3(kWarp, kRows), 0, current_stream(), data<T>(out),
              static_cast<const T*>(data<T>(x)), n, m, p);
  });
}
void pair_distance_backward(const Tensor& grad_x, const Tensor& grad, const Tensor& x, const Tensor& apart, double p) {
  const int64_t n = x.size(0), m = x.size(1);
  if (n * m == 0) return;
  const dim3 grid(static_cast<unsigned>(n), static_cast<unsigned>((m + kWarp - 1) / kWarp));
  with_type("pdist_backward", x, [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(distance_gradients<T>, grid, dim3(kWarp, kRows), 0, current_stream(), data<T>(grad_x),
              static_cast<const T*>(data<T>(grad)), static_cast<const T*>(data<T>(x)),
              static_cast<const T*>(data<T>(apart)), n, m, p);
  });
}
HB_REGISTER_CUDA(pair_distance_kernel, pair_distance);
HB_REGISTER_CUDA(pair_distance_backward_kernel, pair_distance_backward);

}  // namespace
}  // namespace hb::cuda
