#pragma once

#include <algorithm>
#include <type_traits>

#include "cpu/isa/elementwise.h"
#include "cpu/isa/isa.h"
#include "formulas/unary_formulas.h"

namespace hb::cpu::HB_ISA {

/// Whether a formula of two operands has quick(a, b, right): vector code that is right for nearly all operands and says
/// whether it is.
template <class F, class T>
constexpr bool has_quick = requires(T a, bool right) {
  F::quick(a, a, right);
};

/// Blocks in which the quick form is right for all operands are computed by it.
template <class F, class T>
void quick_loop(T* y, const T* a, const T* b, int64_t n, const T* p) {
  constexpr int64_t kBlock = 256;
  using Count = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t m = std::min(kBlock, n - at);
    T quick[kBlock];  // not in y: operands may stand there
    Count wrong = 0;
    for (int64_t i = 0; i < m; ++i) {
      bool right = true;
      quick[i] = F::quick(a[at + i], b[at + i], right);
      wrong += right ? 0 : 1;
    }
    if (wrong) {
      for (int64_t i = 0; i < m; ++i) y[at + i] = F::template apply<T>(p, a[at + i], b[at + i]);
    } else {
      std::copy_n(quick, m, y + at);
    }
  }
}

/// Whether a formula of one operand has a form in_range(a) for numbers that it covers.
template <class F, class T>
constexpr bool has_range = requires(T a) {
  F::covers(a);
};

/// Blocks of which all numbers are in the range are computed by that form, to the same bits.
template <class F, class T>
void range_loop(T* y, const T* a, int64_t n, const T* p) {
  constexpr int64_t kBlock = 512;
  using Count = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  for (; n > 0; n -= kBlock, y += kBlock, a += kBlock) {
    const int64_t m = std::min(kBlock, n);
    Count beyond = 0;
    for (int64_t i = 0; i < m; ++i) beyond += F::covers(a[i]) ? 0 : 1;
    if (beyond) {
      HB_INDEPENDENT
      for (int64_t i = 0; i < m; ++i) y[i] = F::template apply<T>(p, a[i]);
    } else {
      HB_INDEPENDENT
      for (int64_t i = 0; i < m; ++i) y[i] = F::in_range(a[i]);
    }
  }
}

/// The plain loop of a formula. The results may stand where an operand stands.
template <class F, class T>
void formula_loop(T* const* out, const T* const* in, int64_t n, const double* params) {
  T p[F::params + 1];
  for (int i = 0; i < F::params; ++i) p[i] = static_cast<T>(params[i]);
  T* y = out[0];
  const T* a = in[0];
  if constexpr (F::inputs == 1) {
    if constexpr (has_range<F, T>) return range_loop<F>(y, a, n, p);
    HB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = F::template apply<T>(p, a[i]);
  } else if constexpr (F::inputs == 2) {
    const T* b = in[1];
    if constexpr (has_quick<F, T>) return quick_loop<F>(y, a, b, n, p);
    HB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = F::template apply<T>(p, a[i], b[i]);
  } else {
    const T* b = in[1];
    const T* c = in[2];
    HB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = F::template apply<T>(p, a[i], b[i], c[i]);
  }
}

/// Cheaper formulas are arithmetic, and dearer ones are computed element by element, with few exceptions.
template <class F>
constexpr bool calls_vectors = F::cost >= 8 && F::cost <= 16 && !has_quick<F, float>;
template <>
inline constexpr bool calls_vectors<formula::erfinv> = true;

template <class F>
constexpr ElementwiseFn make_formula(const char* name) {
  ElementwiseFn fn;
  fn.name = name;
  fn.cost = F::cost;
  fn.modular = formula::modular<F>;
  fn.calls_vectors = calls_vectors<F>;
  if constexpr (F::kinds == formula::Kinds::numbers || F::kinds == formula::Kinds::field)
    fn.c64 = formula_loop<F, Complex<float>>, fn.c128 = formula_loop<F, Complex<double>>;
  if constexpr (F::kinds != formula::Kinds::ints) fn.f32 = formula_loop<F, float>, fn.f64 = formula_loop<F, double>;
  if constexpr (F::kinds != formula::Kinds::floats && F::kinds != formula::Kinds::field)
    fn.i64 = formula_loop<F, int64_t>;
  return fn;
}

#define HB_REGISTER_FORMULA(name)                                               \
  HB_REGISTER_ISA(                                                              \
      name##_formula, +[](const ElementwiseCall& call) {                        \
        static constexpr ElementwiseFn fn = make_formula<formula::name>(#name); \
        run_elementwise(fn, call);                                              \
      });

}  // namespace hb::cpu::HB_ISA
