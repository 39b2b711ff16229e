#pragma once
// Lines of numbers to the lanes of vectors and back: element j of line l is lane l of vector j.
#include <utility>

#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int kVectorBytes = kIsaLevel >= 4 ? 64 : 32;
template <class T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
/// A vector of n numbers, as many as the CPU's have unless told otherwise.
template <class T, int64_t n = kLanes<T>>
struct LanesOf {
  typedef T Vector __attribute__((vector_size(n * sizeof(T))));
  typedef T Unaligned __attribute__((vector_size(n * sizeof(T)), aligned(sizeof(T)), may_alias));
};
template <class T, int64_t n = kLanes<T>>
using Vector = typename LanesOf<T, n>::Vector;
/// A vector from or to any place, by one instruction: GCC makes two of a memcpy of 32 bytes.
template <class T, int64_t n = kLanes<T>>
inline Vector<T, n> load(const T* from) {
  return *reinterpret_cast<const typename LanesOf<T, n>::Unaligned*>(from);
}
template <class T, int64_t n = kLanes<T>>
inline void store(T* to, const Vector<T, n>& v) {
  *reinterpret_cast<typename LanesOf<T, n>::Unaligned*>(to) = v;
}
/// What a shuffle of a Vector<T> is told by.
template <class T>
using LaneNumbers = Vector<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;

/// Both of two vectors' elements, of which every second run of S changes places with the other vector's first.
template <int S, class T, int... lane>
inline void swap_runs(Vector<T>& a, Vector<T>& b, std::integer_sequence<int, lane...>) {
  constexpr int n = sizeof...(lane);
  const LaneNumbers<T> first = {(lane & S ? n + lane - S : lane)...}, second = {(lane & S ? n + lane : lane + S)...};
  const Vector<T> x = a, y = b;
  a = __builtin_shuffle(x, y, first), b = __builtin_shuffle(x, y, second);
}

/// A square of as many vectors as there are lanes, turned over.
template <class T, int S = kLanes<T> / 2>
inline void turn_square(Vector<T>* v) {
  if constexpr (S > 0) {
    for (int i = 0; i < kLanes<T>; ++i)
      if (!(i & S)) swap_runs<S, T>(v[i], v[i + S], std::make_integer_sequence<int, kLanes<T>>());
    turn_square<T, S / 2>(v);
  }
}

/// Elements [0, n) of lines. Of lines that are not there, the first is read.
template <class T>
void lines_to_lanes(Vector<T>* to, const T* const* lines, int64_t n) {
  constexpr int kSide = kLanes<T>;
  int64_t j = 0;
  for (; j + kSide <= n; j += kSide) {
    Vector<T> v[kSide];
    for (int l = 0; l < kSide; ++l) v[l] = load<T>(lines[l] + j);
    turn_square<T>(v);
    for (int l = 0; l < kSide; ++l) to[j + l] = v[l];
  }
  for (; j < n; ++j)
    for (int l = 0; l < kSide; ++l) to[j][l] = lines[l][j];
}
template <class T>
void lanes_to_lines(T* const* lines, const Vector<T>* from, int count, int64_t n) {
  constexpr int kSide = kLanes<T>;
  int64_t j = 0;
  for (; j + kSide <= n; j += kSide) {
    Vector<T> v[kSide];
    for (int l = 0; l < kSide; ++l) v[l] = from[j + l];
    turn_square<T>(v);
    for (int l = 0; l < count; ++l) store<T>(lines[l] + j, v[l]);
  }
  for (; j < n; ++j)
    for (int l = 0; l < count; ++l) lines[l][j] = from[j][l];
}

/// Pairs that lie in turn in memory, as a vector of their first and one of their second elements, and back.
template <class T, int... lane>
inline void load_pairs(Vector<T>& first, Vector<T>& second, const T* from, std::integer_sequence<int, lane...>) {
  const Vector<T> a = load<T>(from), b = load<T>(from + sizeof...(lane));
  first = __builtin_shuffle(a, b, LaneNumbers<T>{2 * lane...});
  second = __builtin_shuffle(a, b, LaneNumbers<T>{2 * lane + 1 ...});
}
template <class T, int... lane>
inline void store_pairs(T* to, const Vector<T>& first, const Vector<T>& second, std::integer_sequence<int, lane...>) {
  constexpr int n = sizeof...(lane);
  const Vector<T> a = __builtin_shuffle(first, second, LaneNumbers<T>{lane / 2 + (lane % 2 ? n : 0)...});
  const Vector<T> b = __builtin_shuffle(first, second, LaneNumbers<T>{(n + lane) / 2 + (lane % 2 ? n : 0)...});
  store<T>(to, a), store<T>(to + n, b);
}
template <class T>
inline void load_pairs(Vector<T>& first, Vector<T>& second, const T* from) {
  load_pairs<T>(first, second, from, std::make_integer_sequence<int, kLanes<T>>());
}
template <class T>
inline void store_pairs(T* to, const Vector<T>& first, const Vector<T>& second) {
  store_pairs<T>(to, first, second, std::make_integer_sequence<int, kLanes<T>>());
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
