// Nested values by dotted name.
#include <algorithm>
#include <functional>
#include <unordered_set>

#include <halfbridge/io/state_dict.h>

#include "io/io_error.h"

namespace hb::io {
namespace {

// Shared lists can name one tensor in more ways than there are atoms: a small file would take all memory. Places and
// bytes of names are bounded by what is there once.
constexpr size_t kFreePlaces = size_t{1} << 16, kPlacesPerItem = 8;
constexpr size_t kFreeNameBytes = size_t{1} << 23, kNameBytesPerByte = 64;
constexpr size_t kMaxNameBytes = 4096;
constexpr int kMaxDepth = 700;

std::string text_of_key(const IValue& key) {
  if (key.isString()) return key.toStringRef();
  if (key.isInt()) return std::to_string(key.toInt());
  if (key.isTensor()) return "Tensor";  // its values could be any number
  if (!key.isTuple()) return detail::str(key);
  std::string text = "(";
  for (const IValue& item : key.toTupleRef().elements()) text += (text.size() > 1 ? ", " : "") + text_of_key(item);
  return text + ")";
}

class Walk {
 public:
  using Visitor = std::function<void(const std::string& name, const IValue& value)>;
  explicit Walk(Visitor visit) : visit_(std::move(visit)) {}

  void run(const IValue& value) {
    name_ = is_container(value) ? "" : "0";
    step(value);
  }

 private:
  static bool is_container(const IValue& value) {
    return value.isGenericDict() || value.isList() || value.isTuple() || value.isObject();
  }

  static const void* identity(const IValue& value) {
    if (value.isGenericDict()) return value.toGenericDict().data().get();
    if (value.isList()) return value.toList().data().get();
    if (value.isTuple()) return &value.toTupleRef();
    return value.isObject() ? value.toObject().get() : nullptr;
  }

  void step(const IValue& value) {
    if (++depth_ > kMaxDepth) io_fail("flatten", "expected values nested at most ", kMaxDepth, " deep, got more");
    const void* container = identity(value);
    fresh_ = container == nullptr || seen_.insert(container).second;
    if (++places_ > kFreePlaces + kPlacesPerItem * items_ || bytes_ > kFreeNameBytes + kNameBytesPerByte * own_bytes_) {
      io_fail("flatten", "expected at most ", kPlacesPerItem, " places for each of the ", items_,
              " values that lists and dicts share, got more");
    }
    if (value.isGenericDict()) {
      const auto& entries = value.toGenericDict().data()->entries;
      if (fresh_) items_ += entries.size();
      const bool fresh = fresh_;
      for (const auto& [key, item] : entries) below(text_of_key(key), item, fresh);
    } else if (value.isList()) {
      items(value.toListRef());
    } else if (value.isTuple()) {
      items(value.toTupleRef().elements());
    } else if (value.isObject()) {
      const auto& attributes = value.toObject()->attributes;
      if (fresh_) items_ += attributes.size();
      const bool fresh = fresh_;
      for (const auto& attribute : attributes) below(attribute.name, attribute.value, fresh);
    } else {
      leaf(value);
    }
    --depth_;
  }

  void items(const std::vector<IValue>& values) {
    if (fresh_) items_ += values.size();
    const bool fresh = fresh_;
    for (size_t i = 0; i < values.size(); ++i) below(std::to_string(i), values[i], fresh);
  }

  void below(const std::string& key, const IValue& value, bool fresh) {
    const size_t length = name_.size();
    if (fresh) own_bytes_ += key.size();
    if (depth_ > 1) name_ += '.';
    if (key.size() > kMaxNameBytes - std::min(kMaxNameBytes, name_.size())) {
      io_fail("flatten", "expected names of at most ", kMaxNameBytes, " bytes, got a longer one under '",
              name_.substr(0, 60), "'");
    }
    name_ += key;
    step(value);
    name_.resize(length);
  }

  void leaf(const IValue& value) {
    bytes_ += name_.size();
    visit_(name_, value);
  }

  Visitor visit_;
  std::string name_;
  size_t places_ = 0, items_ = 0;     // places that were gone to, and values that there are
  size_t bytes_ = 0, own_bytes_ = 0;  // of names with what stands before them, and of each by itself
  bool fresh_ = true;                 // whether the container at hand is seen for the first time
  std::unordered_set<const void*> seen_;
  int depth_ = 0;
};

const IValue* child(const IValue& value, const std::string& key) {
  if (value.isGenericDict()) {
    for (const auto& [known, item] : value.toGenericDict().data()->entries)
      if (text_of_key(known) == key) return &item;
  } else if (value.isList() || value.isTuple()) {
    const auto& items = value.isList() ? value.toListRef() : value.toTupleRef().elements();
    for (size_t i = 0; i < items.size(); ++i)
      if (std::to_string(i) == key) return &items[i];
  } else if (value.isObject()) {
    if (const auto* attribute = value.toObject()->find(key)) return &attribute->value;
  }
  return nullptr;
}

}  // namespace

NamedTensors flatten(const IValue& value) {
  NamedTensors tensors;
  std::unordered_set<std::string> names;
  Walk([&](const std::string& name, const IValue& leaf) {
    if (!leaf.isTensor()) return;
    if (!names.insert(name).second) io_fail("flatten", "expected each dotted name once, got '", name, "' twice");
    tensors.emplace_back(name, leaf.toTensor());
  }).run(value);
  return tensors;
}

std::vector<std::pair<std::string, IValue>> flatten_others(const IValue& value) {
  std::vector<std::pair<std::string, IValue>> others;
  Walk([&](const std::string& name, const IValue& leaf) {
    if (!leaf.isTensor()) others.emplace_back(name, leaf);
  }).run(value);
  return others;
}

// A key may itself hold dots: the longest that fits is tried first, and shorter ones after it.
std::optional<IValue> value_at(const IValue& value, const std::string& name) {
  if (name.empty()) return value;
  for (size_t end = name.size(); end != std::string::npos && end > 0; end = name.rfind('.', end - 1)) {
    const IValue* item = child(value, name.substr(0, end));
    if (!item) continue;
    if (end == name.size()) return *item;
    if (auto found = value_at(*item, name.substr(end + 1))) return found;
  }
  return std::nullopt;
}

IValue dict_of(const NamedTensors& tensors) {
  Dict<std::string, Tensor> dict;
  for (const auto& [name, tensor] : tensors) {
    if (!dict.insert(name, tensor).second) io_fail("dict_of", "expected each name once, got '", name, "' twice");
  }
  return dict;
}

}  // namespace hb::io
