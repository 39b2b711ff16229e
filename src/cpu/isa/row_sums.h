#pragma once
// Sums and extremes of rows in memory that may be short: their vectors are loaded as such, where the compiler makes
// single numbers of the general loops of vec.h.

#include "cpu/isa/vec.h"

namespace hb::cpu::HB_ISA {
namespace {

template <class C, int64_t kLanes>
struct LanesOf {
  typedef C type __attribute__((vector_size(kLanes * sizeof(C)), may_alias));
};

/// Whether a vector of kShort values is one of the CPU's: the compiler takes longer ones apart.
template <class C>
constexpr bool kOneVector = kShort * sizeof(C) <= (kIsaLevel >= 4 ? 64 : 32);

/// One result of lanes: half of them take in the other half, again and again. They stay in registers.
template <int64_t kLanes, class C, class Take>
inline __attribute__((always_inline)) C halved(const typename LanesOf<C, kLanes>::type& lanes, const Take& take) {
  if constexpr (kLanes * sizeof(C) > 16) {
    typename LanesOf<C, kLanes / 2>::type low, high;
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
/// The same of n neighbours in memory, whose vectors are loaded as such: rows may be short. The order is that of
/// sum_over.
template <class C>
inline C sum_of_run(const C* x, int64_t n) {
  if constexpr (!kOneVector<C>) return sum_over<C>(n, [x](int64_t i) { return x[i]; });
  using V = typename LanesOf<C, kShort>::type;
  const auto add = [x](V& sum, int64_t i) {
    V v;
    std::memcpy(&v, x + i, sizeof v);
    sum += v;
  };
  V a{}, b{}, c{}, d{};
  int64_t i = 0;
  for (; i + 4 * kShort <= n; i += 4 * kShort)
    add(a, i), add(b, i + kShort), add(c, i + 2 * kShort), add(d, i + 3 * kShort);
  for (; i + kShort <= n; i += kShort) add(a, i);
  C total = halved<kShort, C>((a + c) + (b + d), [](auto& sum, const auto& v) { sum += v; });
  for (; i < n; ++i) total += x[i];
  return total;
}
/// The largest; NaN loses, as in max_over.
template <class C>
inline C max_of_run(const C* x, int64_t n) {
  if constexpr (!kOneVector<C>) return max_over<C>(n, [x](int64_t i) { return x[i]; });
  using V = typename LanesOf<C, kShort>::type;
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
