#pragma once
// What kernels that write where an index points to share.

#include <algorithm>

#include "backend/indexing.h"
#include "cpu/isa/convert_element.h"
#include "cpu/isa/copy_bytes.h"
#include "cpu/isa/map_pairs.h"
#include "cpu/isa/runs.h"
#include "cpu/isa/vec.h"
#include "cpu/scratch.h"

namespace hb::cpu::HB_ISA {
namespace {

/// The first of `count` indices, `step` apart, that is not one of [0, n), or null.
inline const int64_t* find_outside(const int64_t* index, int64_t step, int64_t count, int64_t n) {
  uint64_t signs = 0;  // what is below 0, or takes n - 1 below it, has a sign
  const auto take = [&](int64_t i) { signs |= static_cast<uint64_t>(i) | (static_cast<uint64_t>(n - 1) - i); };
  if (step == 1)
    for (int64_t k = 0; k < count; ++k) take(index[k]);
  else
    for (int64_t k = 0; k < count; ++k) take(index[k * step]);
  if (static_cast<int64_t>(signs) >= 0) return nullptr;
  while (*index >= 0 && *index < n) index += step;
  return index;
}
/// Checks `count` indices that lie `step` apart, into dimension `dim` of `n` elements. As in LibTorch, no IndexError.
inline void check_indices(const char* name, const int64_t* index, int64_t step, int64_t count, int64_t n, int64_t dim) {
  const int64_t* bad = find_outside(index, step, count, n);
  HB_CHECK(!bad, "[", name, "] index ", *bad, " is out of bounds for dimension ", dim, " with size ", n);
}
/// The same for indices of whole rows.
inline void check_rows(const char* name, const int64_t* index, int64_t count, int64_t n, bool is_index_error = true) {
  const int64_t* bad = find_outside(index, 1, count, n);
  if (HB_LIKELY(!bad)) return;
  const std::string text = detail::str("[", name, "] index out of range in self: index ", *bad,
                                       " is out of bounds for a dimension of size ", n);
  HB_CHECK_INDEX(!is_index_error, text);
  HB_CHECK(false, text);
}

inline void check_order(const char* name, ScalarType t, PutOp op) {
  if (is_complex_type(t) && (op == PutOp::max || op == PutOp::min))
    HB_NOT_SUPPORTED("[", name, "] complex numbers have no order: not supported for dtype ", t);
  if (is_wide_unsigned_type(t) && op != PutOp::assign && op != PutOp::add && op != PutOp::multiply)
    HB_NOT_SUPPORTED("[", name, "] is not supported for dtype ", t, ": convert it with to(torch::kLong)");
}

/// Rounded once. In vector registers throughout: moves to others and back would take longer than the arithmetic.
inline BFloat16 sum_of(BFloat16 a, BFloat16 b) {
  const auto widened = [](BFloat16 x) { return _mm_castsi128_ps(_mm_slli_epi32(_mm_cvtsi32_si128(x.x), 16)); };
  const __m128 sum = _mm_add_ss(widened(a), widened(b));
  if (HB_UNLIKELY(_mm_ucomineq_ss(sum, sum))) return std::bit_cast<BFloat16>(uint16_t{0x7fc0});  // NaN
  const __m128i bits = _mm_castps_si128(sum), odd = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_cvtsi32_si128(1));
  const __m128i rounded = _mm_add_epi32(_mm_add_epi32(bits, _mm_cvtsi32_si128(0x7fff)), odd);
  return std::bit_cast<BFloat16>(static_cast<uint16_t>(_mm_extract_epi16(rounded, 1)));
}

/// Whether, as far as the first of the indices tell, most of them repeat the one before.
inline bool mostly_runs(const int64_t* at, int64_t n) {
  const int64_t few = std::min<int64_t>(n, 64);
  int64_t repeated = 0;
  for (int64_t k = 1; k < few; ++k) repeated += at[k] == at[k - 1];
  return 2 * repeated >= few;
}

/// to[at[k]] += from[k] for every k in order, each sum rounded as sum_of rounds it; false, and nothing is changed,
/// where a NaN comes in. The row is kept as floats that are numbers of bf16: a sum that follows another in the same
/// place waits for less than a conversion to memory and back.
inline bool add_at(BFloat16* to, int64_t size, const BFloat16* from, const int64_t* at, int64_t n) {
  auto* row =
      static_cast<float*>(scratch_buffer(Scratch::convert_a, (size + n) * sizeof(float) + size * sizeof(BFloat16)));
  float* added = row + size;
  auto* halves = reinterpret_cast<uint16_t*>(added + n);
  convert_run(row, to, size);
  convert_run(added, from, n);
  const __m128i one = _mm_cvtsi32_si128(1), half = _mm_cvtsi32_si128(0x7fff), kept = _mm_cvtsi32_si128(-0x10000);
  const auto plus = [&](__m128 a, const float* b) {  // NaN stays NaN: its low bits are zero
    const __m128i bits = _mm_castps_si128(_mm_add_ss(a, _mm_load_ss(b)));
    const __m128i odd = _mm_and_si128(_mm_srli_epi32(bits, 16), one);
    return _mm_castsi128_ps(_mm_and_si128(_mm_add_epi32(_mm_add_epi32(bits, half), odd), kept));
  };
  if (!mostly_runs(at, n)) {
    for (int64_t k = 0; k < n; ++k) _mm_store_ss(row + at[k], plus(_mm_load_ss(row + at[k]), added + k));
  } else {  // the sum of a place that comes again and again stays in a register: it does not wait for memory
    for (int64_t k = 0; k < n;) {
      const int64_t place = at[k];
      __m128 sum = _mm_load_ss(row + place);
      for (; k < n && at[k] == place; ++k) sum = plus(sum, added + k);
      _mm_store_ss(row + place, sum);
    }
  }
  uint32_t nan = 0;  // has a sign where one is
  HB_INDEPENDENT
  for (int64_t i = 0; i < size; ++i) {
    const auto bits = std::bit_cast<uint32_t>(row[i]);
    nan |= 0x7f800000u - (bits & 0x7fffffffu);
    halves[i] = static_cast<uint16_t>(bits >> 16);
  }
  if (static_cast<int32_t>(nan) < 0) return false;
  copy_bytes(to, halves, size * sizeof(BFloat16));
  return true;
}
/// Whether add_at() pays for so many sums in a row of `size`.
template <class T>
inline bool adds_at(PutOp op, int64_t size, int64_t n) {
  return std::is_same_v<T, BFloat16> && op == PutOp::add && n >= 16 && 4 * n >= size;
}

/// Whether the extremum of a and b is b: NaN stays.
template <PutOp op, class T>
inline bool takes_over(T a, T b) {
  return (op == PutOp::max ? b > a : b < a) | (b != b);
}

/// b or a, without a branch, which nobody could foretell.
template <class T>
inline T chosen(bool take_b, T b, T a) {
  if constexpr (std::is_integral_v<T>) {
    return take_b ? b : a;
  } else {
    const auto mask = static_cast<BitsOf<T>>(-static_cast<BitsOf<T>>(take_b));
    const auto from_b = std::bit_cast<BitsOf<T>>(b) & mask, from_a = std::bit_cast<BitsOf<T>>(a) & ~mask;
    return std::bit_cast<T>(static_cast<BitsOf<T>>(from_b | from_a));
  }
}

template <class T>
inline T combined(PutOp op, T a, T b) {
  switch (op) {
    case PutOp::add:
      if constexpr (std::is_same_v<T, bool>)
        return a || b;
      else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      else if constexpr (std::is_same_v<T, BFloat16>)
        return sum_of(a, b);
      else
        return a + b;
    case PutOp::multiply:
      if constexpr (std::is_same_v<T, bool>)
        return a && b;
      else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      else
        return a * b;
    case PutOp::max:
      if constexpr (!is_complex_v<T>) return takes_over<PutOp::max>(a, b) ? b : a;
      break;
    case PutOp::min:
      if constexpr (!is_complex_v<T>) return takes_over<PutOp::min>(a, b) ? b : a;
      break;
    default:
      break;
  }
  return b;
}

template <PutOp op, class T>
inline void put_row(T* to, const T* from, int64_t n) {
  if constexpr (is_half_v<T>) {
    if (n == 1) {
      *to = combined(op, *to, *from);
      return;
    }
    map_pairs(
        n, to, [](float a, float b) __attribute__((always_inline)) { return combined(op, a, b); }, to, from);
  } else {
    HB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) to[i] = combined(op, to[i], from[i]);
  }
}
template <class T>
inline void put_row(T* to, const T* from, int64_t n, PutOp op) {
  switch (op) {
    case PutOp::add:
      return put_row<PutOp::add>(to, from, n);
    case PutOp::multiply:
      return put_row<PutOp::multiply>(to, from, n);
    case PutOp::max:
      return put_row<PutOp::max>(to, from, n);
    case PutOp::min:
      return put_row<PutOp::min>(to, from, n);
    default:
      copy_bytes(to, from, n * sizeof(T));
  }
}

/// Calls f with put(place, value): the frequent ones as constants.
template <class T, class F>
inline void with_put(PutOp op, const F& f) {
  if (op == PutOp::assign) return f([](T& place, T value) { place = value; });
  if (op == PutOp::add) return f([](T& place, T value) { place = combined(PutOp::add, place, value); });
  if constexpr (!is_complex_v<T>) {
    const auto put_extremum = [&](auto which) {
      f([](T& place, T value) { place = chosen(takes_over<decltype(which)::value>(place, value), value, place); });
    };
    if (op == PutOp::max) return put_extremum(std::integral_constant<PutOp, PutOp::max>());
    if (op == PutOp::min) return put_extremum(std::integral_constant<PutOp, PutOp::min>());
  }
  f([op](T& place, T value) { place = combined(op, place, value); });
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
