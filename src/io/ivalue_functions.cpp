// What values are made of: hashes, copies, parts, texts.
#include <halfbridge/ivalue.h>

#include <iostream>

#include <halfbridge/future.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>
#include <halfbridge/type_tree.h>

#include "core/stack.h"
#include "io/quoted.h"

namespace hb {
namespace {

size_t combined(size_t seed, size_t value) { return seed ^ (value + 0x9e3779b9 + (seed << 6) + (seed >> 2)); }

const void* address_of(const IValue& value) {
  if (value.isTensor()) return value.toTensor().unsafeGetTensorImpl();
  if (value.isString()) return value.toString().get();
  if (value.isList()) return value.toList().data().get();
  if (value.isGenericDict()) return value.toGenericDict().data().get();
  if (value.isTuple()) return value.toTuple().get();
  if (value.isObject()) return value.toObject().get();
  if (value.isStorage()) return value.toStorage().unsafeGetStorageImpl();
  if (value.isFuture()) return value.toFuture().get();
  return nullptr;
}

bool is_sub_value(const IValue& value) { return value.isPtrType() && !value.isString() && !value.isComplexDouble(); }

template <class F>
void for_each_part(const IValue& value, F f) {
  if (value.isList()) {
    for (const IValue& item : value.toListRef()) f(item);
  } else if (value.isTuple()) {
    for (const IValue& item : value.toTupleRef().elements()) f(item);
  } else if (value.isGenericDict()) {
    for (const auto& [key, item] : value.toGenericDict().data()->entries) {
      f(key);
      f(item);
    }
  } else if (value.isObject()) {
    for (const auto& attribute : value.toObject()->attributes) f(attribute.value);
  }
}

class Copier {
 public:
  Copier(IValue::HashAliasedIValueMap& copies, std::optional<Device> device) : copies_(copies), device_(device) {}

  IValue copy(const IValue& value) {
    if (!is_sub_value(value)) return value;
    const auto known = copies_.find(value);
    if (known != copies_.end()) return known->second;
    return detail::with_stack([&] { return copy_new(value); });
  }

 private:
  IValue copy_new(const IValue& value) {
    if (value.isTensor()) return keep(value, tensor(value.toTensor()));
    if (value.isList()) {
      const auto& from = *value.toList().data();
      auto to = std::make_shared<ivalue::ListData>();
      to->element_type = from.element_type;
      keep(value, IValue(to));
      for (const IValue& item : from.items) to->items.push_back(copy(item));
      return to;
    }
    if (value.isGenericDict()) {
      const auto& from = *value.toGenericDict().data();
      auto to = std::make_shared<ivalue::DictData>();
      to->key_type = from.key_type;
      to->value_type = from.value_type;
      keep(value, IValue(to));
      for (const auto& [key, item] : from.entries) to->set(copy(key), copy(item));
      return to;
    }
    if (value.isTuple()) {
      std::vector<IValue> items;
      for (const IValue& item : value.toTupleRef().elements()) items.push_back(copy(item));
      return keep(value, IValue(ivalue::TupleData::create(std::move(items))));
    }
    if (value.isObject()) return object(value);
    throw Error("Can't deepcopy IValue with tag: " + value.tagKind());
  }

  IValue object(const IValue& value) {
    const auto from = value.toObject();
    auto to = std::make_shared<ivalue::ObjectData>(*from);
    keep(value, IValue(to));
    if (from->registered_class) return with_state(*from, to);
    for (const auto& attribute : from->attributes) to->setAttr(attribute.name, copy(attribute.value));
    return to;
  }

  // A program's own object is saved and made again.
  IValue with_state(const ivalue::ObjectData& from, const std::shared_ptr<ivalue::ObjectData>& to) {
    const auto of_class = ivalue::find_custom_class(from.class_name);
    HB_CHECK(of_class && of_class->get_state, "Cannot deepcopy an object of ", from.class_name,
             ": the class was registered without def_pickle");
    of_class->set_state(IValue(to), copy(of_class->get_state(IValue(std::make_shared<ivalue::ObjectData>(from)))));
    return to;
  }

  IValue tensor(const Tensor& from) const {
    const NoGradGuard no_grad;
    Tensor to = device_ && *device_ != from.device() ? from.to(*device_) : from.clone();
    to.requires_grad_(from.requires_grad());
    return to;
  }

  IValue keep(const IValue& from, IValue to) {
    copies_.emplace(from, to);
    return to;
  }

  IValue::HashAliasedIValueMap& copies_;
  std::optional<Device> device_;
};

using Formatter = std::function<bool(std::ostream&, const IValue&)>;

void write_items(std::ostream& out, const std::vector<IValue>& items, const Formatter& formatter) {
  const char* before = "";
  for (const IValue& item : items) {
    out << before;
    item.repr(out, formatter);
    before = ", ";
  }
}

// Empty lists and dicts, and lists of several kinds, do not show their types.
void write_list(std::ostream& out, const IValue& value, const Formatter& formatter) {
  const auto& list = *value.toList().data();
  const bool annotated = list.items.empty() || !elementTypeCanBeInferredFromMembers(list.element_type);
  if (annotated) out << "annotate(" << value.type()->annotation_str() << ", ";
  out << "[";
  write_items(out, list.items, formatter);
  out << (annotated ? "])" : "]");
}

void write_dict(std::ostream& out, const IValue& value, const Formatter& formatter) {
  const auto& dict = *value.toGenericDict().data();
  const bool annotated = dict.entries.empty() || !elementTypeCanBeInferredFromMembers(dict.value_type);
  if (annotated) out << "annotate(" << value.type()->annotation_str() << ", ";
  out << "{";
  const char* before = "";
  for (const auto& [key, item] : dict.entries) {
    out << before;
    key.repr(out, formatter);
    out << ": ";
    item.repr(out, formatter);
    before = ", ";
  }
  out << (annotated ? "})" : "}");
}

}  // namespace

size_t IValue::HashAliasedIValue::operator()(const IValue& value) const {
  if (value.isTensor() && value.toTensor().has_storage())
    return std::hash<const void*>()(value.toTensor().storage().unsafeGetStorageImpl());
  return is_sub_value(value) ? std::hash<const void*>()(address_of(value)) : hash(value);
}

size_t IValue::hash(const IValue& value) {
  if (value.isNone()) return 0;
  if (value.isBool()) return std::hash<bool>()(value.toBool());
  if (value.isInt()) return std::hash<int64_t>()(value.toInt());
  if (value.isDouble()) return std::hash<double>()(value.toDouble());
  if (value.isComplexDouble()) {
    const Complex<double> number = value.toComplexDouble();
    return combined(std::hash<double>()(number.real()), std::hash<double>()(number.imag()));
  }
  if (value.isString()) return std::hash<std::string>()(value.toStringRef());
  if (value.isDevice()) return std::hash<std::string>()(value.toDevice().str());
  if (value.isTuple()) {
    return detail::with_stack([&] {
      size_t all = 0;
      for (const IValue& item : value.toTupleRef().elements()) all = combined(all, hash(item));
      return all;
    });
  }
  if (value.isTensor() || value.isStorage()) return std::hash<const void*>()(address_of(value));
  throw Error("unhashable type: '" + value.type()->repr_str() + "'");
}

IValue IValue::equals(const IValue& other) const {
  if (isTensor() && other.isTensor()) return eq(toTensor(), other.toTensor());
  return *this == other;
}

IValue IValue::deepcopy(std::optional<Device> device) const {
  HashAliasedIValueMap copies;
  return deepcopy(copies, device);
}
IValue IValue::deepcopy(HashAliasedIValueMap& copies, std::optional<Device> device) const {
  return Copier(copies, device).copy(*this);
}

std::ostream& IValue::repr(std::ostream& out, const Formatter& formatter) const {
  if (formatter(out, *this)) return out;
  if (isString()) return out << io::quoted(toStringRef());
  if (isDevice()) return out << "torch.device(\"" << toDevice().str() << "\")";
  return detail::with_stack([&]() -> std::ostream* {
    if (isList()) {
      write_list(out, *this, formatter);
    } else if (isGenericDict()) {
      write_dict(out, *this, formatter);
    } else if (isTuple()) {
      const auto& items = toTupleRef().elements();
      out << "(";
      write_items(out, items, formatter);
      out << (items.size() == 1 ? ",)" : ")");
    } else {
      HB_CHECK(!isTensor() && !isObject() && !isStorage() && !isFuture() && !isStream() && !isGenerator(),
               "repr() not defined on: ", tagKind());
      out << *this;
    }
    return &out;
  })[0];
}

void IValue::dump() const { std::cout << *this << "\n"; }

void IValue::getSubValues(HashAliasedIValues& values) const {
  if (!is_sub_value(*this) || !values.insert(*this).second) return;
  detail::with_stack([&] { for_each_part(*this, [&](const IValue& part) { part.getSubValues(values); }); });
}

void IValue::visit(const std::function<bool(const IValue&)>& visitor) const {
  if (visitor(*this)) return;
  detail::with_stack([&] { for_each_part(*this, [&](const IValue& part) { part.visit(visitor); }); });
}

bool IValue::overlaps(const IValue& other) const {
  HashAliasedIValues mine, theirs;
  getSubValues(mine);
  other.getSubValues(theirs);
  for (const IValue& value : theirs) {
    if (mine.count(value)) return true;
  }
  return false;
}

}  // namespace hb
