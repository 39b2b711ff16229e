#pragma once
// Runs of neighbouring elements in the type they are computed in. Half types are converted a run at a time, by the
// conversions of vec.h; a loop that converts each element by itself is not vectorised for f16.

#include <array>
#include <vector>

#include "cpu/isa/vec.h"

namespace hb::cpu::HB_ISA {
namespace {

template <class T>
constexpr bool kStoredAsComputed = std::is_same_v<T, compute_t<T>>;

/// n elements as they are computed with: where they lie, or widened into `buffer`.
template <class T>
inline const compute_t<T>* computable(const T* in, compute_t<T>* buffer, int64_t n) {
  if constexpr (kStoredAsComputed<T>) {
    return in;
  } else {
    load(in, buffer, n);
    return buffer;
  }
}

/// Where n results are computed: where they belong, or in `buffer`, from where `finish` rounds them.
template <class T>
inline compute_t<T>* results(T* out, compute_t<T>* buffer) {
  if constexpr (kStoredAsComputed<T>) {
    return out;
  } else {
    return buffer;
  }
}
template <class T>
inline void finish(const compute_t<T>* computed, T* out, int64_t n) {
  if constexpr (!kStoredAsComputed<T>) store(computed, out, n);
}

/// Memory for runs of T whose length only the call knows: none where elements are computed as they are stored.
template <class T>
class RunBuffer {
 public:
  explicit RunBuffer(int64_t n) : memory_(kStoredAsComputed<T> ? 0 : n) {}
  compute_t<T>* data() { return memory_.data(); }

 private:
  std::vector<compute_t<T>> memory_;
};

/// How many rows of n values go together: short ones would be widened with more work around the loops than in them.
inline int64_t rows_together(int64_t n) { return std::max<int64_t>(1, 2048 / std::max<int64_t>(1, n)); }

/// Element-wise over n elements: fn(results, operands, at, count) for runs that begin at element `at`.
template <class T, size_t N, class F>
inline void over_runs(int64_t n, T* out, const std::array<const T*, N>& in, const F& fn) {
  if constexpr (kStoredAsComputed<T>) {
    fn(out, in, int64_t{0}, n);
  } else {
    using C = compute_t<T>;
    constexpr int64_t kRun = 512;
    C wide[N][kRun], computed[kRun];
    std::array<const C*, N> operands;
    for (size_t k = 0; k < N; ++k) operands[k] = wide[k];
    for (int64_t at = 0; at < n; at += kRun) {
      const int64_t count = std::min(kRun, n - at);
      for (size_t k = 0; k < N; ++k) load(in[k] + at, wide[k], count);
      fn(computed, operands, at, count);
      store(computed, out + at, count);
    }
  }
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
