#pragma once
// Short rows brought to a buffer one behind the other: a call for each row would take longer than its copy.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu/convert_rows.h"
#include "cpu/isa/isa.h"
#include "cpu/isa/lanes.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Elements that one store holds. A buffer has room for so many behind its last row.
template <class T>
constexpr int64_t kStored = kLanes<T>;
template <class T>
struct Stored {
  T lane[kStored<T>];
};

/// Calls f(i) for the places in a row at which a store begins: together they cover n elements, and none ends behind the
/// row unless it is shorter than a store.
template <class T, class F>
inline void for_stores(int64_t n, const F& f) {
  int64_t i = 0;
  for (; i + kStored<T> <= n; i += kStored<T>) f(i);
  if (i < n) f(n < kStored<T> ? 0 : n - kStored<T>);
}

/// Rows of one value each, the values s1 bytes apart.
template <class T>
inline void fill_rows(T* to, const char* from, int64_t s1, Rows rows) {
  for (int64_t j = 0; j < rows.n1; ++j, to += rows.n0) {
    Stored<T> value;
    for (T& lane : value.lane) lane = *reinterpret_cast<const T*>(from + j * s1);
    for_stores<T>(rows.n0, [&](int64_t i) { std::memcpy(static_cast<void*>(to + i), &value, sizeof value); });
  }
}

/// The same row again and again.
template <class T>
inline void repeat_row(T* to, const char* from, Rows rows) {
  for_stores<T>(rows.n0, [&](int64_t i) {
    Stored<T> part;
    std::memcpy(&part, from + i * sizeof(T), (rows.n0 < kStored<T> ? rows.n0 : kStored<T>)*sizeof(T));
    for (int64_t j = 0; j < rows.n1; ++j) std::memcpy(static_cast<void*>(to + j * rows.n0 + i), &part, sizeof part);
  });
}

/// Planes of rows of up to four elements, at any places, `step` bytes apart.
template <class T>
inline void gather_planes(T* to, const RowsAt& at, int64_t step, Rows plane, int64_t count) {
  const auto rows = [&](auto width, auto same) {
    for (int64_t p = 0; p < count; ++p)
      for (int64_t j = 0; j < plane.n1; ++j, to += width) {
        const char* const row = at.data + p * step + j * at.s1;
        for (int i = 0; i < width; ++i) to[i] = *reinterpret_cast<const T*>(row + (same ? 0 : i * at.s0));
      }
  };
  const auto of_width = [&](auto width) {
    return at.s0 == 0 ? rows(width, std::true_type()) : rows(width, std::false_type());
  };
  switch (plane.n0) {
    case 1:
      return of_width(std::integral_constant<int, 1>());
    case 2:
      return of_width(std::integral_constant<int, 2>());
    case 3:
      return of_width(std::integral_constant<int, 3>());
    default:
      return of_width(std::integral_constant<int, 4>());
  }
}

/// Brings rows of type T to `to`; false, where there is no quick way.
template <class T>
inline bool bring_short_rows(T* to, const RowsAt& at, Rows rows) {
  if (sizeof(T) < 4 || rows.n0 > 64) return false;
  if (at.s0 == 0) return fill_rows(to, at.data, at.s1, rows), true;
  if (at.s0 == sizeof(T) && at.s1 == 0 && rows.n1 > 1) return repeat_row(to, at.data, rows), true;
  return false;
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
