#pragma once

#include <type_traits>

#include <halfbridge/dtype.h>

namespace hb {

template <class T>
constexpr bool is_half_v = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// What values of T are compared as: half types as floats, to which they are converted exactly.
template <class T>
using Compared = std::conditional_t<is_half_v<T>, float, T>;

}  // namespace hb
