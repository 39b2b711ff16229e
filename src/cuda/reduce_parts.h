#pragma once
// What reductions of neighbours in memory share: reading 16 bytes at a time, and merging what threads and blocks have.
//
// A reduction R is a type with
//   X              the elements' type
//   Loads<kEach>, load(v, at, results)   OneInput<X> or TwoInputs<X>, from which it derives
//   kBlocks        of a multiprocessor, whose registers they share
//   Part           what some elements became; none() is that of none
//   Mine<kChains>  what a thread has: prepare(results) at first, begin(x) with its first element, take<chain>(x, index)
//                  with each, whose indices ascend in a chain, or edge(x, index) in any order, part()
//   Results        where results go: store(output, part)
//   merged(a, b), from_lane(part, lanes) (a shuffle), from_other(address)

#include "cuda/grouped.h"
#include "cuda/last_block.h"
#include "cuda/launch.h"
#include "formulas/compared.h"

namespace hb::cuda {

/// Blocks that keep all of a large GPU busy (an H100 has 132 multiprocessors of 2,048 threads).
constexpr int kBusyBlocks = 1024;
/// Vectors that a thread loads before it computes with the first: enough bytes are on their way at a quarter of the
/// threads that a multiprocessor can hold.
constexpr int kInFlight = 4;

#ifdef HB_DEVICE_CODE
/// What an element is computed in at first.
template <class X>
using Loaded =
    std::conditional_t<is_half_v<X>, float, std::conditional_t<std::is_integral_v<X> && sizeof(X) < 4, int, X>>;

/// kEach neighbours, loaded at once: one, or 16 bytes.
template <class X, int kEach>
struct Chunk {
  static_assert(kEach * sizeof(X) == 16);
  uint4 v = {};
  __device__ void load(const X* at) { v = load_vector<uint4>(at); }
  template <int e>
  __device__ Loaded<X> get() const {
    constexpr int kWord = e * static_cast<int>(sizeof(X)) / 4;
    const uint32_t w = word<kWord>();
    if constexpr (std::is_same_v<X, float>)
      return __uint_as_float(w);
    else if constexpr (is_half_v<X>)
      return static_cast<float>(X(static_cast<uint16_t>(w >> e % 2 * 16), X::from_bits()));
    else if constexpr (std::is_same_v<X, bool>)
      return (w >> e % 4 * 8 & 0xff) != 0;
    else if constexpr (sizeof(X) < 4)
      return static_cast<X>(w >> e % (4 / sizeof(X)) * sizeof(X) * 8);
    else if constexpr (sizeof(X) == 4)
      return static_cast<X>(w);
    else
      return of_bits(w | uint64_t{word<kWord + 1>()} << 32);
  }

 private:
  template <int k>
  __device__ uint32_t word() const {
    return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
  }
  __device__ static Loaded<X> of_bits(uint64_t bits) {
    if constexpr (std::is_same_v<X, double>)
      return __longlong_as_double(static_cast<long long>(bits));
    else
      return static_cast<Loaded<X>>(bits);
  }
};
template <class X>
struct Chunk<X, 1> {
  Loaded<X> v = {};
  __device__ void load(const X* at) { v = static_cast<Loaded<X>>(*at); }
  template <int e>
  __device__ Loaded<X> get() const {
    return v;
  }
};

/// What a reduction reads: neighbours of one tensor,
template <class X_>
struct OneInput {
  using X = X_;
  template <int kEach>
  using Loads = Chunk<X, kEach>;
  template <int kEach, class Results>
  __device__ static void load(Chunk<X, kEach>& v, const X* at, const Results&) {
    v.load(at);
  }
};
/// or of two tensors that lie alike, `results.other` elements apart.
template <class X>
struct Both {
  Loaded<X> a, b;
};
template <class X_>
struct TwoInputs {
  using X = X_;
  template <int kEach>
  struct Loads {
    Chunk<X, kEach> a, b;
    template <int e>
    __device__ Both<X> get() const {
      return {a.template get<e>(), b.template get<e>()};
    }
  };
  template <int kEach, class Results>
  __device__ static void load(Loads<kEach>& v, const X* at, const Results& results) {
    v.a.load(at), v.b.load(at + results.other);
  }
};

/// Calls f(integral_constant) for 0, …, n - 1.
template <class F, int... k>
__device__ inline void each_of(const F& f, std::integer_sequence<int, k...>) {
  (f(std::integral_constant<int, k>()), ...);
}
template <int n, class F>
__device__ inline void each_below(const F& f) {
  each_of(f, std::make_integer_sequence<int, n>());
}

/// What a thread has in several chains, which do not wait for each other.
template <class R, int kChains>
struct Chains {
  typename R::Part chain[kChains];
  __device__ Chains() {
    for (auto& c : chain) c = R::none();
  }
  __device__ void prepare(const typename R::Results&) {}
  template <class V>
  __device__ void begin(const V&) {}
  __device__ typename R::Part part() const {
    typename R::Part all = chain[0];
    for (int k = 1; k < kChains; ++k) all = R::merged(all, chain[k]);
    return all;
  }
};

/// The first of each `width` lanes (a power of two) gets what they have. All lanes of the warp call it.
template <class R>
__device__ inline typename R::Part merged_in_warp(typename R::Part mine, int width) {
  for (int lanes = width / 2; lanes > 0; lanes /= 2) mine = R::merged(mine, R::from_lane(mine, lanes));
  return mine;
}
/// The first thread of the block gets what all have.
template <class R>
__device__ inline typename R::Part merged_in_block(typename R::Part mine) {
  using Part = typename R::Part;
  constexpr int kWarps = kThreads / kWarp;
  HB_SHARED(Part, of_warps, kWarps);
  mine = merged_in_warp<R>(mine, kWarp);
  __syncthreads();  // those of the merge before have been read
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = mine;
  __syncthreads();
  return merged_in_warp<R>(of_warps[threadIdx.x % kWarps], kWarps);
}
#endif

}  // namespace hb::cuda
