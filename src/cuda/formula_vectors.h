#pragma once
// The kernel of a formula whose operands have their elements side by side, of whatever dtypes: each thread reads,
// computes and writes vectors of them. Rows and columns that stand for a matrix are no exception (VectorWalk).

#include <algorithm>

#include "cuda/convert.h"
#include "cuda/walk.h"
#include "formulas/formula.h"

namespace hb::cuda {

template <class T, int Params>
struct FormulaArguments {
  T params[Params + 1];
  T number[kMostOperands];  // of the host
};

template <class F, class T>
__device__ inline T apply_formula(const T* p, const T* x) {
  if constexpr (F::inputs == 1)
    return F::template apply<T>(p, x[0]);
  else if constexpr (F::inputs == 2)
    return F::template apply<T>(p, x[0], x[1]);
  else
    return F::template apply<T>(p, x[0], x[1], x[2]);
}

/// 1 for formulas whose kernels ptxas would else keep registers of in memory, to have more blocks at once
/// (tools/gpu/registers.py).
template <class F>
constexpr int kLeastBlocks = 0;

template <class... X>
struct Types {
  static constexpr size_t widest = std::max({sizeof(X)...});
  __host__ __device__ static constexpr bool have_size(size_t size) { return ((sizeof(X) == size) || ...); }
  static bool have(ScalarType dtype) { return ((dtype == dtype_of<X>::value) || ...); }
  /// Calls f(X()) for the type of `dtype`, which is one of these.
  template <class F>
  __device__ static void with(ScalarType dtype, const F& f) {
    one_of<F, X...>(dtype, f);
  }

 private:
  template <class F, class First, class... More>
  __device__ static void one_of(ScalarType dtype, const F& f) {
    if constexpr (sizeof...(More) == 0)
      f(First());
    else if (dtype == dtype_of<First>::value)
      f(First());
    else
      one_of<F, More...>(dtype, f);
  }
};
/// Dtypes whose elements the kernels for usual dtypes take where they compute F in T.
template <class F, class T>
struct UsualTypes : Types<T> {};
template <class F>
struct UsualTypes<F, float> : Types<float, BFloat16, Half, bool> {};
template <class F>
struct UsualTypes<F, double> : Types<double, bool> {};
template <class F>
struct UsualTypes<F, int64_t> : Types<int64_t, int32_t, uint8_t, bool> {};
using Bytes = Types<uint8_t, bool>;

template <class Set>
bool all_of(const Walk& walk) {
  for (int k = 0; k < walk.operands; ++k)
    if (!(walk.numbers >> k & 1) && !Set::have(walk.dtype[k])) return false;
  return true;
}

/// Elements of a vector: 16 bytes of the narrow types, or two times as many of the wide ones.
template <class F, class T, class Set>
constexpr int kTogether = std::is_same_v<Set, Bytes>                ? 16
                          : std::is_same_v<T, float>&& F::cost <= 8 ? 8
                                                                    : 4;
/// What a thread holds operands as, until it computes with them. Bytes, and numbers beside them, need one register.
template <class T, class Set>
using held_t = std::conditional_t<std::is_same_v<Set, Bytes>, int32_t, T>;

/// N elements of the widest type of a set, or of another one, as they lie in memory.
template <class Set, int N>
struct Words {
  uint32_t word[N * Set::widest / 4];

  /// N elements of `size` bytes, or one. Nothing is done with them yet: the loads of other operands shall not wait.
  __device__ void load(bool one, size_t size, const char* at) {
    load_if<1>(one, size, at), load_if<2>(one, size, at), load_if<4>(one, size, at), load_if<8>(one, size, at);
  }
  template <class X>
  __device__ X get(int j) const {
    if constexpr (std::is_same_v<X, bool>)
      return (word[j / 4] >> j % 4 * 8 & 255) != 0;
    else if constexpr (sizeof(X) == 1)
      return static_cast<X>(word[j / 4] >> j % 4 * 8);
    else if constexpr (is_half_v<X>)
      return X(static_cast<uint16_t>(word[j / 2] >> j % 2 * 16), X::from_bits());
    else if constexpr (sizeof(X) == 2)
      return static_cast<X>(word[j / 2] >> j % 2 * 16);
    else if constexpr (sizeof(X) == 4)
      return __builtin_bit_cast(X, word[j]);
    else
      return __builtin_bit_cast(X, uint64_t{word[2 * j + 1]} << 32 | word[2 * j]);
  }

 private:
  template <size_t size>
  __device__ void load_if(bool one, size_t asked, const char* at) {
    if constexpr (Set::have_size(size)) {
      if (asked != size) return;
      if (one)
        load_bytes<size>(at);
      else
        load_bytes<N * size>(at);
    }
  }
  template <size_t bytes>
  __device__ void load_bytes(const char* at) {
    if constexpr (bytes == 1) word[0] = load_vector<uint8_t>(at);
    if constexpr (bytes == 2) word[0] = load_vector<uint16_t>(at);
    if constexpr (bytes == 4) word[0] = load_vector<uint32_t>(at);
    if constexpr (bytes == 8) {
      const auto v = load_vector<uint2>(at);
      word[0] = v.x, word[1] = v.y;
    }
    if constexpr (bytes >= 16)
#pragma unroll
      for (size_t i = 0; i < bytes / 16; ++i) {
        const auto v = load_vector<uint4>(at + i * 16);
        word[4 * i] = v.x, word[4 * i + 1] = v.y, word[4 * i + 2] = v.z, word[4 * i + 3] = v.w;
      }
  }
};

/// N elements as accesses of at most 16 bytes write them.
template <class X, int N>
struct alignas(sizeof(X) * N < 16 ? sizeof(X) * N : 16) Vector {
  X element[N];
};
template <class X, class T, int N>
__device__ inline void write_vector(char* at, const T (&y)[N]) {
  Vector<X, N> v;
#pragma unroll
  for (int j = 0; j < N; ++j) v.element[j] = convert<X>(y[j]);
  store_vector(at, v);
}

/// What is left of the last vector: an element a thread.
template <class F, class T, class Set>
__device__ void after_vectors(const VectorWalk& walk, const FormulaArguments<T, F::params>& a) {
  constexpr int operands = F::inputs + 1, N = kTogether<F, T, Set>;
  const int64_t i = grid_thread();
  if (i >= walk.rest) return;
  const auto place = [&](int k) {
    return walk.data[k] + walk.numel * int64_t{walk.stride[0][k]} + i * (walk.stride[0][k] / N);
  };
  T x[F::inputs];
#pragma unroll
  for (int k = 1; k < operands; ++k) {
    if (walk.numbers >> k & 1)
      x[k - 1] = a.number[k];
    else
      Set::with(walk.dtype[k], [&](auto type) { x[k - 1] = load_one<T, decltype(type)>(place(k)); });
  }
  const T y = apply_formula<F, T>(a.params, x);
  Set::with(walk.dtype[0], [&](auto type) {
    using X = decltype(type);
    *reinterpret_cast<X*>(place(0)) = convert<X>(y);
  });
}

template <class F, class T, class Set>
__global__ void __launch_bounds__(kThreads, 1)
    vector_kernel(HB_ARGUMENT(VectorWalk) walk, HB_ARGUMENT(FormulaArguments<T, F::params>) a) {
  constexpr int operands = F::inputs + 1, N = kTogether<F, T, Set>;
  using Held = held_t<T, Set>;
  HB_GRID_LOOP(v, walk.numel) {
    int32_t offset[operands];
    walk.template offsets<operands>(static_cast<uint32_t>(v), offset);
    Words<Set, N> words[F::inputs];
#pragma unroll
    for (int k = 1; k < operands; ++k) words[k - 1].load(walk.alone >> k & 1, walk.bytes[k], walk.data[k] + offset[k]);
    Held x[F::inputs][N];
#pragma unroll
    for (int k = 1; k < operands; ++k) {
      const auto& from = words[k - 1];
      if (walk.alone >> k & 1) {
        auto one = static_cast<Held>(a.number[k]);
        if (!(walk.numbers >> k & 1))
          Set::with(walk.dtype[k], [&](auto type) { one = convert<Held>(from.template get<decltype(type)>(0)); });
#pragma unroll
        for (int j = 0; j < N; ++j) x[k - 1][j] = one;
      } else {
        Set::with(walk.dtype[k], [&](auto type) {
#pragma unroll
          for (int j = 0; j < N; ++j) x[k - 1][j] = convert<Held>(from.template get<decltype(type)>(j));
        });
      }
    }
    T y[N];
#pragma unroll
    for (int j = 0; j < N; ++j) {
      T in[F::inputs];
#pragma unroll
      for (int k = 0; k < F::inputs; ++k) in[k] = x[k][j];
      y[j] = apply_formula<F, T>(a.params, in);
    }
    Set::with(walk.dtype[0], [&](auto type) { write_vector<decltype(type)>(walk.data[0] + offset[0], y); });
  }
  after_vectors<F, T, Set>(walk, a);
}

}  // namespace hb::cuda
