// The types that C++ types have as values. Included by ivalue_type.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfbridge/array_ref.h>
#include <halfbridge/complex.h>
#include <halfbridge/intrusive_ptr.h>
#include <halfbridge/ivalue_type.h>

namespace hb {

class Tensor;
class Device;
class Scalar;
class Generator;
class Storage;
class Stream;
class SymInt;
class IValue;
template <class T>
struct Complex;
template <typename T>
class List;
template <typename Key, typename Value>
class Dict;

namespace detail {
HB_API TypePtr tensor_type();
HB_API TypePtr list_type(TypePtr element);
HB_API TypePtr dict_type(TypePtr key, TypePtr value);
HB_API TypePtr optional_type(const TypePtr& inner);
HB_API TypePtr tuple_type(std::vector<TypePtr> elements);
template <class T>
struct TypeIs {
  static TypePtr get() { return T::get(); }
};
}  // namespace detail

/// "__torch__.torch.classes.ns.Name"; throws for a class that is not registered.
HB_API TypePtr registered_type(const std::type_info& type);

/// The type that C++ values of type T have in an archive.
template <typename T>
struct TypeOf;

template <>
struct TypeOf<IValue> : detail::TypeIs<AnyType> {};
template <>
struct TypeOf<Tensor> {
  static TypePtr get() { return detail::tensor_type(); }
};
template <>
struct TypeOf<int64_t> : detail::TypeIs<IntType> {};
template <>
struct TypeOf<SymInt> : detail::TypeIs<IntType> {};
template <>
struct TypeOf<double> : detail::TypeIs<FloatType> {};
template <>
struct TypeOf<Complex<double>> : detail::TypeIs<ComplexType> {};
template <>
struct TypeOf<bool> : detail::TypeIs<BoolType> {};
template <>
struct TypeOf<std::string> : detail::TypeIs<StringType> {};
template <>
struct TypeOf<std::string_view> : detail::TypeIs<StringType> {};
template <>
struct TypeOf<Device> : detail::TypeIs<DeviceObjType> {};
template <>
struct TypeOf<Scalar> : detail::TypeIs<NumberType> {};
template <>
struct TypeOf<Generator> : detail::TypeIs<GeneratorType> {};
template <>
struct TypeOf<Storage> : detail::TypeIs<StorageType> {};
template <>
struct TypeOf<Stream> : detail::TypeIs<StreamObjType> {};
template <>
struct TypeOf<void> : detail::TypeIs<NoneType> {};
template <typename T>
struct TypeOf<intrusive_ptr<T>> {
  static TypePtr get() { return registered_type(typeid(T)); }
};
template <typename... Ts>
struct TypeOf<std::tuple<Ts...>> {
  static TypePtr get() {
    static const TypePtr type = detail::tuple_type({TypeOf<Ts>::get()...});
    return type;
  }
};
template <typename T>
struct TypeOf<List<T>> {
  static TypePtr get() {
    static const TypePtr type = detail::list_type(TypeOf<T>::get());
    return type;
  }
};
template <typename T>
struct TypeOf<std::vector<T>> : TypeOf<List<T>> {};
template <typename T>
struct TypeOf<ArrayRef<T>> : TypeOf<List<T>> {};
template <typename T, size_t N>
struct TypeOf<std::array<T, N>> : TypeOf<List<T>> {};
template <typename Key, typename Value>
struct TypeOf<Dict<Key, Value>> {
  static TypePtr get() {
    static const TypePtr type = detail::dict_type(TypeOf<Key>::get(), TypeOf<Value>::get());
    return type;
  }
};
template <typename Key, typename Value>
struct TypeOf<std::unordered_map<Key, Value>> : TypeOf<Dict<Key, Value>> {};
template <typename T>
struct TypeOf<std::optional<T>> {
  static TypePtr get() {
    static const TypePtr type = detail::optional_type(TypeOf<T>::get());
    return type;
  }
};
template <typename T>
struct TypeOf<OptionalArrayRef<T>> : TypeOf<std::optional<ArrayRef<T>>> {};

}  // namespace hb
