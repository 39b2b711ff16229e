#pragma once
// Numbers whose order is that of values.

#include <cstdint>
#include <cstring>

#include "backend/sort.h"
#include "cuda/kernel_file.h"

namespace hb::cuda {

/// How the bits of a dtype's elements become keys whose order as unsigned numbers is that of the values.
struct KeyRule {
  bool floating = false;
  uint64_t top = 0;       // the sign's bit; 0: unsigned numbers
  uint64_t infinity = 0;  // of floating types
  int bits = 0;
};
template <class T>
constexpr KeyRule key_rule() {
  KeyRule rule;
  rule.bits = sizeof(T) * 8;
  if constexpr (std::is_unsigned_v<T>) return rule;
  rule.top = uint64_t{1} << (rule.bits - 1);
  rule.floating = !std::is_integral_v<T>;
  rule.infinity = std::is_same_v<T, double>     ? uint64_t{0x7ff} << 52
                  : std::is_same_v<T, float>    ? 0x7f800000
                  : std::is_same_v<T, BFloat16> ? 0x7f80
                                                : 0x7c00;
  return rule;
}
/// NaN is the largest, and there is one; zeros of both signs are apart.
template <class W>
__device__ inline W whole_key_of_bits(W bits, const KeyRule& rule) {
  const W top = static_cast<W>(rule.top);
  if (!rule.floating) return bits ^ top;
  if (static_cast<W>(bits & ~top) > static_cast<W>(rule.infinity)) return static_cast<W>(~W{0});
  return static_cast<W>(bits & top ? ~bits : bits | top);
}
/// Zeros of both signs are equal.
template <class W>
__device__ inline W key_of_bits(W bits, const KeyRule& rule) {
  const W top = static_cast<W>(rule.top);
  return rule.floating && static_cast<W>(bits & ~top) == 0 ? top : whole_key_of_bits(bits, rule);
}

/// The same of a value, whatever its width.
template <class T>
__device__ inline uint64_t key_of(T value) {
  using W = std::conditional_t<
      sizeof(T) == 8, uint64_t,
      std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
  W bits;
  memcpy(&bits, &value, sizeof bits);
  return key_of_bits(bits, key_rule<T>());
}

/// Keys of elements of T; those of bytes have the low bits.
template <class T>
using SortKey = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;

/// The place of an element in shared memory, so that a warp's lanes read and write different banks.
__device__ inline int spread(int i) { return i + i / kWarp; }

/// Calls fn(T()) for the dtypes that have an order.
template <class F>
void with_ordered(const char* name, ScalarType dtype, const F& fn) {
  switch (dtype) {
#define HB_CASE(T, Name)              \
  case ScalarType::Name:              \
    if constexpr (!is_complex_v<T>) { \
      fn(T());                        \
      return;                         \
    }                                 \
    break;
    HB_FORALL_COMPUTED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      break;
  }
  HB_NOT_SUPPORTED("[", name, "] is not supported for dtype ", dtype);
}

}  // namespace hb::cuda
