#include <type_traits>

#include <halfbridge/error.h>

#include "cpu/convert_rows.h"

namespace hb::cpu {
namespace {

/// As static_cast; what is negative wraps, the imaginary part is lost.
template <class To, class From>
To convert(From v) {
  if constexpr (is_complex_v<From>) {
    if constexpr (std::is_same_v<To, bool>)
      return static_cast<bool>(v);
    else
      return convert<To>(v.real());
  } else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return convert<To>(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(v));
  } else if constexpr (is_complex_v<To>) {
    return To(static_cast<typename To::value_type>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_floating_point_v<From>) {
    return v >= From(0x1p63) ? static_cast<To>(static_cast<uint64_t>(v)) : static_cast<To>(static_cast<int64_t>(v));
  } else {
    return static_cast<To>(v);
  }
}

template <class To, class From>
void all_rows(const RowsAt& to, const RowsAt& from, Rows rows) {
  for (int64_t j = 0; j < rows.n1; ++j) {
    char* out = to.data + j * to.s1;
    const char* in = from.data + j * from.s1;
    for (int64_t i = 0; i < rows.n0; ++i)
      *reinterpret_cast<To*>(out + i * to.s0) = convert<To>(*reinterpret_cast<const From*>(in + i * from.s0));
  }
}

template <class To>
ConvertRows from_any(ScalarType from) {
  switch (from) {
#define HB_FROM(From, Name) \
  case ScalarType::Name:    \
    return all_rows<To, From>;
    HB_FORALL_DTYPES(HB_FROM)
#undef HB_FROM
    default:
      HB_NOT_SUPPORTED("[copy_] is not supported for dtype ", from);
  }
}

template <class From>
ConvertRows to_any(ScalarType to) {
  switch (to) {
#define HB_TO(To, Name)  \
  case ScalarType::Name: \
    return all_rows<To, From>;
    HB_FORALL_COMPUTED_DTYPES(HB_TO)
#undef HB_TO
    default:
      HB_NOT_SUPPORTED("[copy_] is not supported for dtype ", to);
  }
}

}  // namespace

ConvertRows convert_wide_unsigned(ScalarType to, ScalarType from) {
#define HB_TO(To, Name) \
  if (to == ScalarType::Name) return from_any<To>(from);
  HB_FORALL_WIDE_UNSIGNED_DTYPES(HB_TO)
#undef HB_TO
#define HB_FROM(From, Name) \
  if (from == ScalarType::Name) return to_any<From>(to);
  HB_FORALL_WIDE_UNSIGNED_DTYPES(HB_FROM)
#undef HB_FROM
  HB_NOT_SUPPORTED("[copy_] is not supported from dtype ", from, " to ", to);
}

}  // namespace hb::cpu
