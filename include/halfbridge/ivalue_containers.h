// Lists and dicts of one type, and how an IValue becomes a C++ value. Included by ivalue.h.
#pragma once

#include <initializer_list>
#include <iterator>

#include <halfbridge/ivalue.h>
#include <halfbridge/ivalue_data.h>

namespace hb {
/// A list whose copies share their elements.
template <typename T>
class List {
 public:
  using value_type = T;

  using size_type = size_t;

  /// An element in its place: assigns through to the list; reads as T, or by get() as what the list holds.
  class Reference {
   public:
    Reference(IValue& item) : item_(&item) {}
    operator T() const { return item_->template to<T>(); }
    const IValue& get() const { return *item_; }
    Reference& operator=(T value) {
      *item_ = IValue(std::move(value));
      return *this;
    }
    Reference& operator=(const Reference& other) {
      *item_ = IValue(*other.item_);
      return *this;
    }
    Reference(const Reference&) = default;
    friend bool operator==(const Reference& a, const T& b) { return static_cast<T>(a) == b; }
    friend bool operator==(const T& a, const Reference& b) { return a == static_cast<T>(b); }
    friend void swap(Reference&& a, Reference&& b) noexcept { std::swap(*a.item_, *b.item_); }

   private:
    IValue* item_;
  };

  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = Reference;
    Iterator() = default;
    explicit Iterator(std::vector<IValue>::iterator at) : at_(at) {}
    Reference operator*() const { return *at_; }
    Reference operator[](size_t offset) const { return at_[static_cast<difference_type>(offset)]; }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return Iterator(at_++); }
    Iterator& operator--() { return --at_, *this; }
    Iterator operator--(int) { return Iterator(at_--); }
    Iterator& operator+=(difference_type n) { return at_ += n, *this; }
    Iterator& operator-=(difference_type n) { return at_ -= n, *this; }
    Iterator operator+(difference_type n) const { return Iterator(at_ + n); }
    Iterator operator-(difference_type n) const { return Iterator(at_ - n); }
    friend difference_type operator-(const Iterator& a, const Iterator& b) { return a.at_ - b.at_; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }
    friend bool operator!=(const Iterator& a, const Iterator& b) { return a.at_ != b.at_; }
    friend bool operator<(const Iterator& a, const Iterator& b) { return a.at_ < b.at_; }
    friend bool operator<=(const Iterator& a, const Iterator& b) { return a.at_ <= b.at_; }
    friend bool operator>(const Iterator& a, const Iterator& b) { return a.at_ > b.at_; }
    friend bool operator>=(const Iterator& a, const Iterator& b) { return a.at_ >= b.at_; }

   private:
    friend class List;
    std::vector<IValue>::iterator at_;
  };
  using iterator = Iterator;
  using const_iterator = Iterator;

  List() : List(TypeOf<T>::get()) {}
  explicit List(TypePtr element_type) : data_(std::make_shared<ivalue::ListData>()) {
    data_->element_type = std::move(element_type);
  }
  List(std::initializer_list<T> items) : List() {
    for (const T& item : items) push_back(item);
  }
  explicit List(const std::vector<T>& items) : List() {
    reserve(items.size());
    for (T item : items) push_back(std::move(item));
  }
  explicit List(std::shared_ptr<ivalue::ListData> data) : data_(std::move(data)) {}

  size_t size() const { return data_->items.size(); }
  bool empty() const { return data_->items.empty(); }
  void reserve(size_t count) const { data_->items.reserve(count); }
  void clear() const { data_->items.clear(); }
  void push_back(T value) const { data_->items.emplace_back(std::move(value)); }
  template <typename... Args>
  void emplace_back(Args&&... args) const {
    push_back(T(std::forward<Args>(args)...));
  }
  /// Adds what another list holds; the list itself may be given.
  void append(List other) const {
    const std::vector<IValue> more = other.data_->items;
    data_->items.insert(data_->items.end(), more.begin(), more.end());
  }
  Iterator insert(Iterator at, T value) const { return Iterator(data_->items.emplace(at.at_, std::move(value))); }
  template <typename... Args>
  Iterator emplace(Iterator at, Args&&... args) const {
    return insert(at, T(std::forward<Args>(args)...));
  }
  Iterator erase(Iterator at) const { return Iterator(data_->items.erase(at.at_)); }
  Iterator erase(Iterator first, Iterator last) const { return Iterator(data_->items.erase(first.at_, last.at_)); }
  void resize(size_t count) const { resize(count, T{}); }
  void resize(size_t count, const T& value) const { data_->items.resize(count, IValue(value)); }
  void pop_back() const { data_->items.pop_back(); }
  T get(size_t at) const { return data_->items.at(at).template to<T>(); }
  /// The element, in whose place a T of its own is left.
  T extract(size_t at) const {
    T value = get(at);
    set(at, T{});
    return value;
  }
  void set(size_t at, T value) const { data_->items.at(at) = IValue(std::move(value)); }
  T operator[](size_t at) const { return get(at); }
  Reference operator[](size_t at) { return Reference(data_->items.at(at)); }
  Iterator begin() const { return Iterator(data_->items.begin()); }
  Iterator end() const { return Iterator(data_->items.end()); }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  List copy() const { return List(std::make_shared<ivalue::ListData>(*data_)); }
  /// Whether both are the same list, not two alike.
  bool is(const List& other) const { return data_ == other.data_; }
  size_t use_count() const { return static_cast<size_t>(data_.use_count()); }
  void unsafeSetElementType(TypePtr type) const { data_->element_type = std::move(type); }
  friend bool operator==(const List& a, const List& b) { return IValue(a) == IValue(b); }
  friend bool operator!=(const List& a, const List& b) { return !(a == b); }
  TypePtr elementType() const { return data_->element_type; }
  const std::shared_ptr<ivalue::ListData>& data() const { return data_; }

 private:
  std::shared_ptr<ivalue::ListData> data_;
};

/// A dict that keeps insertion order and whose copies share their entries.
template <typename Key, typename Value>
class Dict {
 public:
  using key_type = Key;
  using mapped_type = Value;

  class Entry {
   public:
    explicit Entry(std::pair<IValue, IValue>* entry) : entry_(entry) {}
    Key key() const { return entry_->first.template to<Key>(); }
    Value value() const { return entry_->second.template to<Value>(); }
    void setValue(Value value) const { entry_->second = IValue(std::move(value)); }

   private:
    std::pair<IValue, IValue>* entry_;
  };

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;
    explicit Iterator(std::pair<IValue, IValue>* at) : at_(at), entry_(at) {}
    const Entry& operator*() const { return entry_; }
    const Entry* operator->() const { return &entry_; }
    Iterator& operator++() {
      entry_ = Entry(++at_);
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    std::pair<IValue, IValue>* at_;
    Entry entry_;
  };
  using iterator = Iterator;
  using const_iterator = Iterator;

  Dict() : Dict(TypeOf<Key>::get(), TypeOf<Value>::get()) {}
  Dict(TypePtr key_type, TypePtr value_type) : data_(std::make_shared<ivalue::DictData>()) {
    data_->key_type = std::move(key_type);
    data_->value_type = std::move(value_type);
  }
  explicit Dict(std::shared_ptr<ivalue::DictData> data) : data_(std::move(data)) {}

  size_t size() const { return data_->entries.size(); }
  bool empty() const { return data_->entries.empty(); }
  void clear() const { data_->clear(); }
  void reserve(size_t count) const { data_->entries.reserve(count); }
  /// Whether both are the same dict, not two alike.
  bool is(const Dict& other) const { return data_ == other.data_; }
  size_t use_count() const { return static_cast<size_t>(data_.use_count()); }
  Iterator begin() const { return Iterator(data_->entries.data()); }
  Iterator end() const { return Iterator(data_->entries.data() + size()); }
  Iterator find(const Key& key) const { return Iterator(data_->entries.data() + data_->find(IValue(key))); }
  bool contains(const Key& key) const { return data_->find(IValue(key)) < size(); }
  size_t count(const Key& key) const { return contains(key) ? 1 : 0; }
  /// Throws std::out_of_range for a key that is not there.
  Value at(const Key& key) const;
  /// Leaves a key that is there as it is and says false.
  std::pair<Iterator, bool> insert(Key key, Value value) const {
    const bool fresh = !contains(key);
    if (fresh) data_->set(IValue(key), IValue(std::move(value)));
    return {find(key), fresh};
  }
  std::pair<Iterator, bool> insert_or_assign(Key key, Value value) const {
    const bool fresh = !contains(key);
    data_->set(IValue(key), IValue(std::move(value)));
    return {find(key), fresh};
  }
  size_t erase(const Key& key) const { return data_->erase(IValue(key)) ? 1 : 0; }
  Dict copy() const { return Dict(std::make_shared<ivalue::DictData>(*data_)); }
  TypePtr keyType() const { return data_->key_type; }
  TypePtr valueType() const { return data_->value_type; }
  const std::shared_ptr<ivalue::DictData>& data() const { return data_; }

 private:
  std::shared_ptr<ivalue::DictData> data_;
};

namespace ivalue {

HB_API std::shared_ptr<ListData> list_of(const IValue& value);
HB_API std::shared_ptr<DictData> dict_of(const IValue& value);
[[noreturn]] HB_API void missing_key(const IValue& key);

}  // namespace ivalue

}  // namespace hb

#include <halfbridge/ivalue_convert.h>

namespace hb {

template <typename Key, typename Value>
Value Dict<Key, Value>::at(const Key& key) const {
  const size_t place = data_->find(IValue(key));
  if (place == size()) ivalue::missing_key(IValue(key));
  return data_->entries[place].second.template to<Value>();
}

template <typename T>
T IValue::to() const {
  return ivalue::Convert<std::remove_cv_t<T>>::from(*this);
}
template <typename T>
bool IValue::isListOf() const {
  return is_list_of(*TypeOf<T>::get());
}
template <typename T>
intrusive_ptr<T> IValue::toCustomClass() const {
  return intrusive_ptr<T>(static_cast<T*>(ivalue::capsule_of(*this, typeid(T))));
}
template <typename T, typename>
IValue::IValue(intrusive_ptr<T> value) : IValue(ivalue::object_of_class(typeid(T), std::move(value))) {}
template <typename T>
IValue::IValue(List<T> value) : IValue(value.data()) {}
template <typename T>
IValue::IValue(const std::vector<T>& value) : IValue(List<T>(value)) {}
template <typename Key, typename Value>
IValue::IValue(Dict<Key, Value> value) : IValue(value.data()) {}
template <typename Key, typename Value>
IValue::IValue(const std::unordered_map<Key, Value>& value) : IValue() {
  Dict<Key, Value> dict;
  for (const auto& entry : value) dict.insert(entry.first, entry.second);
  *this = IValue(dict.data());
}
template <typename... Ts>
IValue::IValue(std::tuple<Ts...> value)
    : IValue(std::apply([](auto&... items) { return ivalue::TupleData::create(std::vector<IValue>{IValue(items)...}); },
                        value)) {}
template <typename T>
IValue::IValue(std::optional<T> value) : IValue() {
  if (value) *this = IValue(std::move(*value));
}

}  // namespace hb
