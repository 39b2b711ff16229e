#pragma once
// Element-wise functions of neighbours that are stored as half types.

#include <utility>

#include "cpu/isa/convert_element.h"
#include "cpu/isa/vec.h"

namespace hb::cpu::HB_ISA {
namespace {

/// out[i] = value(in[i]…) for n neighbours: two at a time, where they lie. `out` may be one of the operands.
template <class Value, class... In>
inline __attribute__((always_inline)) void map_pairs(int64_t n, BFloat16* out, const Value& value, const In*... in) {
  const auto pair = [](const BFloat16* p, int64_t i) { return reinterpret_cast<const Bf16Pair*>(p)[i]; };
  auto* to = reinterpret_cast<Bf16Pair*>(out);
  HB_INDEPENDENT
  for (int64_t i = 0; i < n / 2; ++i) to[i] = pair_of(value(low_of(pair(in, i))...), value(high_of(pair(in, i))...));
  if (n % 2) out[n - 1] = narrow<BFloat16>(value(widen(in[n - 1])...));
}

/// The same of f16: a vector at a time.
template <class Value, class... In>
inline __attribute__((always_inline)) void map_pairs(int64_t n, Half* out, const Value& value, const In*... in) {
  int64_t i = 0;
  for (; i + kHalfLanes <= n; i += kHalfLanes) {
    float x[sizeof...(In)][kHalfLanes], y[kHalfLanes];
    int k = 0;
    (load_lanes(in + i, x[k++]), ...);
    [&]<size_t... operand>(std::index_sequence<operand...>) __attribute__((always_inline)) {
      HB_INDEPENDENT
      for (int64_t j = 0; j < kHalfLanes; ++j) y[j] = value(x[operand][j]...);
    }
    (std::index_sequence_for<In...>());
    store_lanes(y, out + i);
  }
  for (; i < n; ++i) out[i] = narrow<Half>(value(widen(in[i])...));
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
