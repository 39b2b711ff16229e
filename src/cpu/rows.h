#pragma once

#include <cmath>

#include <halfbridge/tensor.h>

#include "cpu/parallel.h"

namespace hb::cpu {

/// Calls f with a value of the dtype's C++ type.
template <class F>
void with_type(const char* name, ScalarType t, F f) {
  switch (t) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return f(T());
    HB_FORALL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[", name, "] dtype ", t, " is not supported");
  }
}

/// What values are compared and summed as.
template <class T>
auto widened(T v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<float>(v);
  else
    return v;
}
template <class T>
bool is_nan(T v) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return std::isnan(static_cast<double>(widened(v)));
}
/// Strict order with NaN above everything.
template <class T>
bool below(T a, T b) {
  return widened(a) < widened(b) || (!is_nan(a) && is_nan(b));
}

struct Rows {
  int64_t count, length;
};
inline Rows rows_of(const Tensor& t) {
  const int64_t length = t.dim() ? t.size(-1) : 1;
  return {length ? t.numel() / length : 0, length};
}

/// Calls f(row) for all rows, on several threads where there is enough to do.
template <class F>
void for_rows(const Rows& rows, F f) {
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(rows.length, 1));
  parallel_for(0, rows.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) f(r);
  });
}

}  // namespace hb::cpu
