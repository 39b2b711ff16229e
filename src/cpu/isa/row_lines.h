#pragma once
// A row of results, element by element, that may be short.

#include "cpu/isa/lanes.h"

namespace hb::cpu::HB_ISA {
namespace {

/// out[i] = of(in[i]...), of vectors as of numbers. Whole lines of the cache are written at once; `out` may be one of
/// the rows that are read.
template <class C, class Of, class... In>
inline __attribute__((always_inline)) void write_row(C* out, int64_t n, const Of& of, const In*... in) {
  constexpr int64_t line = 64 / sizeof(C), parts = line / kLanes<C>;
  int64_t i = 0;
  for (; i + line <= n; i += line) {
    Vector<C> v[parts];
    for (int64_t p = 0; p < parts; ++p) v[p] = of(load<C>(in + i + p * kLanes<C>)...);
    for (int64_t p = 0; p < parts; ++p) store<C>(out + i + p * kLanes<C>, v[p]);
  }
  HB_INDEPENDENT
  for (int64_t rest = i; rest < n; ++rest) out[rest] = of(in[rest]...);
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
