// The containers that an IValue refers to: tuples, dicts, objects of classes.
#include <halfbridge/ivalue.h>

#include <algorithm>
#include <functional>
#include <random>
#include <stdexcept>

#include <halfbridge/type_tree.h>

#include "core/remains.h"
#include "core/stack.h"

namespace hb::ivalue {
namespace {

// A hostile file could choose numbers that all fall into one bucket: each process has its own salt.
size_t hash_number(uint64_t bits) {
  static const uint64_t salt = (uint64_t{std::random_device()()} << 32) | std::random_device()();
  bits = (bits ^ salt) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 32)) * 0xd6e8feb86659fd93u;
  return static_cast<size_t>(bits ^ (bits >> 32));
}

size_t hash_key(const IValue& key) {
  const size_t salt = std::hash<std::string>()(key.tagKind());
  if (key.isString()) return salt ^ std::hash<std::string>()(key.toStringRef());
  if (key.isInt()) return salt ^ hash_number(static_cast<uint64_t>(key.toInt()));
  if (key.isDouble()) return salt ^ hash_number(std::hash<double>()(key.toDouble()));
  if (key.isComplexDouble()) {
    const Complex<double> number = key.toComplexDouble();
    return salt ^ hash_number(std::hash<double>()(number.real()) * 31 + std::hash<double>()(number.imag()));
  }
  if (key.isBool()) return salt ^ (key.toBool() ? 1 : 0);
  if (key.isDevice()) return salt ^ std::hash<std::string>()(key.toDevice().str());
  if (key.isTensor()) return salt ^ std::hash<const void*>()(key.toTensor().unsafeGetTensorImpl());
  if (key.isNone()) return salt;
  if (!key.isTuple()) detail::fail<TypeError>("[Dict] expected a key that can be hashed, got ", key.tagKind());
  size_t hash = salt;
  for (const IValue& item : key.toTupleRef().items) hash = hash * 31 + hash_key(item);
  return hash;
}

bool holds_values(const IValue& v) { return v.isList() || v.isTuple() || v.isGenericDict() || v.isObject(); }
bool holds_values(const std::pair<IValue, IValue>& entry) {
  return holds_values(entry.first) || holds_values(entry.second);
}
bool holds_values(const ObjectData::Attribute& a) { return holds_values(a.value); }

// Values within values are not freed by recursion.
template <class T>
void free_items(std::vector<T>& items) {
  const auto nested = [](const T& item) { return holds_values(item); };
  if (std::any_of(items.begin(), items.end(), nested)) detail::free_list_in_turn(items);
}

}  // namespace

ListData::~ListData() { free_items(items); }
TupleData::~TupleData() { free_items(items); }
DictData::~DictData() { free_items(entries); }
ObjectData::~ObjectData() { free_items(attributes); }

std::shared_ptr<TupleData> TupleData::create(std::vector<IValue> elements) {
  auto tuple = std::make_shared<TupleData>();
  tuple->items = std::move(elements);
  return tuple;
}
std::shared_ptr<TupleData> TupleData::createNamed(std::vector<IValue> elements, std::shared_ptr<TupleType> type) {
  HB_CHECK(type && type->elements().size() == elements.size(), "[Tuple::createNamed] expected a type of ",
           elements.size(), " elements");
  auto tuple = create(std::move(elements));
  tuple->named_type_ = std::move(type);
  return tuple;
}
std::shared_ptr<TupleType> TupleData::type() const {
  if (named_type_) return named_type_;
  return detail::with_stack([&] {
    std::vector<TypePtr> types;
    types.reserve(items.size());
    for (const IValue& item : items) types.push_back(item.type());
    return TupleType::create(std::move(types));
  });
}

size_t DictData::find(const IValue& key) const {
  const auto [first, last] = index_.equal_range(hash_key(key));
  for (auto at = first; at != last; ++at) {
    if (entries[at->second].first == key) return at->second;
  }
  return entries.size();
}

void DictData::set(IValue key, IValue value) {
  const size_t place = find(key);
  if (place < entries.size()) {
    entries[place].second = std::move(value);
    return;
  }
  index_.emplace(hash_key(key), place);
  entries.emplace_back(std::move(key), std::move(value));
}

bool DictData::erase(const IValue& key) {
  const size_t place = find(key);
  if (place == entries.size()) return false;
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(place));
  index_.clear();
  for (size_t i = 0; i < entries.size(); ++i) index_.emplace(hash_key(entries[i].first), i);
  return true;
}

void DictData::clear() {
  entries.clear();
  index_.clear();
}

const ObjectData::Attribute* ObjectData::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &attributes[found->second];
}

void ObjectData::set(const std::string& name, IValue value, Role role) {
  const auto [at, fresh] = index_.emplace(name, attributes.size());
  if (fresh) {
    attributes.push_back({name, std::move(value), role});
  } else {
    attributes[at->second].value = std::move(value);
    attributes[at->second].role = role;
  }
}

const IValue& ObjectData::getAttr(const std::string& name) const {
  const Attribute* found = find(name);
  HB_CHECK(found, "[Object.getAttr] expected an attribute of ", class_name, ", got '", name, "'");
  return found->value;
}

void ObjectData::setAttr(const std::string& name, IValue value) {
  const Attribute* found = find(name);
  set(name, std::move(value), found ? found->role : Role::Attribute);
}

std::shared_ptr<ListData> list_of(const IValue& value) { return value.toList().data(); }
std::shared_ptr<DictData> dict_of(const IValue& value) { return value.toGenericDict().data(); }

void missing_key(const IValue& key) {
  throw std::out_of_range(detail::str("[Dict.at] Argument passed to at() was not in the map. Got the key ", key));
}

}  // namespace hb::ivalue
