#pragma once
// What every file of kernels begins with.

#include <cmath>
#include <type_traits>

#include <halfbridge/dtype.h>
#include <halfbridge/error.h>

#include "backend/floating_switch.h"
#include "cuda/launch.h"
#include "cuda/register.h"
#include "cuda/report.h"
#include "cuda/scratch.h"
#include "cuda/streams.h"

namespace hb::cuda {

/// What values of T are computed in.
template <class T>
using compute_t = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class C, class T>
__device__ inline C widen(T x) {
  return static_cast<C>(static_cast<compute_t<T>>(x));
}

/// Whether `index` is within [0, size); where it is not, whoever waits for the device is told.
__device__ inline bool index_is_good(int64_t index, int64_t size, const Reporter& report) {
  if (index >= 0 && index < size) return true;
  report.out_of_range(index, size);
  return false;
}

/// Over teams that share a warp, all of whose threads call it: blockDim.x is a power of two below 32.
template <class C, class Combine>
__device__ inline C narrow_team_reduce(C value, const Combine& combine) {
  for (unsigned lanes = blockDim.x / 2; lanes; lanes /= 2)
    value = combine(value, __shfl_xor_sync(kFullWarp, value, static_cast<int>(lanes)));
  return value;
}
/// A team of threads that computes a row: a warp of several in a block (blockDim.x is 32) or a part of one, or a whole
/// block.
template <class C, class Combine>
__device__ inline C team_reduce(C value, C identity, const Combine& combine) {
  if (blockDim.x < kWarp) return narrow_team_reduce(value, combine);
  for (int lanes = kWarp / 2; lanes; lanes /= 2) value = combine(value, __shfl_xor_sync(kFullWarp, value, lanes));
  if (blockDim.x == kWarp) return value;
  HB_SHARED(C, of_warps, kWarp);
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  __syncthreads();  // the memory may still be read by the reduction before
  if (lane == 0) of_warps[warp] = value;
  __syncthreads();
  value = lane < blockDim.x / kWarp ? of_warps[lane] : identity;
  for (int lanes = kWarp / 2; lanes; lanes /= 2) value = combine(value, __shfl_xor_sync(kFullWarp, value, lanes));
  return value;
}
template <class C>
__device__ inline C team_sum(C value) {
  return team_reduce(value, C(0), [](C a, C b) { return a + b; });
}
template <class C>
__device__ inline C larger_or_nan(C a, C b) {
  return a != a || a > b ? a : b;
}
/// NaN, where there is one.
template <class C>
__device__ inline C team_max(C value) {
  return team_reduce(value, -C(INFINITY), larger_or_nan<C>);
}
/// The row of this thread's team.
__device__ inline int64_t team_row() { return int64_t{blockIdx.x} * blockDim.y + threadIdx.y; }

/// How teams for rows of n elements are launched.
struct Teams {
  dim3 grid, block;
  Teams(int64_t rows, int64_t n) {
    constexpr int kRows = 4;
    const bool warps = n <= 1024;
    block = warps ? dim3(kWarp, kRows) : dim3(kThreads);
    grid = dim3(static_cast<unsigned>(warps ? (rows + kRows - 1) / kRows : rows));
  }
  /// Parts of warps for short rows: for kernels whose threads all stay until the end.
  static Teams narrow(int64_t rows, int64_t n) {
    Teams teams(rows, n);
    unsigned width = kWarp;
    while (width > 1 && width / 2 >= n) width /= 2;
    if (width == kWarp) return teams;
    teams.block = dim3(width, 128 / width);
    teams.grid = dim3(static_cast<unsigned>((rows + teams.block.y - 1) / teams.block.y));
    return teams;
  }
};

}  // namespace hb::cuda
