#pragma once
// The loop of a formula for one dtype, as a runner calls it.
#include <algorithm>
#include <type_traits>

#include "cpu/isa/elementwise.h"
#include "cpu/isa/lanes.h"
#include "cpu/isa/vec.h"
#include "formulas/compared.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int kMax = Loop::kMaxOperands;

template <class T>
FormulaLoop<T> formula_of(const ElementwiseFn& fn) {
  FormulaLoop<T> f;
  if constexpr (std::is_same_v<T, float>) f = fn.f32;
  if constexpr (std::is_same_v<T, double>) f = fn.f64;
  if constexpr (std::is_same_v<T, Complex<float>>) f = fn.c64;
  if constexpr (std::is_same_v<T, Complex<double>>) f = fn.c128;
  if constexpr (std::is_same_v<T, int64_t>) f = fn.i64;
  if constexpr (std::is_same_v<T, BFloat16>) f = fn.bf16;
  if constexpr (std::is_same_v<T, Half>) f = fn.f16;
  if constexpr (std::is_same_v<T, int32_t>) f = fn.i32;
  if constexpr (std::is_same_v<T, int16_t>) f = fn.half_bits;
  if constexpr (std::is_same_v<T, int8_t>) f = fn.byte_bits;
  if (HB_UNLIKELY(!f)) HB_NOT_SUPPORTED("[", fn.name, "] is not supported for dtype ", dtype_of<T>::value);
  return f;
}

/// A formula's loop, which computes a value to the same bits wherever it stands: where what remains after the last
/// whole vector would be computed otherwise, it is filled up to one.
template <class T>
struct PaddedFormula {
  static constexpr int64_t kLanes =
      std::is_floating_point_v<T> || std::is_same_v<T, BFloat16> ? hb::cpu::HB_ISA::kLanes<T> : 1;
  FormulaLoop<T> formula;
  const double* params;
  int outputs, operands;
  bool whole_vectors, takes_rows;
  unsigned shared_sets;

  PaddedFormula(const ElementwiseFn& fn, const double* p, int out, int all)
      : formula(formula_of<T>(fn)),
        params(p),
        outputs(out),
        operands(all),
        whole_vectors(fn.wants_whole_vectors),
        takes_rows(fn.takes_rows),
        shared_sets(is_complex_v<T> || (sizeof(T) < 4 && !is_half_v<T>) ? 1 : fn.shared_sets) {}

  /// From which length on rows are computed where they lie: shorter ones are brought to buffers in less time. Halves
  /// are computed by runs, or whole vectors, and what remains of each row takes as long as several.
  int64_t least_row(int64_t n, unsigned set) const {
    if (!takes_rows) return 32;
    if (std::is_same_v<T, BFloat16>) return set ? 16 : 128;
    if (std::is_same_v<T, Half>) return n % kHalfLanes != 0 ? 256 : set ? 16 : 32;
    return std::max<int64_t>(8, hb::cpu::HB_ISA::kLanes<T>);
  }
  bool takes_shared(unsigned set) const { return set < 8 && (shared_sets >> set & 1); }
  void operator()(T* const* out, const T* const* in, int64_t n, unsigned shared = 0) const {
    const int64_t rest = whole_vectors ? n % kLanes : 0;
    if (n > rest) formula(out, in, n - rest, params, {shared});
    if (rest) fill_up(out, in, n - rest, rest);
  }
  [[gnu::noinline]] void fill_up(T* const* out, const T* const* in, int64_t from, int64_t rest) const {
    alignas(64) T memory[kMax][kLanes];
    T* padded_out[kMax];
    const T* padded_in[kMax];
    for (int k = 0; k < operands - outputs; ++k) {
      const T* source = in[k] + from;
      for (int64_t i = 0; i < kLanes; ++i) memory[k][i] = source[i < rest ? i : rest - 1];
      padded_in[k] = memory[k];
    }
    for (int k = 0; k < outputs; ++k) padded_out[k] = memory[operands - outputs + k];
    formula(padded_out, padded_in, kLanes, params, {});
    for (int k = 0; k < outputs; ++k) std::copy_n(padded_out[k], rest, out[k] + from);
  }
};

}  // namespace
}  // namespace hb::cpu::HB_ISA
