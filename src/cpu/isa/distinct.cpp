// Runs of equal neighbours.
#include "backend/distinct.h"

#include <immintrin.h>

#include <array>
#include <cstring>
#include <type_traits>

#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {
namespace {

#ifdef __AVX512F__
using Word = __m512i;
inline Word loaded(const void* x) { return _mm512_loadu_si512(x); }
/// Bits of the lanes in which two vectors of T differ.
template <class T>
inline uint32_t differing(Word v, Word w) {
  if constexpr (std::is_same_v<T, float>)
    return _mm512_cmp_ps_mask(_mm512_castsi512_ps(v), _mm512_castsi512_ps(w), _CMP_NEQ_UQ);
  else if constexpr (std::is_same_v<T, double>)
    return _mm512_cmp_pd_mask(_mm512_castsi512_pd(v), _mm512_castsi512_pd(w), _CMP_NEQ_UQ);
  else if constexpr (sizeof(T) == 4)
    return _mm512_cmpneq_epi32_mask(v, w);
  else
    return _mm512_cmpneq_epi64_mask(v, w);
}
/// Writes a vector whose lanes of a set stand at its front.
template <class T>
inline void put_in_front(T* to, Word v, uint32_t set) {
  if constexpr (sizeof(T) == 4)
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(static_cast<__mmask16>(set), v));
  else
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(static_cast<__mmask8>(set), v));
}
#else
using Word = __m256i;
inline Word loaded(const void* x) { return _mm256_loadu_si256(static_cast<const __m256i*>(x)); }
template <class T>
inline uint32_t differing(Word v, Word w) {
  if constexpr (std::is_same_v<T, float>)
    return static_cast<uint32_t>(
        _mm256_movemask_ps(_mm256_cmp_ps(_mm256_castsi256_ps(v), _mm256_castsi256_ps(w), _CMP_NEQ_UQ)));
  else if constexpr (std::is_same_v<T, double>)
    return static_cast<uint32_t>(
        _mm256_movemask_pd(_mm256_cmp_pd(_mm256_castsi256_pd(v), _mm256_castsi256_pd(w), _CMP_NEQ_UQ)));
  else if constexpr (sizeof(T) == 4)
    return 255u & ~static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(v, w))));
  else
    return 15u & ~static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(v, w))));
}

/// For each set of lanes where words of 32 bits come from when those lanes move to the front; a lane has kWords.
template <int kWords>
constexpr auto lanes_to_front() {
  constexpr int kLanes = 8 / kWords;
  std::array<std::array<uint8_t, 8>, 1 << kLanes> from{};
  for (unsigned set = 0; set < from.size(); ++set) {
    int to = 0;
    for (int lane = 0; lane < kLanes; ++lane)
      for (int word = 0; (set >> lane & 1) && word < kWords; ++word)
        from[set][to++] = static_cast<uint8_t>(lane * kWords + word);
  }
  return from;
}
template <class T>
inline void put_in_front(T* to, Word v, uint32_t set) {
  static constexpr auto kFrom = lanes_to_front<sizeof(T) / 4>();
  int64_t words;
  std::memcpy(&words, kFrom[set].data(), sizeof words);
  const __m256i moved = _mm256_permutevar8x32_epi32(v, _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(words)));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), moved);
}
#endif

/// Moves elements of `in` that differ from the one before them up to the front of `values`, which the first stands at,
/// by whole vectors: what is written after them is overwritten or nobody's. Returns where it stopped.
template <class T>
int64_t move_first_of_runs(T* values, const T* in, int64_t n, int64_t& run) {
  constexpr int64_t w = sizeof(Word) / sizeof(T);
  int64_t i = 1;
  if (i + w > n) return i;
  const auto move = [&](Word v, Word before) {
    const uint32_t first = differing<T>(v, before);
    put_in_front(values + run + 1, v, first);
    run += __builtin_popcount(first);
  };
  Word v = loaded(in + i), before = loaded(in + i - 1);
  // The next vectors are read before these are written: both often begin at the same place of a page, and a load waits
  // for a store to such a place.
  for (; i + 2 * w <= n; i += w) {
    const Word next = loaded(in + i + w), before_next = loaded(in + i + w - 1);
    move(v, before);
    v = next, before = before_next;
  }
  move(v, before);
  return i + w;
}

template <class T>
int64_t runs(T* values, int64_t* inverse, int64_t* counts, const T* in, int64_t n) {
  if (n == 0) return 0;
  // Without branches, which nobody could foretell: a value is written where the next run would begin, and stays there
  // if one does. Counts are places of the ends at first.
  int64_t run = 0;
  values[0] = in[0];
  if (!inverse && !counts) {
    int64_t i = 1;
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) i = move_first_of_runs(values, in, n, run);
    for (; i < n; ++i) {
      values[run + 1] = in[i];
      run += in[i] != in[i - 1];
    }
    return run + 1;
  }
  if (inverse) inverse[0] = 0;
  if (counts) counts[0] = 1;
  for (int64_t i = 1; i < n; ++i) {
    values[run + 1] = in[i];
    run += in[i] != in[i - 1];
    if (inverse) inverse[i] = run;
    if (counts) counts[run] = i + 1;
  }
  if (counts)
    for (int64_t k = run; k > 0; --k) counts[k] -= counts[k - 1];
  return run + 1;
}

int64_t* indices(const Tensor& t) { return t.defined() ? static_cast<int64_t*>(t.impl().raw_data()) : nullptr; }

int64_t distinct(const Tensor& values, const Tensor& inverse, const Tensor& counts, const Tensor& in) {
  switch (in.scalar_type()) {
#define HB_CASE(T, Name)                                                                      \
  case ScalarType::Name:                                                                      \
    return runs(static_cast<T*>(values.impl().raw_data()), indices(inverse), indices(counts), \
                static_cast<const T*>(in.impl().raw_data()), in.numel());
    HB_FORALL_REAL_DTYPES(HB_CASE)
    HB_FORALL_WIDE_UNSIGNED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[unique] is not supported for dtype ", in.scalar_type());
  }
}
HB_REGISTER_ISA(distinct_kernel, distinct);

}  // namespace
}  // namespace hb::cpu::HB_ISA
