#pragma once
// The loops of each reduction, chosen by its name.
#include <cstdint>
#include <type_traits>

#include "backend/reduce.h"

#include "cpu/isa/reduce_step.h"

namespace hb::cpu::HB_ISA {
namespace {

/// One reduction's inner loops for a compute type, and what its single results do. W: sums of floats go on in double.
template <class T>
struct Steps {
  using W = std::conditional_t<std::is_same_v<T, float>, double, T>;
  T first;
  void (*runs)(const char* x, int64_t step, int64_t rows, int64_t n, bool far, W* results);
  void (*rows)(T* acc, const T* const* x, int count, int64_t n);
  W (*merge)(W a, W b);
  void (*merge_rows)(W* total, const T* part, int64_t n);
  void (*fold_rows)(W* rows, int64_t count, int64_t n);
  void (*short_rows)(const T* x, int64_t count, int64_t n, bool far, W* results);
  // of bf16, where T is float
  void (*runs_bf16)(const char* x, int64_t step, int64_t rows, int64_t n, W* results) = nullptr;
  void (*rows_bf16)(float* acc, const uint16_t* const* x, int count, int64_t n) = nullptr;
};

template <ReduceOp op, class T>
void merge_rows(typename Steps<T>::W* total, const T* part, int64_t n) {
  using W = typename Steps<T>::W;
  for (int64_t k = 0; k < n; ++k) total[k] = merge<op, W>(total[k], static_cast<W>(part[k]));
}

/// The first of `count` rows of n results takes in the others: the second half of them goes into the first, again and
/// again, so that short rows make vectors.
template <ReduceOp op, class T>
void fold_rows(typename Steps<T>::W* rows, int64_t count, int64_t n) {
  using W = typename Steps<T>::W;
  while (count > 1) {
    const int64_t others = count / 2;
    count -= others;
    const W* const from = rows + count * n;
    HB_INDEPENDENT
    for (int64_t k = 0; k < others * n; ++k) rows[k] = merge<op, W>(rows[k], from[k]);
  }
}

/// `results` take in rows of n values, one behind the other, `count` values in all; n divides a vector's lanes.
template <ReduceOp op, class T>
void reduce_short_rows(const T* x, int64_t count, int64_t n, bool far, typename Steps<T>::W* results) {
  using W = typename Steps<T>::W;
  constexpr int64_t lanes = kVectorBytes / sizeof(T);
  int64_t i = 0;
  if (count >= lanes) {
    const Vector<T> v = lanes_of_run<op, T>(x, count, far, i);
    W wide[lanes];
    for (int64_t k = 0; k < lanes; ++k) wide[k] = static_cast<W>(v[k]);
    fold_rows<op, T>(wide, lanes / n, n);
    for (int64_t k = 0; k < n; ++k) results[k] = merge<op, W>(results[k], wide[k]);
  }
  for (; i < count; i += n)
    for (int64_t k = 0; k < n; ++k)
      results[k] = merge<op, W>(results[k], static_cast<W>(step<op, T>(start<op, T>(), x[i + k])));
}

/// A result of each of `rows` runs, which begin `step` bytes apart.
template <ReduceOp op, class T>
void reduce_runs(const char* x, int64_t step, int64_t rows, int64_t n, bool far, typename Steps<T>::W* results) {
  using W = typename Steps<T>::W;
  for (int64_t k = 0; k < rows; ++k) {
    const T run = reduce_run<op, T>(reinterpret_cast<const T*>(x + k * step), n, far);
    results[k] = merge<op, W>(W(start<op, T>()), static_cast<W>(run));
  }
}

template <ReduceOp op>
void reduce_runs_bf16(const char* x, int64_t step, int64_t rows, int64_t n, double* results) {
  for (int64_t k = 0; k < rows; ++k) {
    const float run = reduce_run_bf16<op>(reinterpret_cast<const uint16_t*>(x + k * step), n);
    results[k] = merge<op, double>(start<op, float>(), static_cast<double>(run));
  }
}

template <ReduceOp op, class T>
Steps<T> steps() {
  using W = typename Steps<T>::W;
  Steps<T> s{start<op, T>(),    reduce_runs<op, T>, reduce_rows<op, T>,      merge<op, W>,
             merge_rows<op, T>, fold_rows<op, T>,   reduce_short_rows<op, T>};
  if constexpr (std::is_same_v<T, float>) s.runs_bf16 = reduce_runs_bf16<op>, s.rows_bf16 = reduce_rows_bf16<op>;
  return s;
}

template <class T>
Steps<T> steps_of(ReduceOp op) {
  return formula::with_reduction(op, [](auto constant) { return steps<constant(), T>(); });
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
