#pragma once
// Stable order of a line by counting the bytes of keys, lowest first.

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "formulas/compared.h"

namespace hb::cpu {

/// The unsigned type whose bits the values of T are ordered by.
template <class T>
using SortKey = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

/// A key that grows with the value; both zeros have one key, and all NaN the largest.
template <class T>
inline SortKey<T> sort_key(T value) {
  using Key = SortKey<T>;
  constexpr Key sign = static_cast<Key>(Key{1} << (8 * sizeof(T) - 1));
  if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? static_cast<Key>(static_cast<Key>(value) ^ sign) : static_cast<Key>(value);
  } else {
    const auto compared = static_cast<Compared<T>>(value);
    if (compared != compared) return std::numeric_limits<Key>::max();
    if (compared == 0) return sign;
    Key bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits & sign ? static_cast<Key>(~bits) : static_cast<Key>(bits | sign);
  }
}

template <class Key>
struct KeyAt {
  Key key;
  uint32_t at;
};

/// Sorts `entries` by key, equal keys in the order in which they stand. `other` is memory of the same size. A byte that
/// all keys share takes no pass.
template <class Key>
void radix_sort(std::vector<KeyAt<Key>>& entries, std::vector<KeyAt<Key>>& other) {
  constexpr int kBytes = sizeof(Key);
  std::array<std::array<uint32_t, 256>, kBytes> counts{};
  for (const auto& e : entries)
    for (int b = 0; b < kBytes; ++b) ++counts[b][(e.key >> (8 * b)) & 255];
  for (int b = 0; b < kBytes; ++b) {
    auto& count = counts[b];
    if (count[(entries[0].key >> (8 * b)) & 255] == entries.size()) continue;
    uint32_t start = 0;
    for (auto& c : count) {
      const uint32_t n = c;
      c = start;
      start += n;
    }
    for (const auto& e : entries) other[count[(e.key >> (8 * b)) & 255]++] = e;
    entries.swap(other);
  }
}

}  // namespace hb::cpu
