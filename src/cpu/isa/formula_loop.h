#pragma once

#include <algorithm>
#include <type_traits>

#include "cpu/isa/convert_element.h"
#include "cpu/isa/elementwise.h"
#include "cpu/isa/formula_steps.h"
#include "cpu/isa/isa.h"
#include "cpu/isa/vec.h"
#include "formulas/binary_formulas.h"
#include "formulas/unary_formulas.h"

namespace hb::cpu::HB_ISA {

/// Whether a formula of two operands has quick(a, b, right): vector code that is right for nearly all operands and says
/// whether it is.
template <class F, class T>
constexpr bool has_quick = requires(T a, bool right) {
  F::quick(a, a, right);
};

/// Whether a quick form may call the C library, whose vector functions round otherwise than the others: a block is
/// filled up to whole vectors then.
template <class F>
constexpr bool fills_blocks = F::cost >= 64;

/// The quick form of `filled` operands where it is right for all of them, else the plain one; m are wanted.
template <class F, int64_t kBlock, class T, class A, class B>
inline __attribute__((always_inline)) void quick_block(T* y, const A& a, const B& b, int64_t m, int64_t filled,
                                                       const T* p) {
  using Count = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  T quick[kBlock];  // not in y: operands may stand there
  Count wrong = 0;
  // Where y is not in the caches, its lines are fetched during the divisions and not after them.
  for (int64_t i = 0; i < m; i += 64 / sizeof(T)) __builtin_prefetch(y + i, 1);
  for (int64_t i = 0; i < filled; ++i) {
    bool right = true;
    quick[i] = F::quick(a(i), b(i), right);
    wrong += right ? 0 : 1;
  }
  if (wrong) {
    for (int64_t i = 0; i < m; ++i) y[i] = F::template apply<T>(p, a(i), b(i));
  } else {
    std::copy_n(quick, m, y);
  }
}

/// Blocks in which the quick form is right for all operands are computed by it.
template <class F, class T, class A, class B>
void quick_loop(T* y, const A& a, const B& b, int64_t n, const T* p) {
  constexpr int64_t kBlock = 256, kWhole = 16;
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t m = std::min(kBlock, n - at);
    if constexpr (fills_blocks<F>) {
      const int64_t filled = (m + kWhole - 1) / kWhole * kWhole;
      T first[kBlock], second[kBlock];
      for (int64_t i = 0; i < m; ++i) first[i] = a[at + i], second[i] = b[at + i];
      std::fill(first + m, first + filled, first[m - 1]), std::fill(second + m, second + filled, second[m - 1]);
      quick_block<F, kBlock>(
          y + at, [&](int64_t i) { return first[i]; }, [&](int64_t i) { return second[i]; }, m, filled, p);
    } else {
      quick_block<F, kBlock>(
          y + at, [&](int64_t i) { return a[at + i]; }, [&](int64_t i) { return b[at + i]; }, m, m, p);
    }
  }
}

/// Whether a formula of one operand has a form in_range(a) for numbers that it covers.
template <class F, class T>
constexpr bool has_range = requires(T a) {
  F::covers(a);
};
/// Whether other numbers are computed one by one, however many they are: the formula becomes no vector code there.
template <class F>
constexpr bool is_one_by_one = requires {
  F::one_by_one;
};

/// Blocks of which all numbers are in the range, or all but a few, are computed by that form, to the same bits.
template <class F, class T>
void range_loop(T* y, const T* a, int64_t n, const T* p) {
  constexpr int64_t kBlock = 512, kFew = is_one_by_one<F> ? kBlock : 8;
  using Count = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  for (; n > 0; n -= kBlock, y += kBlock, a += kBlock) {
    const int64_t m = std::min(kBlock, n);
    Count beyond = 0;
    for (int64_t i = 0; i < m; ++i) beyond += F::covers(a[i]) ? 0 : 1;
    if (beyond > kFew) {
      HB_INDEPENDENT
      for (int64_t i = 0; i < m; ++i) y[i] = F::template apply<T>(p, a[i]);
      continue;
    }
    T few[kFew];
    int64_t where[kFew], found = 0;
    for (int64_t i = 0; found < beyond; ++i)
      if (!F::covers(a[i])) few[found] = F::template apply<T>(p, a[i]), where[found++] = i;
    HB_INDEPENDENT
    for (int64_t i = 0; i < m; ++i) y[i] = F::in_range(a[i]);
    for (int64_t k = 0; k < found; ++k) y[where[k]] = few[k];
  }
}

/// Whether a formula has on_bits(operands…): what it does to the bits of any number of a width.
template <class F, class T>
constexpr bool has_bits = requires(T a) {
  F::on_bits(a);
}
|| requires(T a) { F::on_bits(a, a); };

/// Whether operands may be one value for all: of cheap formulas of one operation or of choices alone. The compiler
/// would join other products with sums where a part does not change along the loop, and so round otherwise.
template <class F>
constexpr bool may_share = is_cheap<F>&& F::params == 0 &&
                           (F::inputs == 2 || (F::inputs == 3 && F::kinds != formula::Kinds::floats));
/// A product that is added to something: either factor may be one value. With both the compiler would round otherwise.
template <class F>
constexpr bool may_share_factor = requires {
  F::adds_product;
};
/// The sets, as a set of bits: none, and of the operands behind the first, or of two operands either.
template <class F>
constexpr unsigned shared_sets = may_share_factor<F> ? 0b10101
                                 : !may_share<F>     ? 1
                                 : F::inputs == 2    ? 0b111
                                                     : 0b1010101;

/// Calls f(constant), constant being the set of shared operands.
template <class F, class Body>
inline void with_shared(unsigned shared, const Body& body) {
  constexpr unsigned sets = shared_sets<F>;
  if constexpr (sets != 1) {
    if (shared == 2) return body(std::integral_constant<unsigned, 2>());
    if constexpr (F::inputs == 2) {
      if (shared == 1) return body(std::integral_constant<unsigned, 1>());
    } else {
      if (shared == 4) return body(std::integral_constant<unsigned, 4>());
      if constexpr ((sets >> 6 & 1) != 0)
        if (shared == 6) return body(std::integral_constant<unsigned, 6>());
    }
  }
  body(std::integral_constant<unsigned, 0>());
}

/// Values of operand k as they are computed with: loaded once where all share one, which of bf16 is a float.
template <class T, bool kShared>
struct Values {
  const T* at;
  T first;
  explicit Values(const T* p) : at(p), first(kShared ? p[0] : T()) {}
  inline __attribute__((always_inline)) T operator[](int64_t i) const { return kShared ? first : at[i]; }
};
template <bool kShared>
struct Values<BFloat16, kShared> {
  const uint16_t* at;
  float first;
  explicit Values(const BFloat16* p)
      : at(reinterpret_cast<const uint16_t*>(p)), first(kShared ? *reinterpret_cast<const float*>(p) : 0) {}
  inline __attribute__((always_inline)) float operator[](int64_t i) const {
    return kShared ? first : std::bit_cast<float>(static_cast<uint32_t>(at[i]) << 16);
  }
};
template <class T>
struct Results {
  T* at;
  inline __attribute__((always_inline)) void put(int64_t i, T value) const { at[i] = value; }
};
template <>
struct Results<BFloat16> {
  BFloat16* at;
  inline __attribute__((always_inline)) void put(int64_t i, float value) const {
    reinterpret_cast<uint16_t*>(at)[i] = bf16_bits(value);
  }
};

/// y[i] = value(i) for all i; `lines`: where values are so cheap that writing them takes the time.
template <bool lines, class T, class Value>
inline __attribute__((always_inline)) void put_all(const Results<T>& y, int64_t n, const Value& value) {
  int64_t done = 0;
  if constexpr (std::is_same_v<T, BFloat16>) done = store_bf16_runs(y.at, n, value);
  if constexpr (lines) {
    HB_INDEPENDENT_LINES
    for (int64_t i = done; i < n; ++i) y.put(i, value(i));
  } else {
    HB_INDEPENDENT
    for (int64_t i = done; i < n; ++i) y.put(i, value(i));
  }
}

/// n results of operands, of which `shared` are one value; p: the parameters as they are computed with.
template <class F, unsigned shared, bool lines = is_cheap<F>, class T, class C>
inline __attribute__((always_inline)) void plain_loop(T* out, const T* const* in, int64_t n, const C* p) {
  const Results<T> y{out};
  const Values<T, (shared & 1) != 0> a(in[0]);
  if constexpr (F::inputs == 1) {
    if constexpr (has_range<F, T>) return range_loop<F>(out, in[0], n, p);
    put_all<lines>(
        y, n, [&](int64_t i) __attribute__((always_inline)) { return F::template apply<C>(p, a[i]); });
  } else {
    const Values<T, (shared & 2) != 0> b(in[1]);
    if constexpr (F::inputs == 2) {
      if constexpr (has_quick<F, T>) return quick_loop<F>(out, a, b, n, p);
      put_all<lines>(
          y, n, [&](int64_t i) __attribute__((always_inline)) { return F::template apply<C>(p, a[i], b[i]); });
    } else {
      const Values<T, (shared & 4) != 0> c(in[2]);
      put_all<lines>(
          y, n, [&](int64_t i) __attribute__((always_inline)) { return F::template apply<C>(p, a[i], b[i], c[i]); });
    }
  }
}

/// Whether bf16 is computed by way of floats, a run at a time: where widening stands in the formula's loop, the
/// compiler takes its comparisons of numbers for choices among bits, and they become several instructions. Of dearer
/// formulas AVX2 has too few registers for a run.
template <class F>
constexpr bool by_runs = kIsaLevel >= 4 || is_cheap<F>;

/// Whole runs; says how many numbers they have. Their length is known to the compiler, which keeps them in registers.
template <class F, unsigned shared>
int64_t bf16_by_runs(BFloat16* out, const BFloat16* const* in, int64_t n, const float* params) {
  constexpr int64_t kRun = 128, kPairs = kRun / 2;
  float p[F::params + 1];  // here, where the compiler sees that to read one that is not chosen does no harm
  std::copy_n(params, F::params, p);
  alignas(64) float wide[F::inputs][kRun], computed[kRun];
  const float* operands[F::inputs];
  for (int k = 0; k < F::inputs; ++k) {
    operands[k] = wide[k];
    if (shared >> k & 1) wide[k][0] = *reinterpret_cast<const float*>(in[k]);
  }
  int64_t at = 0;
  for (; at + kRun <= n; at += kRun) {
    for (int k = 0; k < F::inputs; ++k) {
      if (shared >> k & 1) continue;
      const auto* pairs = reinterpret_cast<const Bf16Pair*>(in[k] + at);
      for (int64_t i = 0; i < kPairs; ++i) wide[k][i] = low_of(pairs[i]), wide[k][kPairs + i] = high_of(pairs[i]);
    }
    plain_loop<F, shared, false>(computed, operands, kRun, p);
    auto* pairs = reinterpret_cast<Bf16Pair*>(out + at);
    HB_INDEPENDENT
    for (int64_t i = 0; i < kPairs; ++i) pairs[i] = pair_of(computed[i], computed[kPairs + i]);
  }
  return at;
}

/// f16 by way of floats, a vector at a time in registers: the compiler vectorises no conversions of f16. What remains
/// is filled up to a vector.
template <class F, unsigned shared>
void half_loop(Half* out, const Half* const* in, int64_t n, const float* params) {
  float p[F::params + 1];  // as above
  std::copy_n(params, F::params, p);
  const auto compute = [&](Half * to, const Half* const* from) __attribute__((always_inline)) {
    alignas(64) float wide[F::inputs][kHalfLanes], computed[kHalfLanes];
    const float* operands[F::inputs];
    for (int k = 0; k < F::inputs; ++k) {
      operands[k] = shared >> k & 1 ? reinterpret_cast<const float*>(in[k]) : wide[k];
      if (!(shared >> k & 1)) load_lanes(from[k], wide[k]);
    }
    plain_loop<F, shared, false>(computed, operands, kHalfLanes, p);
    store_lanes(computed, to);
  };
  const Half* from[F::inputs];
  int64_t at = 0;
  for (; at + kHalfLanes <= n; at += kHalfLanes) {
    for (int k = 0; k < F::inputs; ++k) from[k] = in[k] + at;
    compute(out + at, from);
  }
  if (at == n) return;
  Half rest[F::inputs + 1][kHalfLanes] = {};
  for (int k = 0; k < F::inputs; ++k) {
    if (!(shared >> k & 1)) std::copy_n(in[k] + at, n - at, rest[k]);
    from[k] = rest[k];
  }
  compute(rest[F::inputs], from);
  std::copy_n(rest[F::inputs], n - at, out + at);
}

/// Calls row(result, operands) for each row.
template <int inputs, class T, class Row>
inline __attribute__((always_inline)) void each_row(T* out, const T* const* in, const FormulaRows& rows,
                                                    const Row& row) {
  const T* operands[inputs];
  std::copy_n(in, inputs, operands);
  for (int64_t left = rows.count;;) {
    row(out, operands);
    if (--left == 0) return;
    out = reinterpret_cast<T*>(reinterpret_cast<char*>(out) + rows.steps[0]);
    for (int k = 0; k < inputs; ++k)
      operands[k] = reinterpret_cast<const T*>(reinterpret_cast<const char*>(operands[k]) + rows.steps[k + 1]);
  }
}

/// The loop of a formula. The results may stand where an operand stands.
template <class F, class T>
void formula_loop(T* const* out, const T* const* in, int64_t n, const double* params, const FormulaRows& rows) {
  using C = std::conditional_t<is_half_v<T>, float, T>;
  C p[F::params + 1];
  for (int i = 0; i < F::params; ++i) p[i] = static_cast<C>(params[i]);
  with_shared<F>(
      rows.shared, [&](auto shared) __attribute__((always_inline)) {
        each_row<F::inputs>(
            out[0], in, rows, [&](T * y, const T* const* x) __attribute__((always_inline)) {
              if constexpr (std::is_same_v<T, Half>) {
                half_loop<F, shared.value>(y, x, n, p);
              } else if constexpr (std::is_same_v<T, BFloat16> && by_runs<F>) {
                const int64_t done = bf16_by_runs<F, shared.value>(y, x, n, p);
                const T* rest[F::inputs];
                for (int k = 0; k < F::inputs; ++k) rest[k] = x[k] + (shared.value >> k & 1 ? 0 : done);
                plain_loop<F, shared.value>(y + done, rest, n - done, p);
              } else {
                plain_loop<F, shared.value>(y, x, n, p);
              }
            });
      });
}

template <class F, class T>
void bits_loop(T* const* out, const T* const* in, int64_t n, const double*, const FormulaRows& rows) {
  each_row<F::inputs>(
      out[0], in, rows, [&](T * y, const T* const* x) __attribute__((always_inline)) {
        const T* a = x[0];
        if constexpr (F::inputs == 1) {
          HB_INDEPENDENT_LINES
          for (int64_t i = 0; i < n; ++i) y[i] = F::on_bits(a[i]);
        } else {
          const T* b = x[1];
          HB_INDEPENDENT_LINES
          for (int64_t i = 0; i < n; ++i) y[i] = F::on_bits(a[i], b[i]);
        }
      });
}

/// Whether a value's bits depend on where it stands: the compiler calls functions of the C library for whole vectors,
/// and others for what remains, or joins other products with sums. Cheaper formulas are exact or one operation, and
/// dearer ones are computed element by element, with few exceptions.
template <class F>
constexpr bool wants_whole_vectors = F::cost >= 8 && F::cost <= 16 && !has_quick<F, float>;
/// Whether one pass over half types pays: a conversion by itself takes as long as the formula.
template <class F>
constexpr bool has_halves = F::kinds != formula::Kinds::ints && (is_cheap<F> || formula::own_arithmetic<F>);

/// Formulas that say whether something holds.
template <class F>
constexpr bool is_truth = std::is_same_v<F, formula::eq> || std::is_same_v<F, formula::ne> ||
                          std::is_same_v<F, formula::logical_and> || std::is_same_v<F, formula::logical_or> ||
                          std::is_same_v<F, formula::logical_xor> || std::is_same_v<F, formula::logical_not>;
/// Whether narrow integers are computed as they are: sums and products, of which the low bits do not depend on others,
/// and what compares bits.
template <class F>
constexpr bool has_narrow = formula::modular<F>&& is_cheap<F>&& F::params == 0 && F::kinds == formula::Kinds::numbers;

template <class F>
constexpr ElementwiseFn make_formula(const char* name) {
  ElementwiseFn fn;
  fn.name = name;
  fn.cost = F::cost;
  fn.modular = formula::modular<F>;
  fn.wants_whole_vectors = wants_whole_vectors<F>;
  if constexpr (F::kinds == formula::Kinds::numbers || F::kinds == formula::Kinds::field)
    fn.c64 = formula_loop<F, Complex<float>>, fn.c128 = formula_loop<F, Complex<double>>;
  if constexpr (F::kinds != formula::Kinds::ints) fn.f32 = formula_loop<F, float>, fn.f64 = formula_loop<F, double>;
  if constexpr (F::kinds != formula::Kinds::floats && F::kinds != formula::Kinds::field)
    fn.i64 = formula_loop<F, int64_t>;
  if constexpr (has_halves<F>) fn.bf16 = formula_loop<F, BFloat16>, fn.f16 = formula_loop<F, Half>;
  if constexpr (has_bits<F, int16_t> && F::kinds != formula::Kinds::ints) fn.half_bits = bits_loop<F, int16_t>;
  if constexpr (has_bits<F, int8_t> && F::kinds == formula::Kinds::ints)
    fn.byte_bits = bits_loop<F, int8_t>, fn.i32 = formula_loop<F, int32_t>, fn.bool_bytes = true;
  if constexpr (has_narrow<F>) {
    fn.i32 = formula_loop<F, int32_t>;
    fn.byte_bits = formula_loop<F, int8_t>;
    fn.truth = is_truth<F>;
  }
  fn.shared_sets = shared_sets<F>;
  fn.takes_rows = true;
  if constexpr (has_steps<F>) fn.steps = &formula_steps<F>;
  return fn;
}

#define HB_REGISTER_FORMULA(name)                                               \
  HB_REGISTER_ISA(                                                              \
      name##_formula, +[](const ElementwiseCall& call) {                        \
        static constexpr ElementwiseFn fn = make_formula<formula::name>(#name); \
        run_elementwise(fn, call);                                              \
      });

}  // namespace hb::cpu::HB_ISA
