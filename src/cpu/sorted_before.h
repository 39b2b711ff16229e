#pragma once

namespace hb::cpu {

template <class T>
inline bool is_nan(T v) {
  return v != v;
}

/// The order of sort(): NaN stands above every number.
template <class T>
inline bool less(T a, T b) {
  return a < b || (is_nan(b) && !is_nan(a));
}

}  // namespace hb::cpu
