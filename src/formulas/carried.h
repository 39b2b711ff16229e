#pragma once

#include "formulas/compared.h"

namespace hb {

/// Running sums of float are carried on in double, of half types in float.
template <class T>
using Carried = std::conditional_t<
    std::is_same_v<T, float>, double,
    std::conditional_t<is_half_v<T>, float, std::conditional_t<std::is_same_v<T, bool>, int64_t, T>>>;

}  // namespace hb
