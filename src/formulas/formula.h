#pragma once
// What an element-wise formula is: a struct with apply(p, operands…), where p are its parameters as T, written once for
// host and device.

#include "formulas/complex_math.h"
#include "formulas/vector_special.h"

namespace hb::formula {

/// What the operands may be: real numbers and integers; real numbers; integers; and with complex ones, all (numbers) or
/// all but integers (field).
enum class Kinds { all, floats, ints, numbers, field };

template <int Inputs, int Params = 0, Kinds Kind = Kinds::all, int Cost = 1>
struct Formula {
  static constexpr int inputs = Inputs, params = Params, cost = Cost;
  static constexpr Kinds kinds = Kind;
};

/// Whether the formula in int64 is also right for the bits of uint64: where signs and order do not matter. What takes
/// complex numbers, which have no order, is so with few exceptions.
template <class F>
constexpr bool modular = F::kinds == Kinds::numbers;

/// e^x where what is near 0 may be 0; of a real number without a call of the library.
template <class T>
HB_HD_ALWAYS T quick_exp(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return math::quick_exp(x);
  else
    return math::exp(x);
}

/// Formulas of exponentials that call no library for a float (vector_special.h).
template <class F>
constexpr bool own_arithmetic = false;

}  // namespace hb::formula
