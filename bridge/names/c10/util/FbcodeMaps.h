#pragma once
#include <unordered_map>
#include <unordered_set>

namespace c10 {
template <class Key, class Value>
using FastMap = std::unordered_map<Key, Value>;
template <class Key>
using FastSet = std::unordered_set<Key>;
}  // namespace c10
