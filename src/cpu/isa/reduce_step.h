#pragma once
// The steps of reductions, for runs and rows.

#include <bit>
#include <limits>

#include "backend/reduce.h"
#include "cpu/isa/isa.h"
#include "formulas/math.h"
#include "formulas/reduce_step.h"

namespace hb::cpu::HB_ISA {

constexpr int64_t kVectorBytes = kIsaLevel >= 4 ? 64 : 32;
template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));
};
template <class T>
using Vector = typename VectorOf<T>::type;

using formula::merge;
using formula::start;
using formula::step;

/// One value of a vector's: halves are merged until one lane is left.
template <ReduceOp op, class T>
inline T across(Vector<T> v) {
  constexpr int64_t lanes = kVectorBytes / sizeof(T);
  T part[lanes];
  __builtin_memcpy(part, &v, sizeof part);
  for (int64_t width = lanes / 2; width > 0; width /= 2)
    for (int64_t j = 0; j < width; ++j) part[j] = merge<op, T>(part[j], part[j + width]);
  return part[0];
}

/// n consecutive values in the compute type.
template <ReduceOp op, class T>
inline T reduce_run(const T* x, int64_t n) {
  using V = Vector<T>;
  constexpr int64_t lanes = kVectorBytes / sizeof(T);
  T total = start<op, T>();
  int64_t i = 0;
  if (n >= lanes) {
    const V first = V{} + start<op, T>();
    V a = first, b = first, c = first, d = first;
    const auto* v = reinterpret_cast<const V*>(x);
    for (; i + 4 * lanes <= n; i += 4 * lanes, v += 4) {
      a = step<op, V>(a, v[0]), b = step<op, V>(b, v[1]);
      c = step<op, V>(c, v[2]), d = step<op, V>(d, v[3]);
    }
    for (; i + lanes <= n; i += lanes) a = step<op, V>(a, *v++);
    total = across<op, T>(merge<op, V>(merge<op, V>(a, b), merge<op, V>(c, d)));
  }
  for (; i < n; ++i) total = step<op, T>(total, x[i]);
  return total;
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
  HB_INDEPENDENT
  for (int64_t k = 0; k < n; ++k)
    acc[k] = step<op, T>(step<op, T>(step<op, T>(step<op, T>(acc[k], x0[k]), x1[k]), x2[k]), x3[k]);
}

inline float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// The same of bf16: a word of two is two numbers with a shift and a mask.
template <ReduceOp op>
inline float reduce_run_bf16(const uint16_t* x, int64_t n) {
  using V = Vector<float>;
  using U = Vector<uint32_t>;
  constexpr int64_t lanes = kVectorBytes / sizeof(float);
  float total = start<op, float>();
  int64_t i = 0;
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
