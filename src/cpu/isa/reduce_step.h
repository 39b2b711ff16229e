#pragma once
// The steps of reductions, for runs and rows.

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "backend/reduce.h"
#include "cpu/isa/isa.h"
#include "formulas/math.h"
#include "formulas/reduce_step.h"

namespace hb::cpu::HB_ISA {

constexpr int64_t kVectorBytes = kIsaLevel >= 4 ? 64 : 32;
template <class T, int64_t bytes = kVectorBytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(bytes), aligned(1), may_alias));
};
template <class T>
using Vector = typename VectorOf<T>::type;

using formula::merge;
using formula::start;
using formula::step;

/// One value of a vector's: halves are merged until one lane is left. They stay in registers.
template <ReduceOp op, class T, int64_t bytes = kVectorBytes>
inline T across(typename VectorOf<T, bytes>::type v) {
  if constexpr (bytes > 16) {
    using Half = typename VectorOf<T, bytes / 2>::type;
    Half low, high;
    __builtin_memcpy(&low, &v, sizeof low);
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
    return across<op, T, bytes / 2>(merge<op, Half>(low, high));
  } else if constexpr (sizeof(T) == 8) {
    return merge<op, T>(v[0], v[1]);
  } else {
    return merge<op, T>(merge<op, T>(v[0], v[2]), merge<op, T>(v[1], v[3]));
  }
}

// The larger or smaller of two vectors, lane by lane; `best` where either is NaN or both are equal.
#ifdef __AVX512F__
inline Vector<float> larger(Vector<float> x, Vector<float> best) { return _mm512_max_ps((__m512)x, (__m512)best); }
inline Vector<float> smaller(Vector<float> x, Vector<float> best) { return _mm512_min_ps((__m512)x, (__m512)best); }
inline Vector<double> larger(Vector<double> x, Vector<double> best) { return _mm512_max_pd((__m512d)x, (__m512d)best); }
inline Vector<double> smaller(Vector<double> x, Vector<double> best) {
  return _mm512_min_pd((__m512d)x, (__m512d)best);
}
/// Lanes that were found to hold something.
using Found = int;
inline bool any(Found lanes) { return lanes != 0; }
inline Found either_is_nan(Vector<float> x, Vector<float> y) {
  return _mm512_cmp_ps_mask((__m512)x, (__m512)y, _CMP_UNORD_Q);
}
inline Found either_is_nan(Vector<double> x, Vector<double> y) {
  return _mm512_cmp_pd_mask((__m512d)x, (__m512d)y, _CMP_UNORD_Q);
}
#else
inline Vector<float> larger(Vector<float> x, Vector<float> best) { return _mm256_max_ps((__m256)x, (__m256)best); }
inline Vector<float> smaller(Vector<float> x, Vector<float> best) { return _mm256_min_ps((__m256)x, (__m256)best); }
inline Vector<double> larger(Vector<double> x, Vector<double> best) { return _mm256_max_pd((__m256d)x, (__m256d)best); }
inline Vector<double> smaller(Vector<double> x, Vector<double> best) {
  return _mm256_min_pd((__m256d)x, (__m256d)best);
}
using Found = __m256i;
inline bool any(Found lanes) { return !_mm256_testz_si256(lanes, lanes); }
inline Found either_is_nan(Vector<float> x, Vector<float> y) {
  return _mm256_castps_si256(_mm256_cmp_ps((__m256)x, (__m256)y, _CMP_UNORD_Q));
}
inline Found either_is_nan(Vector<double> x, Vector<double> y) {
  return _mm256_castpd_si256(_mm256_cmp_pd((__m256d)x, (__m256d)y, _CMP_UNORD_Q));
}
#endif

/// The largest or smallest lane of a vector without NaN: of single values, comparisons that keep NaN are branches.
template <ReduceOp op, class T, int64_t bytes = kVectorBytes>
inline T extreme_lane(typename VectorOf<T, bytes>::type v) {
  const auto take = [](T a, T b) { return (op == ReduceOp::max ? a > b : a < b) ? a : b; };
  if constexpr (bytes > 16) {
    using Half = typename VectorOf<T, bytes / 2>::type;
    Half low, high;
    __builtin_memcpy(&low, &v, sizeof low);
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
    return extreme_lane<op, T, bytes / 2>((op == ReduceOp::max ? low > high : low < high) ? low : high);
  } else if constexpr (sizeof(T) == 8) {
    return take(v[0], v[1]);
  } else {
    return take(take(v[0], v[2]), take(v[1], v[3]));
  }
}

/// Asks for what lies a page after `bytes` at x. A Zen 5 reads 8 MB in 64 to 80 µs as its own prefetcher takes to their
/// place, and in 63 with this. Within its nearer caches this costs time, and on other CPUs: a Zen 4 takes 83 µs without
/// and 107 with it.
template <int64_t bytes>
inline void ask_ahead(const void* x) {
  constexpr int64_t page = 4096, line = 64;
#pragma GCC unroll 4
  for (int64_t i = 0; i < bytes; i += line) __builtin_prefetch(static_cast<const char*>(x) + page + i);
}

/// v, in a register: GCC 12 reads what two instructions take twice.
template <class V>
inline V held(V v) {
  asm("" : "+v"(v));
  return v;
}

/// The largest or smallest of at least a vector of values; false where a NaN is among them. Cheaper than steps that
/// keep NaN: two vectors are looked at with one comparison.
template <ReduceOp op, class T>
inline bool extreme_of_numbers(const T* x, int64_t n, T& result) {
  using V = Vector<T>;
  constexpr int64_t lanes = kVectorBytes / sizeof(T);
  const auto take = [](V& best, V v) { best = op == ReduceOp::max ? larger(v, best) : smaller(v, best); };
  const auto at = [x](int64_t i) { return held(*reinterpret_cast<const V*>(x + i)); };
  const V first = V{} + start<op, T>();
  V a = first, b = first, c = first, d = first;
  Found nan{};
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const V v0 = at(i), v1 = at(i + lanes), v2 = at(i + 2 * lanes), v3 = at(i + 3 * lanes);
    nan |= either_is_nan(v0, v1) | either_is_nan(v2, v3);
    take(a, v0), take(b, v1), take(c, v2), take(d, v3);
  }
  for (; i < n; i += lanes) {  // the last vector may hold values that have been taken
    const V v = at(std::min(i, n - lanes));
    nan |= either_is_nan(v, v);
    take(a, v);
  }
  take(a, b), take(c, d), take(a, c);
  result = extreme_lane<op, T>(a);
  return !any(nan);
}

/// The smallest and the largest of n values; false where a NaN is among them, or fewer than a vector's.
template <class T>
inline bool ends_of_numbers(const T* x, int64_t n, T& low, T& high) {
  using V = Vector<T>;
  constexpr int64_t lanes = kVectorBytes / sizeof(T);
  if (n < lanes) return false;
  const auto lesser = [](V best, V v) {
    if constexpr (std::is_floating_point_v<T>)
      return smaller(v, best);
    else
      return step<ReduceOp::min, V>(best, v);
  };
  const auto greater = [](V best, V v) {
    if constexpr (std::is_floating_point_v<T>)
      return larger(v, best);
    else
      return step<ReduceOp::max, V>(best, v);
  };
  Found nan{};
  const auto look = [&nan](V a, V b) {
    if constexpr (std::is_floating_point_v<T>) nan |= either_is_nan(a, b);
  };
  const auto at = [x](int64_t i) { return held(*reinterpret_cast<const V*>(x + i)); };
  V least[4], most[4];
  for (int k = 0; k < 4; ++k) least[k] = V{} + start<ReduceOp::min, T>(), most[k] = V{} + start<ReduceOp::max, T>();
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const V v0 = at(i), v1 = at(i + lanes), v2 = at(i + 2 * lanes), v3 = at(i + 3 * lanes);
    look(v0, v1), look(v2, v3);
    const V taken[4] = {v0, v1, v2, v3};
    for (int k = 0; k < 4; ++k) least[k] = lesser(least[k], taken[k]), most[k] = greater(most[k], taken[k]);
  }
  for (; i < n; i += lanes) {  // the last vector may hold values that have been taken
    const V v = at(std::min(i, n - lanes));
    look(v, v);
    least[0] = lesser(least[0], v), most[0] = greater(most[0], v);
  }
  for (int k = 1; k < 4; ++k) least[0] = lesser(least[0], least[k]), most[0] = greater(most[0], most[k]);
  low = extreme_lane<ReduceOp::min, T>(least[0]), high = extreme_lane<ReduceOp::max, T>(most[0]);
  return !any(nan);
}

template <ReduceOp op, int count, class V>
inline V merged(const V* acc) {
  if constexpr (count == 1)
    return *acc;
  else
    return merge<op, V>(merged<op, count / 2>(acc), merged<op, count / 2>(acc + count / 2));
}

/// What a vector's lanes take in of at least one vector of n consecutive values, lane k values k, k + lanes, …; i: how
/// many values those are. `far`: of more than the nearer caches hold.
template <ReduceOp op, class T>
inline Vector<T> lanes_of_run(const T* x, int64_t n, bool far, int64_t& i) {
  using V = Vector<T>;
  constexpr int64_t lanes = kVectorBytes / sizeof(T);
  constexpr int count = 256 / kVectorBytes;  // of vectors
  V acc[count];
#pragma GCC unroll 8
  for (V& a : acc) a = V{} + start<op, T>();
  const auto* v = reinterpret_cast<const V*>(x);
  for (i = 0; i + count * lanes <= n; i += count * lanes, v += count) {
    if (far) ask_ahead<count * kVectorBytes>(v);
#pragma GCC unroll 8
    for (int k = 0; k < count; ++k) acc[k] = step<op, V>(acc[k], held(v[k]));
  }
  for (; i + lanes <= n; i += lanes) acc[0] = step<op, V>(acc[0], *v++);
  return merged<op, count>(acc);
}

/// n consecutive values in the compute type.
template <ReduceOp op, class T>
inline T reduce_run(const T* x, int64_t n, bool far = false) {
  constexpr int64_t lanes = kVectorBytes / sizeof(T);
  T total = start<op, T>();
  int64_t i = 0;
  if constexpr ((op == ReduceOp::max || op == ReduceOp::min) && std::is_floating_point_v<T>)
    if (n >= lanes && extreme_of_numbers<op, T>(x, n, total)) return total;
  if (n >= lanes) total = across<op, T>(lanes_of_run<op, T>(x, n, far, i));
  for (; i < n; ++i) total = step<op, T>(total, x[i]);
  return total;
}

/// acc[k] takes in x[0][k], …, x[3][k] for k below the result: vectors of values without NaN, two of which are looked
/// at with one comparison.
template <ReduceOp op, class T>
inline int64_t extremes_of_rows(T* acc, const T* const* x, int64_t n) {
  using V = Vector<T>;
  constexpr int64_t lanes = kVectorBytes / sizeof(T);
  const auto take = [](V& best, V v) { best = op == ReduceOp::max ? larger(v, best) : smaller(v, best); };
  const auto at = [x](int row, int64_t k) { return *reinterpret_cast<const V*>(x[row] + k); };
  int64_t k = 0;
  for (; k + lanes <= n; k += lanes) {
    const V v0 = at(0, k), v1 = at(1, k), v2 = at(2, k), v3 = at(3, k);
    if (any(either_is_nan(v0, v1) | either_is_nan(v2, v3))) break;
    V best = *reinterpret_cast<const V*>(acc + k);
    take(best, v0), take(best, v1), take(best, v2), take(best, v3);
    *reinterpret_cast<V*>(acc + k) = best;
  }
  return k;
}

/// acc[k] takes in x[0][k], …, x[3][k], or x[0][k] alone.
template <ReduceOp op, class T>
inline void reduce_rows(T* acc, const T* const* x, int count, int64_t n) {
  const T* x0 = x[0];
  if (count == 1) {
    HB_INDEPENDENT
    for (int64_t k = 0; k < n; ++k) acc[k] = step<op, T>(acc[k], x0[k]);
    return;
  }
  const T *x1 = x[1], *x2 = x[2], *x3 = x[3];
  int64_t done = 0;
  if constexpr ((op == ReduceOp::max || op == ReduceOp::min) && std::is_floating_point_v<T>)
    done = extremes_of_rows<op>(acc, x, n);
  HB_INDEPENDENT
  for (int64_t k = done; k < n; ++k)
    acc[k] = step<op, T>(step<op, T>(step<op, T>(step<op, T>(acc[k], x0[k]), x1[k]), x2[k]), x3[k]);
}

inline float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// extreme_of_numbers() of bf16, whose bits are compared as integers: they stand in the order of the numbers when those
/// below the sign are turned over in negative ones.
template <ReduceOp op>
inline bool extreme_of_numbers(const uint16_t* x, int64_t n, float& result) {
  using V = Vector<int16_t>;
  constexpr int64_t lanes = kVectorBytes / sizeof(int16_t);
  constexpr int16_t kMagnitude = 0x7fff, kInfinity = 0x7f80;
  const auto ordered = [](auto v) { return v ^ (v >> 15 & kMagnitude); };
  V best = V{} + (op == ReduceOp::max ? std::numeric_limits<int16_t>::min() : kMagnitude), nan{};
  for (int64_t i = 0; i < n; i += lanes) {  // the last vector may hold values that have been taken
    const V v = *reinterpret_cast<const V*>(x + std::min(i, n - lanes)), o = ordered(v);
    nan |= (v & kMagnitude) > kInfinity;
    best = (op == ReduceOp::max ? o > best : o < best) ? o : best;
  }
  int16_t most = best[0], unordered = 0;
  for (int k = 0; k < lanes; ++k) {
    most = op == ReduceOp::max ? std::max<int16_t>(most, best[k]) : std::min<int16_t>(most, best[k]);
    unordered |= nan[k];
  }
  result = bf16_to_float(static_cast<uint16_t>(ordered(int{most})));
  return unordered == 0;
}

/// The same of bf16: a word of two is two numbers with a shift and a mask.
template <ReduceOp op>
inline float reduce_run_bf16(const uint16_t* x, int64_t n) {
  using V = Vector<float>;
  using U = Vector<uint32_t>;
  constexpr int64_t lanes = kVectorBytes / sizeof(float);
  float total = start<op, float>();
  int64_t i = 0;
  if constexpr (op == ReduceOp::max || op == ReduceOp::min)
    if (n >= 2 * lanes && extreme_of_numbers<op>(x, n, total)) return total;
  if (n >= 2 * lanes) {
    const V first = V{} + start<op, float>();
    V a = first, b = first, c = first, d = first;
    const auto* v = reinterpret_cast<const U*>(x);
    for (; i + 4 * lanes <= n; i += 4 * lanes, v += 2) {
      a = step<op, V>(a, (V)(v[0] << 16)), b = step<op, V>(b, (V)(v[0] & 0xffff0000u));
      c = step<op, V>(c, (V)(v[1] << 16)), d = step<op, V>(d, (V)(v[1] & 0xffff0000u));
    }
    for (; i + 2 * lanes <= n; i += 2 * lanes, ++v)
      a = step<op, V>(a, (V)(*v << 16)), b = step<op, V>(b, (V)(*v & 0xffff0000u));
    total = across<op, float>(merge<op, V>(merge<op, V>(a, b), merge<op, V>(c, d)));
  }
  for (; i < n; ++i) total = step<op, float>(total, bf16_to_float(x[i]));
  return total;
}

template <ReduceOp op>
inline void reduce_rows_bf16(float* acc, const uint16_t* const* x, int count, int64_t n) {
  const uint16_t* x0 = x[0];
  if (count == 1) {
    HB_INDEPENDENT
    for (int64_t k = 0; k < n; ++k) acc[k] = step<op, float>(acc[k], bf16_to_float(x0[k]));
    return;
  }
  const uint16_t *x1 = x[1], *x2 = x[2], *x3 = x[3];
  HB_INDEPENDENT
  for (int64_t k = 0; k < n; ++k) {
    const float a = step<op, float>(step<op, float>(acc[k], bf16_to_float(x0[k])), bf16_to_float(x1[k]));
    acc[k] = step<op, float>(step<op, float>(a, bf16_to_float(x2[k])), bf16_to_float(x3[k]));
  }
}

}  // namespace hb::cpu::HB_ISA
