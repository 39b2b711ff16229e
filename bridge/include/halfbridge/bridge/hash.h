#pragma once
// <c10/util/hash.h>: hashes of pairs, tuples, lists and enumerators.

#include <complex>
#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/array_ref.h>

namespace hb::bridge {
inline namespace api {

/// A hash that depends on both and on their order.
inline size_t hash_combine(size_t seed, size_t value) {
  uint64_t mixed =
      (static_cast<uint64_t>(seed) ^ (static_cast<uint64_t>(value) + 0x2545F4914F6CDD1DULL)) * 0xD6E8FEB86659FD93ULL;
  return static_cast<size_t>(mixed ^ (mixed >> 32));
}

namespace hash_detail {
template <class T, class = void>
struct has_own : std::false_type {};
template <class T>
struct has_own<T, std::void_t<decltype(T::hash(std::declval<const T&>()))>> : std::true_type {};
}  // namespace hash_detail

/// std::hash, T's own static hash(const T&), or what a specialisation says.
template <class T>
struct hash {
  size_t operator()(const T& value) const {
    if constexpr (hash_detail::has_own<T>::value) {
      return T::hash(value);
    } else if constexpr (std::is_enum_v<T>) {
      return std::hash<std::underlying_type_t<T>>()(static_cast<std::underlying_type_t<T>>(value));
    } else {
      return std::hash<T>()(value);
    }
  }
};
template <class... Types>
struct hash<std::tuple<Types...>> {
  size_t operator()(const std::tuple<Types...>& values) const {
    size_t seed = sizeof...(Types);
    std::apply([&](const Types&... each) { ((seed = hash_combine(seed, hash<Types>()(each))), ...); }, values);
    return seed;
  }
};
template <class A, class B>
struct hash<std::pair<A, B>> {
  size_t operator()(const std::pair<A, B>& pair) const {
    return hash_combine(hash<A>()(pair.first), hash<B>()(pair.second));
  }
};
template <class T>
struct hash<ArrayRef<T>> {
  size_t operator()(ArrayRef<T> values) const {
    size_t seed = values.size();
    for (const T& each : values) seed = hash_combine(seed, hash<T>()(each));
    return seed;
  }
};
template <class T>
struct hash<std::vector<T>> {
  size_t operator()(const std::vector<T>& values) const {
    size_t seed = values.size();
    for (const T& each : values) seed = hash_combine(seed, hash<T>()(each));
    return seed;
  }
};

template <class... Types>
size_t get_hash(const Types&... values) {
  return hash<std::tuple<Types...>>()(std::tuple<Types...>(values...));
}

}  // namespace api
}  // namespace hb::bridge
