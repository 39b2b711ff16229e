#pragma once
// Rows that a team of threads reads in vectors of 16 bytes, and keeps in registers where they are short enough.

#include "cuda/kernel_file.h"

namespace hb::cuda {

constexpr int kRowVectors = 4;  // of a thread
template <class T>
constexpr int kRowEach = 16 / static_cast<int>(sizeof(T));
template <class T>
struct alignas(16) RowVector {
  T x[kRowEach<T>];
};

/// The compiler would keep converted bfloat16s from one use to the next, in twice the registers.
template <class T>
__device__ inline compute_t<T> widened_anew(T x) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, BFloat16>) {
    float wide;
    asm volatile("{ .reg .b16 zero; mov.b16 zero, 0; mov.b32 %0, {zero, %1}; }" : "=f"(wide) : "h"(x.x));
    return wide;
  }
#endif
  return widen<compute_t<T>>(x);
}

/// Of a row of n elements that begins at a multiple of 16 bytes, and n is one of a vector's: this thread's vectors.
template <class T, int kVectors = kRowVectors>
struct RowPieces {
  using C = compute_t<T>;
  RowVector<T> v[kVectors];

  /// Calls f(k, first element) for each vector that is there.
  template <class F>
  __device__ static void each(int64_t n, const F& f) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const int i = (k * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * kRowEach<T>;
      if (i < n) f(k, i);
    }
  }
  __device__ void load(const T* row, int64_t n) {
    each(n, [&](int k, int i) { v[k] = load_vector<RowVector<T>>(row + i); });
  }
  __device__ C at(int k, int e) const { return widened_anew(v[k].x[e]); }
};

/// Parameters of a vector's elements, which begin at a multiple of 16 bytes; `otherwise` where there are none.
template <class T, class A>
struct RowParameters {
  using C = compute_t<T>;
  C x[kRowEach<T>];
  __device__ RowParameters(const A* from, int i, C otherwise) {
    constexpr int kOnce = kRowEach<A> < kRowEach<T> ? kRowEach<A> : kRowEach<T>;
#pragma unroll
    for (int e = 0; e < kRowEach<T>; e += kOnce) {
      RowVector<A> v;
      if (from) v = load_vector<RowVector<A>>(from + i + e);
#pragma unroll
      for (int j = 0; j < kOnce; ++j) x[e + j] = from ? widen<C>(v.x[j]) : otherwise;
    }
  }
};

/// A row of n elements of any length and place, shared by the threads of a team: vectors(v, first element) gets one or
/// kAtOnce vectors, which lie blockDim.x vectors apart and are loaded before any is used; edge(element) is called for
/// what stands before and behind them, or for all elements unless `may_load`.
template <int kAtOnce, class T, class Vectors, class Edge>
__device__ inline void take_row(const T* x, int64_t n, bool may_load, const Vectors& vectors, const Edge& edge) {
  constexpr int64_t kEach = kRowEach<T>;
  const int64_t to_aligned = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(x) % 16 / sizeof(T));
  const int64_t head = !may_load || to_aligned > n ? n : to_aligned, count = (n - head) / kEach;
  const int64_t width = blockDim.x;
  int64_t i = threadIdx.x;
  for (; i + (kAtOnce - 1) * width < count; i += kAtOnce * width) {
    RowVector<T> v[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) v[k] = load_vector<RowVector<T>>(x + head + (i + k * width) * kEach);
    vectors(v, head + i * kEach);
  }
  for (; i < count; i += width) {
    const RowVector<T> v[1] = {load_vector<RowVector<T>>(x + head + i * kEach)};
    vectors(v, head + i * kEach);
  }
  for (int64_t e = threadIdx.x; e < n - count * kEach; e += width) edge(e < head ? e : e + count * kEach);
}

/// Over a team of blockDim.x threads, a power of two, of several in a block: all threads call it. of_warps is shared,
/// of kWarp elements, and of this call alone.
template <class C, class F>
__device__ inline C teams_reduce(C value, C* of_warps, const F& merge) {
  if (blockDim.x < kWarp) return narrow_team_reduce(value, merge);
  for (int lanes = kWarp / 2; lanes; lanes /= 2) value = merge(value, __shfl_xor_sync(kFullWarp, value, lanes));
  const int warps = static_cast<int>(blockDim.x) / kWarp, first = static_cast<int>(threadIdx.y) * warps;
  if (warps == 1) return value;
  if (threadIdx.x % kWarp == 0) of_warps[first + static_cast<int>(threadIdx.x) / kWarp] = value;
  __syncthreads();
  C all = of_warps[first];
  for (int w = 1; w < warps; ++w) all = merge(all, of_warps[first + w]);
  return all;
}
template <class C>
__device__ inline C teams_sum(C value, C* of_warps) {
  return teams_reduce(value, of_warps, [](C a, C b) { return a + b; });
}
/// NaN, where there is one.
template <class C>
__device__ inline C teams_max(C value, C* of_warps) {
  return teams_reduce(value, of_warps, larger_or_nan<C>);
}

/// Blocks of kThreads for rows that fit registers: threads of a team, or 0 where they don't. Those of a part of a warp
/// have one vector each.
template <class T>
int row_team(int64_t n, int most_vectors = kRowVectors) {
  const auto room = [&](int width) { return width * (width < kWarp ? 1 : most_vectors) * kRowEach<T>; };
  int width = 1;
  while (width < kThreads && room(width) < n) width *= 2;
  return room(width) >= n && n % kRowEach<T> == 0 ? width : 0;
}
struct RowTeams {
  dim3 grid, block;
  RowTeams(int64_t rows, int width)
      : grid(static_cast<unsigned>((rows * width + kThreads - 1) / kThreads)),
        block(static_cast<unsigned>(width), kThreads / width) {}
};
/// Whether all of them, where they are there, begin at multiples of 16 bytes.
template <class... P>
bool begin_vectors(const P*... at) {
  return ((reinterpret_cast<uintptr_t>(at) % 16 == 0) && ...);
}

}  // namespace hb::cuda
