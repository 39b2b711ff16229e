#include "cpu/isa/convert.h"

#include <algorithm>

#include "cpu/isa/bf16_lanes.h"
#include "cpu/isa/convert_element.h"
#include "cpu/isa/copy_bytes.h"

namespace hb::cpu::HB_ISA {
namespace {

template <class To, class From>
void one_row(char* to, int64_t ts, const char* from, int64_t fs, int64_t n) {
  auto* out = reinterpret_cast<To*>(to);
  const auto* in = reinterpret_cast<const From*>(from);
  if (ts == sizeof(To) && fs == sizeof(From)) {
    if constexpr (std::is_same_v<To, From>) {
      if (static_cast<const void*>(out) != in) copy_bytes(out, in, n * sizeof(To));
    } else {
      int64_t done = 0;
      if constexpr (std::is_same_v<To, BFloat16> && std::is_same_v<From, float>)
        for (; kStoresBf16Lanes && done + kBf16Lanes <= n; done += kBf16Lanes) store_bf16_lanes(in + done, out + done);
      convert_run(out + done, in + done, n - done);
    }
  } else if (fs == 0) {
    const To value = convert<To>(*in);
    if (ts == sizeof(To)) {
      if constexpr (is_half_v<To>) {  // classes are not stored by vectors
        std::fill_n(reinterpret_cast<uint16_t*>(out), n, value.x);
      } else {
        std::fill_n(out, n, value);
      }
    } else {
      for (int64_t i = 0; i < n; ++i) *reinterpret_cast<To*>(to + i * ts) = value;
    }
  } else if (ts == sizeof(To) && fs == -static_cast<int64_t>(sizeof(From))) {  // turned around
    if constexpr (std::is_same_v<To, From> && is_half_v<To>) {
      const auto* bits = reinterpret_cast<const uint16_t*>(in);
      for (int64_t i = 0; i < n; ++i) reinterpret_cast<uint16_t*>(out)[i] = bits[-i];
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = convert<To>(in[-i]);
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

template <class To, class From>
void all_rows(const RowsAt& to, const RowsAt& from, Rows rows) {
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
