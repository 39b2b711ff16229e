#pragma once
#include <unordered_map>

namespace ska {
template <class Key, class Value, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
using flat_hash_map = std::unordered_map<Key, Value, Hash, Equal>;
}
