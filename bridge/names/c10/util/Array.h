#pragma once
#include <array>
#include <utility>

namespace c10 {
/// An array of as many elements as there are arguments.
template <class V, class... T>
constexpr std::array<V, sizeof...(T)> array_of(T&&... values) {
  return {{std::forward<T>(values)...}};
}
}  // namespace c10
