#pragma once
#include <c10/names.h>
#include <halfbridge/ivalue.h>

namespace c10::impl {
using GenericDict = hb::Dict<hb::IValue, hb::IValue>;
using GenericList = hb::List<hb::IValue>;

/// The same list or dict under another type; throws where its elements are of another one.
template <class T>
hb::List<T> toTypedList(GenericList list) {
  const auto type = hb::TypeOf<T>::get();
  TORCH_CHECK(*list.elementType() == *type, "Tried to cast a List<", list.elementType()->repr_str(), "> to a List<",
              type->repr_str(), ">. Types mismatch.");
  return hb::List<T>(list.data());
}
template <class Key, class Value>
hb::Dict<Key, Value> toTypedDict(GenericDict dict) {
  const auto key = hb::TypeOf<Key>::get(), value = hb::TypeOf<Value>::get();
  const auto cast = [&] {
    return "Tried to cast a Dict<" + dict.keyType()->repr_str() + ", " + dict.valueType()->repr_str() + "> to a Dict<" +
           key->repr_str() + ", " + value->repr_str() + ">. ";
  };
  TORCH_CHECK(*dict.keyType() == *key, cast(), "Key types mismatch.");
  TORCH_CHECK(*dict.valueType() == *value, cast(), "Value types mismatch.");
  return hb::Dict<Key, Value>(dict.data());
}
template <class T>
GenericList toList(const hb::List<T>& list) {
  return GenericList(list.data());
}
template <class Key, class Value>
GenericDict toGenericDict(const hb::Dict<Key, Value>& dict) {
  return GenericDict(dict.data());
}
}  // namespace c10::impl
