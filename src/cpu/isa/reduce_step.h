#pragma once
// The steps of reductions, for runs and rows.

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
    a = merge<op, V>(merge<op, V>(a, b), merge<op, V>(c, d));
    T part[lanes];
    __builtin_memcpy(part, &a, sizeof part);
    for (int64_t width = lanes / 2; width > 0; width /= 2)
      for (int64_t j = 0; j < width; ++j) part[j] = merge<op, T>(part[j], part[j + width]);
    total = part[0];
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

}  // namespace hb::cpu::HB_ISA
