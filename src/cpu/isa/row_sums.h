#pragma once
// Sums and extremes of rows in memory that may be short: their vectors are loaded as such, where the compiler makes
// single numbers of the general loops of vec.h.

#include "cpu/isa/lanes.h"
#include "cpu/isa/vec.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Whether a vector of kShort values is one of the CPU's: the compiler takes longer ones apart.
template <class C>
constexpr bool kOneVector = kShort * sizeof(C) <= kVectorBytes;

/// One result of lanes: half of them take in the other half, again and again. They stay in registers.
template <int64_t kLanes, class C, class Take>
inline __attribute__((always_inline)) C halved(const Vector<C, kLanes>& lanes, const Take& take) {
  if constexpr (kLanes * sizeof(C) > 16) {
    Vector<C, kLanes / 2> low, high;
    std::memcpy(&low, &lanes, sizeof low);
    std::memcpy(&high, reinterpret_cast<const char*>(&lanes) + sizeof low, sizeof high);
    take(low, high);
    return halved<kLanes / 2, C>(low, take);
  } else if constexpr (kLanes == 4) {
    C a = lanes[0], b = lanes[1];
    take(a, C(lanes[2])), take(b, C(lanes[3])), take(a, b);
    return a;
  } else {
    C a = lanes[0];
    take(a, C(lanes[1]));
    return a;
  }
}
/// How many vectors kShort values are.
template <class C>
constexpr int64_t kParts = kOneVector<C> ? 1 : 2;
template <class C>
inline Vector<C, kShort / kParts<C>> lanes_at(const C* x) {
  Vector<C, kShort / kParts<C>> v;
  std::memcpy(&v, x, sizeof v);
  return v;
}
/// The sum of n terms: those of a vector from i on are lanes(i), one is single(i). The order is that of sum_over.
template <class C, class Lanes, class Single>
inline __attribute__((always_inline)) C sum_in_lanes(int64_t n, const Lanes& lanes, const Single& single) {
  constexpr int64_t parts = kParts<C>, width = kShort / parts;
  using V = Vector<C, width>;
  V a[parts]{}, b[parts]{}, c[parts]{}, d[parts]{};
  int64_t i = 0;
  for (; i + 4 * kShort <= n; i += 4 * kShort)
    for (int64_t p = 0, at = i; p < parts; ++p, at += width)
      a[p] += lanes(at), b[p] += lanes(at + kShort), c[p] += lanes(at + 2 * kShort), d[p] += lanes(at + 3 * kShort);
  for (; i + kShort <= n; i += kShort)
    for (int64_t p = 0; p < parts; ++p) a[p] += lanes(i + p * width);
  for (int64_t p = 0; p < parts; ++p) a[p] = (a[p] + c[p]) + (b[p] + d[p]);
  if constexpr (parts == 2) a[0] += a[1];
  C total = halved<width, C>(a[0], [](auto& sum, const auto& v) { sum += v; });
  for (; i < n; ++i) total += single(i);
  return total;
}
/// The same of n neighbours in memory, whose vectors are loaded as such: rows may be short.
template <class C>
inline C sum_of_run(const C* x, int64_t n) {
  return sum_in_lanes<C>(
      n, [x](int64_t i) { return lanes_at(x + i); }, [x](int64_t i) { return x[i]; });
}
/// The sum of their products with others.
template <class C>
inline __attribute__((always_inline)) C dot_of_run(const C* x, const C* y, int64_t n) {
  return sum_in_lanes<C>(
      n, [=](int64_t i) { return lanes_at(x + i) * lanes_at(y + i); }, [=](int64_t i) { return x[i] * y[i]; });
}
/// The same of bf16, whose pairs are taken apart where they lie.
inline float dot_of_run(const BFloat16* x, const BFloat16* y, int64_t n) {
  using V = Vector<float, kShort>;
  using Pairs = Vector<uint32_t, kShort>;
  V low[2] = {}, high[2] = {};
  const auto take = [&](int64_t i, int k) {
    Pairs a, b;
    std::memcpy(&a, x + i, sizeof a), std::memcpy(&b, y + i, sizeof b);
    low[k] += reinterpret_cast<V>(a << 16) * reinterpret_cast<V>(b << 16);
    high[k] += reinterpret_cast<V>(a & 0xffff0000u) * reinterpret_cast<V>(b & 0xffff0000u);
  };
  int64_t i = 0;
  for (; i + 4 * kShort <= n; i += 4 * kShort) take(i, 0), take(i + 2 * kShort, 1);
  if (i + 2 * kShort <= n) take(i, 0), i += 2 * kShort;
  float total = halved<kShort, float>((low[0] + low[1]) + (high[0] + high[1]), [](auto& s, const auto& v) { s += v; });
  for (; i < n; ++i) total += widen(x[i]) * widen(y[i]);
  return total;
}
/// The largest; NaN loses, as in max_over.
template <class C>
inline C max_of_run(const C* x, int64_t n) {
  if constexpr (!kOneVector<C>) return max_over<C>(n, [x](int64_t i) { return x[i]; });
  using V = Vector<C, kShort>;
  constexpr C least = -std::numeric_limits<C>::infinity();
  const auto larger = [](auto& top, const auto& v) { top = v > top ? v : top; };
  const auto take = [x, &larger](V& top, int64_t i) {
    V v;
    std::memcpy(&v, x + i, sizeof v);
    larger(top, v);
  };
  V a = V{} + least, b = a;
  int64_t i = 0;
  for (; i + 2 * kShort <= n; i += 2 * kShort) take(a, i), take(b, i + kShort);
  for (; i + kShort <= n; i += kShort) take(a, i);
  larger(a, b);
  C top = halved<kShort, C>(a, larger);
  for (; i < n; ++i) larger(top, x[i]);
  return top;
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
