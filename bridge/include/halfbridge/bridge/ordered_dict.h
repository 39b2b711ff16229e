#pragma once

#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfbridge/error.h>

namespace hb::bridge {
inline namespace api {

/// A map that keeps the order of insertion.
template <typename Key, typename Value>
class OrderedDict {
 public:
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    Value& operator*() { return pair_.second; }
    const Value& operator*() const { return pair_.second; }
    Value* operator->() { return &pair_.second; }
    const Value* operator->() const { return &pair_.second; }
    const Key& key() const noexcept { return pair_.first; }
    Value& value() noexcept { return pair_.second; }
    const Value& value() const noexcept { return pair_.second; }
    const std::pair<Key, Value>& pair() const noexcept { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  /// key_description is what error messages call a key.
  explicit OrderedDict(std::string key_description = "Key") : key_description_(std::move(key_description)) {}
  /// A key that stands in the list twice is found at its first place, as in LibTorch.
  OrderedDict(std::initializer_list<Item> items) : items_(items) {  // NOLINT: implicit as in LibTorch
    for (size_t i = 0; i < items_.size(); ++i) index_.emplace(items_[i].key(), i);
  }

  const std::string& key_description() const noexcept { return key_description_; }
  Item& front() { return check_not_empty("front"), items_.front(); }
  const Item& front() const { return check_not_empty("front"), items_.front(); }
  Item& back() { return check_not_empty("back"), items_.back(); }
  const Item& back() const { return check_not_empty("back"), items_.back(); }
  Item& operator[](size_t index) { return check_index(index), items_[index]; }
  const Item& operator[](size_t index) const { return check_index(index), items_[index]; }
  Value& operator[](const Key& key) { return const_cast<Value&>(std::as_const(*this)[key]); }
  const Value& operator[](const Key& key) const {
    const Value* value = find(key);
    HB_CHECK(value, key_description_, " '", key, "' is not defined");
    return *value;
  }
  Value* find(const Key& key) noexcept { return const_cast<Value*>(std::as_const(*this).find(key)); }
  const Value* find(const Key& key) const noexcept {
    auto it = index_.find(key);
    return it == index_.end() ? nullptr : &items_[it->second].value();
  }
  bool contains(const Key& key) const noexcept { return find(key) != nullptr; }

  Iterator begin() { return items_.begin(); }
  ConstIterator begin() const { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator end() const { return items_.end(); }
  size_t size() const noexcept { return items_.size(); }
  bool is_empty() const noexcept { return items_.empty(); }
  void reserve(size_t capacity) {
    index_.reserve(capacity);
    items_.reserve(capacity);
  }

  /// Throws when the key is there already.
  template <typename K, typename V>
  Value& insert(K&& key, V&& value) {
    return insert_item(Key(std::forward<K>(key)), Value(std::forward<V>(value)));
  }
  Value& insert(Key key, Value&& value) { return insert_item(std::move(key), std::move(value)); }
  void update(OrderedDict&& other) {
    for (auto& item : other.items_) insert_item(item.key(), std::move(item.value()));
  }
  void update(const OrderedDict& other) {
    for (const auto& item : other) insert_item(item.key(), item.value());
  }
  void erase(const Key& key) {
    auto it = index_.find(key);
    HB_CHECK(it != index_.end(), "Key '", key, "' doesn't exist");
    const size_t at = it->second;
    index_.erase(it);
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
    for (auto& entry : index_)
      if (entry.second > at) --entry.second;
  }
  void clear() {
    index_.clear();
    items_.clear();
  }

  const std::vector<Item>& items() const noexcept { return items_; }
  std::vector<Key> keys() const {
    std::vector<Key> keys;
    for (const auto& item : items_) keys.push_back(item.key());
    return keys;
  }
  std::vector<Value> values() const {
    std::vector<Value> values;
    for (const auto& item : items_) values.push_back(item.value());
    return values;
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> pairs;
    for (const auto& item : items_) pairs.push_back(item.pair());
    return pairs;
  }
  friend bool operator==(const OrderedDict& a, const OrderedDict& b) {
    if (a.index_ != b.index_) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!(a.items_[i].value() == b.items_[i].value())) return false;
    return true;
  }

 private:
  Value& insert_item(Key key, Value value) {
    HB_CHECK(index_.count(key) == 0, key_description_, " '", key, "' already defined");
    index_.emplace(key, items_.size());
    items_.emplace_back(std::move(key), std::move(value));
    return items_.back().value();
  }
  void check_not_empty(const char* what) const {
    HB_CHECK(!items_.empty(), "Called ", what, "() on an empty OrderedDict");
  }
  void check_index(size_t index) const { HB_CHECK(index < items_.size(), "Index ", index, " is out of bounds"); }

  std::unordered_map<Key, size_t> index_;
  std::vector<Item> items_;
  std::string key_description_{"Key"};
};

}  // namespace api
}  // namespace hb::bridge
