#include "cpu/isa/convert.h"

#include <algorithm>

#include "cpu/isa/convert_element.h"
#include "cpu/isa/copy_bytes.h"
#include "cpu/isa/vec.h"

namespace hb::cpu::HB_ISA {
namespace {

/// int64 to floating-point numbers, for which AVX2 has no instruction. Below 2^51, an integer added to the bits of
/// 1.5 * 2^52 makes those of the sum: what is exact as a double is rounded once. Says how many are done.
template <class To>
int64_t convert_integers(To* to, const int64_t* from, int64_t n) {
  const __m256i half = _mm256_set1_epi64x(int64_t{1} << 51), above = _mm256_set1_epi64x(-(int64_t{1} << 52));
  const __m256d magic = _mm256_set1_pd(0x1.8p52);
  const auto exact = [&](__m256i x) {
    return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(x, _mm256_castpd_si256(magic))), magic);
  };
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + 4));
    if (!_mm256_testz_si256(_mm256_or_si256(_mm256_add_epi64(a, half), _mm256_add_epi64(b, half)), above)) {
      for (int64_t k = i; k < i + 8; ++k) to[k] = static_cast<To>(from[k]);
    } else if constexpr (std::is_same_v<To, double>) {
      _mm256_storeu_pd(to + i, exact(a)), _mm256_storeu_pd(to + i + 4, exact(b));
    } else {
      _mm256_storeu_ps(to + i, _mm256_set_m128(_mm256_cvtpd_ps(exact(b)), _mm256_cvtpd_ps(exact(a))));
    }
  }
  return i;
}

/// Whether numbers of 8 bytes are not 0, for which AVX2 needs several packings: 32 at a time. Says how many are done.
template <class From>
int64_t convert_truth(bool* to, const From* from, int64_t n) {
  const auto zero_of = [](const From* x) {  // all bits where a number is 0
    if constexpr (std::is_same_v<From, double>)
      return _mm256_cmp_pd(_mm256_loadu_pd(x), _mm256_setzero_pd(), _CMP_EQ_OQ);
    else
      return _mm256_castsi256_pd(
          _mm256_cmpeq_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)), _mm256_setzero_si256()));
  };
  const auto pairs = [&](const From* x) {  // of 8: 0 1 4 5 | 2 3 6 7
    return _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castpd_ps(zero_of(x)), _mm256_castpd_ps(zero_of(x + 4)), _MM_SHUFFLE(2, 0, 2, 0)));
  };
  const __m128i one = _mm_set1_epi8(1);
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const From* x = from + i;
    const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(pairs(x), pairs(x + 8)),
                                             _mm256_packs_epi32(pairs(x + 16), pairs(x + 24)));
    const __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
    auto* out = reinterpret_cast<__m128i*>(to + i);
    _mm_storeu_si128(out, _mm_andnot_si128(_mm_unpacklo_epi16(low, high), one));
    _mm_storeu_si128(out + 1, _mm_andnot_si128(_mm_unpackhi_epi16(low, high), one));
  }
  return i;
}

/// Numbers of 4 and 8 bytes from the last to the first, four vectors at a time: alone, a load and a store wait for each
/// other's line. `last` is read first. Says how many are done.
template <class T>
int64_t turn_around(T* to, const T* last, int64_t n) {
  constexpr int64_t lanes = 32 / sizeof(T);
  const __m256i order = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    __m256i x[4];
    for (int k = 0; k < 4; ++k) {
      x[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(last - i - (k + 1) * lanes + 1));
      x[k] = sizeof(T) == 4 ? _mm256_permutevar8x32_epi32(x[k], order) : _mm256_permute4x64_epi64(x[k], 0x1b);
    }
    for (int k = 0; k < 4; ++k) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i + k * lanes), x[k]);
  }
  return i;
}

template <class T>
void fill_lines(T* out, int64_t n, T value) {
  HB_INDEPENDENT_LINES
  for (int64_t i = 0; i < n; ++i) out[i] = value;
}

template <class To, class From>
void one_row(char* to, int64_t ts, const char* from, int64_t fs, int64_t n) {
  auto* out = reinterpret_cast<To*>(to);
  const auto* in = reinterpret_cast<const From*>(from);
  if (ts == sizeof(To) && fs == sizeof(From)) {
    if constexpr (std::is_same_v<To, From>) {
      if (static_cast<const void*>(out) != in) copy_bytes(out, in, n * sizeof(To));
    } else {
      int64_t done = 0;
      if constexpr (kIsaLevel < 4 && std::is_floating_point_v<To> && std::is_same_v<From, int64_t>)
        done = convert_integers(out, in, n);
      if constexpr (kIsaLevel < 4 && std::is_same_v<To, bool> &&
                    (std::is_same_v<From, double> || std::is_same_v<From, int64_t>))
        done = convert_truth(out, in, n);
      if constexpr (std::is_same_v<To, Half> && std::is_same_v<From, float>)
        store(in, out, n);
      else if constexpr (std::is_same_v<To, float> && std::is_same_v<From, Half>)
        load(in, out, n);
      else
        convert_run(out + done, in + done, n - done);
    }
  } else if (fs == 0) {
    const To value = convert<To>(*in);
    if (ts == sizeof(To)) {
      if constexpr (is_half_v<To>)  // classes are not stored by vectors
        fill_lines(reinterpret_cast<uint16_t*>(out), n, value.x);
      else
        fill_lines(out, n, value);
    } else {
      for (int64_t i = 0; i < n; ++i) *reinterpret_cast<To*>(to + i * ts) = value;
    }
  } else if (ts == sizeof(To) && fs == -static_cast<int64_t>(sizeof(From))) {  // turned around
    if constexpr (std::is_same_v<To, From> && is_half_v<To>) {
      const auto* bits = reinterpret_cast<const uint16_t*>(in);
      for (int64_t i = 0; i < n; ++i) reinterpret_cast<uint16_t*>(out)[i] = bits[-i];
    } else {
      int64_t i = 0;
      if constexpr (kIsaLevel < 4 && std::is_same_v<To, From> && (sizeof(To) == 4 || sizeof(To) == 8))
        i = turn_around(out, in, n);
      for (; i < n; ++i) out[i] = convert<To>(in[-i]);
    }
  } else if (std::is_same_v<To, From> && ts == sizeof(To) && fs == 2 * sizeof(From)) {  // a step known to the compiler
    for (int64_t i = 0; i < n; ++i) out[i] = convert<To>(in[2 * i]);
  } else if (ts == sizeof(To)) {
    for (int64_t i = 0; i < n; ++i) out[i] = convert<To>(*reinterpret_cast<const From*>(from + i * fs));
  } else {
    for (int64_t i = 0; i < n; ++i)
      *reinterpret_cast<To*>(to + i * ts) = convert<To>(*reinterpret_cast<const From*>(from + i * fs));
  }
}

/// Rows of a length that the compiler knows: nothing is asked for each.
template <size_t bytes>
void copy_fixed(const RowsAt& to, const RowsAt& from, int64_t count) {
  char* out = to.data;
  const char* in = from.data;
  for (int64_t j = 0; j < count; ++j, out += to.s1, in += from.s1) std::memcpy(out, in, bytes);
}

template <class To, class From>
void all_rows(const RowsAt& to, const RowsAt& from, Rows rows) {
  if constexpr (std::is_same_v<To, From>) {
    if (to.s0 == sizeof(To) && from.s0 == sizeof(To)) {  // the rows of short heads
      if (rows.n0 * sizeof(To) == 32) return copy_fixed<32>(to, from, rows.n1);
      if (rows.n0 * sizeof(To) == 64) return copy_fixed<64>(to, from, rows.n1);
    }
  }
  for (int64_t j = 0; j < rows.n1; ++j)
    one_row<To, From>(to.data + j * to.s1, to.s0, from.data + j * from.s1, from.s0, rows.n0);
}

template <class To>
ConvertRows from_any(ScalarType from) {
  switch (from) {
#define HB_FROM(From, Name) \
  case ScalarType::Name:    \
    return all_rows<To, From>;
    HB_FORALL_COMPUTED_DTYPES(HB_FROM)
#undef HB_FROM
    default:
      HB_NOT_SUPPORTED("[copy_] is not supported for dtype ", from);
  }
}

}  // namespace

ConvertRows convert_rows(ScalarType to, ScalarType from) {
  if (to == from) to = from = moved_type(to);
  if (HB_UNLIKELY(is_wide_unsigned_type(to) || is_wide_unsigned_type(from))) return convert_wide_unsigned(to, from);
  switch (to) {
#define HB_TO(To, Name)  \
  case ScalarType::Name: \
    return from_any<To>(from);
    HB_FORALL_COMPUTED_DTYPES(HB_TO)
#undef HB_TO
    default:
      HB_NOT_SUPPORTED("[copy_] is not supported for dtype ", to);
  }
}

}  // namespace hb::cpu::HB_ISA
