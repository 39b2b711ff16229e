// Check and unscale of gradients in one pass.

#include "backend/amp.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <type_traits>

#include "cpu/isa/convert_element.h"
#include "cpu/isa/tensor_ranges.h"
#include "cpu/isa/vec.h"

namespace hb::cpu::HB_ISA {
namespace {

/// The bits of T: what is left without the sign is at least kInf exactly for infinities and NaN.
template <class T>
struct Bits;
template <>
struct Bits<float> {
  using Int = int32_t;
  static constexpr Int kInf = 0x7f800000;
};
template <>
struct Bits<double> {
  using Int = int64_t;
  static constexpr Int kInf = 0x7ff0000000000000;
};
template <>
struct Bits<Half> {
  using Int = int16_t;
  static constexpr Int kInf = 0x7c00;
};
template <>
struct Bits<BFloat16> {
  using Int = int16_t;
  static constexpr Int kInf = 0x7f80;
};

/// The largest magnitude, as bits.
template <class T>
typename Bits<T>::Int largest(const T* values, int64_t n) {
  using Int = typename Bits<T>::Int;
  const Int* bits = reinterpret_cast<const Int*>(values);
  constexpr Int kMagnitude = std::numeric_limits<Int>::max();
  Int top = 0;
  for (int64_t i = 0; i < n; ++i) top = std::max<Int>(top, bits[i] & kMagnitude);
  return top;
}

template <class T>
bool finite(const T* values, int64_t n) {
  return largest(values, n) < Bits<T>::kInf;
}

/// Small enough to be in the first-level cache when the products are made after the look.
constexpr int64_t kCheckBlock = 1024;

template <class T>
void scale_block(T* values, int64_t n, float factor) {
  if constexpr (is_half_v<T>) {
    alignas(64) float wide[kCheckBlock];
    convert_run(wide, values, n);
    HB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) wide[i] *= factor;
    convert_run(values, wide, n);
  } else {
    HB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) values[i] *= static_cast<T>(factor);
  }
}

template <class T>
void check_unscale(ArrayRef<GradSpan> grads, const float* inv_scale, float* found_inf) {
  const int threads = threads_for(total_units(grads), kGrain / kUnit);
  for_ranges(grads, threads, [&](const GradSpan& grad, int64_t from, int64_t to) {
    T* values = static_cast<T*>(grad.data);
    bool good = true;
    for (int64_t at = from; at < to; at += kCheckBlock) {
      const int64_t n = std::min(kCheckBlock, to - at);
      good = finite(values + at, n) && good;
      if (inv_scale) scale_block(values + at, n, *inv_scale);
      if (!good && !inv_scale) break;
    }
    if (!good) std::atomic_ref<float>(*found_inf).store(1.0f, std::memory_order_relaxed);
  });
}

void check_unscale_any(ScalarType dtype, ArrayRef<GradSpan> grads, const float* inv_scale, float* found_inf) {
  HB_FLOATING_SWITCH("_amp_foreach_non_finite_check_and_unscale_", dtype,
                     [&](auto t) { check_unscale<decltype(t)>(grads, inv_scale, found_inf); });
}

HB_REGISTER_ISA(check_unscale_kernel, check_unscale_any);

}  // namespace
}  // namespace hb::cpu::HB_ISA
