#pragma once
// One step of each reduction, for a number or, on the CPU, a vector of them.

#include <limits>
#include <type_traits>

#include "backend/reduce.h"
#include "formulas/host_device.h"

namespace hb::formula {

template <ReduceOp op, class T>
constexpr T start() {
  constexpr bool floating = std::is_floating_point_v<T>;
  if constexpr (op == ReduceOp::prod || op == ReduceOp::all) return T(1);
  if constexpr (op == ReduceOp::max)
    return floating ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  if constexpr (op == ReduceOp::min || op == ReduceOp::abs_min)
    return floating ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  return T(0);
}

/// acc with x taken in. V is T or a vector of T.
template <ReduceOp op, class V>
HB_HD V step(V acc, V x) {
  if constexpr (op == ReduceOp::sum || op == ReduceOp::power_sum) return acc + x;
  if constexpr (op == ReduceOp::nansum) return acc + (x == x ? x : V{});
  if constexpr (op == ReduceOp::prod) return acc * x;
  if constexpr (op == ReduceOp::max) return (x > acc) | (x != x) ? x : acc;
  if constexpr (op == ReduceOp::min) return (x < acc) | (x != x) ? x : acc;
  if constexpr (op == ReduceOp::any) return x != V{} ? V{} + 1 : acc;
  if constexpr (op == ReduceOp::all) return x == V{} ? V{} : acc;
  if constexpr (op == ReduceOp::count) return acc + (x != V{} ? V{} + 1 : V{});
  if constexpr (op == ReduceOp::abs_sum) return acc + (x < V{} ? -x : x);
  if constexpr (op == ReduceOp::square_sum) return acc + x * x;
  if constexpr (op == ReduceOp::abs_max) return step<ReduceOp::max, V>(acc, x < V{} ? -x : x);
  if constexpr (op == ReduceOp::abs_min) return step<ReduceOp::min, V>(acc, x < V{} ? -x : x);
}

/// Two partial results.
template <ReduceOp op, class W>
HB_HD W merge(W a, W b) {
  constexpr bool adds = op == ReduceOp::sum || op == ReduceOp::nansum || op == ReduceOp::count ||
                        op == ReduceOp::abs_sum || op == ReduceOp::square_sum || op == ReduceOp::power_sum;
  if constexpr (adds)
    return a + b;
  else
    return step<op, W>(a, b);
}

/// f with the operation as a constant.
template <class F>
decltype(auto) with_reduction(ReduceOp op, const F& f) {
  switch (op) {
#define HB_CASE(name)  \
  case ReduceOp::name: \
    return f(std::integral_constant<ReduceOp, ReduceOp::name>());
    HB_CASE(sum)
    HB_CASE(nansum)
    HB_CASE(prod)
    HB_CASE(max)
    HB_CASE(min)
    HB_CASE(any)
    HB_CASE(all)
    HB_CASE(count)
    HB_CASE(abs_sum)
    HB_CASE(square_sum)
    HB_CASE(abs_max)
    HB_CASE(abs_min)
    HB_CASE(power_sum)
#undef HB_CASE
  }
  __builtin_unreachable();
}

}  // namespace hb::formula
