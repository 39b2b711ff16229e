#pragma once
// Stable order of a line by counting digits of keys, lowest first.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
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
    Key bits;
    std::memcpy(&bits, &value, sizeof bits);
    const Key ordered = bits & sign ? static_cast<Key>(~bits) : static_cast<Key>(bits | sign);
    const Key of_number = compared == 0 ? sign : ordered;
    return compared != compared ? std::numeric_limits<Key>::max() : of_number;
  }
}

template <class Key>
struct KeyAt {
  Key key;
  uint32_t at;
};

/// Sorts by kDigits digits of kBits bits of what keys are above `low`, from bit `first` on; entries that have all of
/// them alike keep their order. `other` is memory of the same size. A digit that all keys share takes no pass.
template <int kBits, int kDigits, class Key>
void sort_by_digits(std::vector<KeyAt<Key>>& entries, std::vector<KeyAt<Key>>& other, Key low, int first) {
  const auto digit = [low, first](Key key, int d) -> size_t {
    return (static_cast<Key>(key - low) >> (first + d * kBits)) & ((1 << kBits) - 1);
  };
  std::array<std::array<uint32_t, 1 << kBits>, kDigits> counts{};
  for (const auto& e : entries)
    for (int d = 0; d < kDigits; ++d) ++counts[d][digit(e.key, d)];
  for (int d = 0; d < kDigits; ++d) {
    auto& count = counts[d];
    if (count[digit(entries[0].key, d)] == entries.size()) continue;
    uint32_t start = 0;
    for (auto& c : count) start += std::exchange(c, start);
    for (const auto& e : entries) other[count[digit(e.key, d)]++] = e;
    entries.swap(other);
  }
}

/// Sorts what is nearly in order; false, and entries stand in another order of the same kind, where it is not.
template <class Key>
bool sort_neighbours(std::vector<KeyAt<Key>>& entries) {
  size_t steps_left = 2 * entries.size();
  for (size_t i = 1; i < entries.size(); ++i) {
    const KeyAt<Key> moved = entries[i];
    size_t to = i;
    for (; to > 0 && moved.key < entries[to - 1].key; --to) entries[to] = entries[to - 1];
    entries[to] = moved;
    if (i - to > steps_left) return false;
    steps_left -= i - to;
  }
  return true;
}

/// Sorts by the highest digits in which keys differ, and what these leave among neighbours; by all where that is more.
template <int kBits, int kDigits, class Key>
void sort_from_above(std::vector<KeyAt<Key>>& entries, std::vector<KeyAt<Key>>& other) {
  constexpr int kKeyBits = 8 * sizeof(Key);
  if constexpr (kBits * kDigits >= kKeyBits) {
    sort_by_digits<kBits, (kKeyBits + kBits - 1) / kBits>(entries, other, Key{0}, 0);
  } else {
    Key low = std::numeric_limits<Key>::max(), high = 0;
    for (const auto& e : entries) low = std::min(low, e.key), high = std::max(high, e.key);
    const int first = std::max(0, static_cast<int>(std::bit_width(static_cast<Key>(high - low))) - kBits * kDigits);
    sort_by_digits<kBits, kDigits>(entries, other, low, first);
    if (first > 0 && !sort_neighbours(entries)) sort_by_digits<8, sizeof(Key)>(entries, other, low, 0);
  }
}

/// Sorts `entries` by key, equal keys in the order in which they stand. `other` is memory of the same size.
template <class Key>
void radix_sort(std::vector<KeyAt<Key>>& entries, std::vector<KeyAt<Key>>& other) {
  // Longer digits pay where their counters are few beside the entries, and what they spread stays in a near cache.
  if (entries.size() < 4096) return sort_from_above<8, 3>(entries, other);
  if (entries.size() < 1 << 18) return sort_from_above<11, 3>(entries, other);
  sort_from_above<8, 4>(entries, other);
}

}  // namespace hb::cpu
