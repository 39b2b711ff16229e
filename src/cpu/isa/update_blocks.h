#pragma once
// What the loops of the update kernels share: reading half types block by block, and sharing tensors among threads.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "backend/update_call.h"
#include "cpu/isa/convert_element.h"
#include "cpu/isa/outer_row.h"
#include "cpu/isa/tensor_ranges.h"

namespace hb::cpu::HB_ISA {

/// An update does more work than an addition.
constexpr int64_t kUpdateGrain = kGrain / 2;

inline bool skipped(const UpdateCall& call) { return call.found_inf && *call.found_inf != 0; }

/// What gradients are multiplied with. The reciprocal is rounded to float, as where gradients are unscaled beforehand.
template <class T>
T grad_factor(const UpdateCall& call) {
  const T inverse = call.grad_scale ? static_cast<float>(1.0 / static_cast<double>(*call.grad_scale)) : 1.0f;
  const T factor = call.grad_factor ? *call.grad_factor : inverse;
  return call.maximize ? -factor : factor;
}

/// A rule at the next step of a tensor; `carried` becomes the number to keep.
template <class Rule>
Rule begun(Rule rule, const UpdateTensor& t, double* carried = nullptr) {
  if constexpr (requires { rule.begin(int64_t{}, 0.0); }) {
    const double next = rule.begin(t.step ? *t.step + 1 : 1, t.scalar ? *t.scalar : 0);
    if (carried) *carried = next;
  }
  return rule;
}
/// Counts the step, after the last element of the tensor was updated.
template <class Rule>
void count_step(const Rule& rule, const UpdateTensor& t) {
  if (t.scalar) {
    double carried = 0;
    begun(rule, t, &carried);
    *t.scalar = carried;
  }
  if (t.step) ++*t.step;
}

/// Consecutive elements of a parameter, its gradient and its states.
template <class T>
struct UpdateBlock {
  T* param;
  const T* grad;
  T* state[UpdateTensor::kMaxStates];
  int64_t size;
};

// Not inlined: every rule would carry copies of these loops.
template <class Stored>
[[gnu::noinline]] void widen_block(float* to, const void* from, int64_t at, int64_t n) {
  convert_run(to, static_cast<const Stored*>(from) + at, n);
}
template <class Stored>
[[gnu::noinline]] void narrow_block(void* to, const float* from, int64_t at, int64_t n) {
  convert_run(static_cast<Stored*>(to) + at, from, n);
}
/// Elements [at, at + n) as floats: in place, or copied to `buffer`.
inline float* as_float(ScalarType dtype, const void* from, int64_t at, int64_t n, float* buffer) {
  if (dtype == kFloat) return static_cast<float*>(const_cast<void*>(from)) + at;
  (dtype == kHalf ? widen_block<Half> : widen_block<BFloat16>)(buffer, from, at, n);
  return buffer;
}
inline void store_float(ScalarType dtype, void* to, int64_t at, int64_t n, const float* from) {
  if (dtype == kFloat) return;
  (dtype == kHalf ? narrow_block<Half> : narrow_block<BFloat16>)(to, from, at, n);
}

/// Where the parameter is not the rounded master weight, that starts again from the parameter.
template <class Stored>
[[gnu::noinline]] void follow_param(float* master, const void* param, int64_t at, int64_t n) {
  const auto* p = static_cast<const Stored*>(param) + at;
  alignas(64) Stored rounded[512];
  convert_run(rounded, master, n);
  if (HB_LIKELY(std::memcmp(rounded, p, static_cast<size_t>(n) * sizeof(Stored)) == 0)) return;
  for (int64_t i = 0; i < n; ++i) {
    if (rounded[i].x != p[i].x) master[i] = static_cast<float>(p[i]);
  }
}

/// Elements [from, to) of a tensor in blocks that stay in the first-level cache, half types widened.
template <unsigned used, class F>
void for_mixed_blocks(const UpdateCall& call, const UpdateTensor& t, int64_t from, int64_t to, const F& fn) {
  constexpr int64_t kBlock = 512;
  alignas(64) float wide[2 + UpdateTensor::kMaxStates][kBlock];
  for (int64_t at = from; at < to; at += kBlock) {
    const int64_t n = std::min(kBlock, to - at);
    UpdateBlock<float> b{nullptr, as_float(call.grad, t.grad, at, n, wide[1]), {}, n};
    if (t.master) {
      b.param = t.master + at;
      (call.param == kHalf ? follow_param<Half> : follow_param<BFloat16>)(b.param, t.param, at, n);
    } else {
      b.param = as_float(call.param, t.param, at, n, wide[0]);
    }
    for (int i = 0; i < UpdateTensor::kMaxStates; ++i)
      if (used >> i & 1) b.state[i] = as_float(call.state, t.state[i], at, n, wide[2 + i]);
    fn(b);
    store_float(call.param, t.param, at, n, b.param);
    for (int i = 0; i < UpdateTensor::kMaxStates; ++i)
      if (used >> i & 1) store_float(call.state, t.state[i], at, n, b.state[i]);
  }
}

/// The part of a plain tensor that begins with element `from`.
template <unsigned used, class T>
UpdateBlock<T> plain_block(const UpdateTensor& t, const T* grad, int64_t from, int64_t size) {
  UpdateBlock<T> b{static_cast<T*>(t.param) + from, grad, {}, size};
  for (int i = 0; i < UpdateTensor::kMaxStates; ++i)
    if (used >> i & 1) b.state[i] = static_cast<T*>(t.state[i]) + from;
  return b;
}

/// The gradient is made where it is used, parts of its rows at a time.
template <unsigned used, class T, class F>
void for_outer_blocks(const UpdateCall& call, const UpdateTensor& t, int64_t from, int64_t to, const F& fn) {
  constexpr int64_t kBlock = 1024;
  alignas(64) T grad[kBlock];
  for (int64_t at = from, n = 0; at < to; at += n) {
    const int64_t row = at / call.width, col = at % call.width;
    n = std::min({kBlock, call.width - col, to - at});
    outer_row(static_cast<const T*>(call.left)[row], static_cast<const T*>(call.right) + col, n, grad);
    fn(plain_block<used, T>(t, grad, at, n));
  }
}

/// Calls fn(UpdateBlock<T>&) on elements [from, to) of a tensor. T: double, or float for all other dtypes.
template <unsigned used, class T, class F>
void for_blocks(const UpdateCall& call, const UpdateTensor& t, int64_t from, int64_t to, const F& fn) {
  if constexpr (std::is_same_v<T, float>) {
    const bool plain = call.param == kFloat && call.grad == kFloat && (call.state == kFloat || used == 0);
    if (!plain) return for_mixed_blocks<used>(call, t, from, to, fn);
  }
  if (call.left) return for_outer_blocks<used, T>(call, t, from, to, fn);
  fn(plain_block<used, T>(t, static_cast<const T*>(t.grad) + from, from, to - from));
}

/// Calls fn on all tensors together, or one after the other where they share memory.
template <class F>
void in_turn_if_shared(const UpdateCall& call, ArrayRef<UpdateTensor> tensors, const F& fn) {
  const size_t itemsize = call.param == kDouble ? 8 : call.param == kFloat ? 4 : 2;
  if (!overlap(tensors, itemsize)) return fn(tensors);
  for (const auto& t : tensors) fn(ArrayRef<UpdateTensor>(t));
}

}  // namespace hb::cpu::HB_ISA
