// Types of the values that archives and pickles hold.
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

#include <halfbridge/complex.h>
#include <halfbridge/intrusive_ptr.h>
#include <halfbridge/macros.h>

namespace hb {

/// A type, made from its text in Python's form or in that of schemas.
class HB_API Type {
 public:
  explicit Type(std::string text);
  /// As schemas write it: "int[]", "Dict(str, Tensor)", "(float, float)", "int?".
  const std::string& str() const { return schema_text_; }
  /// As Python writes it and archives hold it: "List[int]", "Dict[str, Tensor]", "Tuple[float, float]",
  /// "Optional[int]".
  const std::string& annotation_str() const { return text_; }
  const std::string& repr_str() const { return text_; }
  bool operator==(const Type& other) const { return text_ == other.text_; }
  bool operator!=(const Type& other) const { return text_ != other.text_; }

 private:
  std::string text_, schema_text_;
};

using TypePtr = std::shared_ptr<const Type>;

HB_API TypePtr make_type(std::string text);

#define HB_SIMPLE_TYPE(NAME, TEXT)                 \
  struct NAME {                                    \
    static TypePtr get() {                         \
      static const TypePtr type = make_type(TEXT); \
      return type;                                 \
    }                                              \
  }
HB_SIMPLE_TYPE(AnyType, "Any");
HB_SIMPLE_TYPE(NoneType, "NoneType");
HB_SIMPLE_TYPE(TensorType, "Tensor");
HB_SIMPLE_TYPE(IntType, "int");
HB_SIMPLE_TYPE(FloatType, "float");
HB_SIMPLE_TYPE(ComplexType, "complex");
HB_SIMPLE_TYPE(BoolType, "bool");
HB_SIMPLE_TYPE(StringType, "str");
HB_SIMPLE_TYPE(DeviceObjType, "Device");
HB_SIMPLE_TYPE(NumberType, "Scalar");
HB_SIMPLE_TYPE(GeneratorType, "Generator");
#undef HB_SIMPLE_TYPE

class Tensor;
class Device;
class Scalar;
class Generator;
class SymInt;
class IValue;
template <class T>
struct Complex;
template <typename T>
class List;
template <typename Key, typename Value>
class Dict;

/// The type that C++ values of type T have in an archive.
template <typename T>
struct TypeOf;

template <>
struct TypeOf<IValue> : AnyType {};
template <>
struct TypeOf<Tensor> : TensorType {};
template <>
struct TypeOf<int64_t> : IntType {};
template <>
struct TypeOf<SymInt> : IntType {};
template <>
struct TypeOf<double> : FloatType {};
template <>
struct TypeOf<Complex<double>> : ComplexType {};
template <>
struct TypeOf<bool> : BoolType {};
template <>
struct TypeOf<std::string> : StringType {};
template <>
struct TypeOf<Device> : DeviceObjType {};
template <>
struct TypeOf<Scalar> : NumberType {};
template <>
struct TypeOf<Generator> : GeneratorType {};
/// "__torch__.torch.classes.ns.Name"; throws for a class that is not registered.
HB_API TypePtr registered_type(const std::type_info& type);
template <typename T>
struct TypeOf<intrusive_ptr<T>> {
  static TypePtr get() { return registered_type(typeid(T)); }
};
template <typename... Ts>
struct TypeOf<std::tuple<Ts...>> {
  static TypePtr get() {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + TypeOf<Ts>::get()->annotation_str()), ...);
    return make_type("Tuple[" + text + "]");
  }
};
template <typename T>
struct TypeOf<List<T>> {
  static TypePtr get() { return make_type("List[" + TypeOf<T>::get()->annotation_str() + "]"); }
};
template <typename T>
struct TypeOf<std::vector<T>> : TypeOf<List<T>> {};
template <typename T, size_t N>
struct TypeOf<std::array<T, N>> : TypeOf<List<T>> {};
template <typename Key, typename Value>
struct TypeOf<Dict<Key, Value>> {
  static TypePtr get() {
    return make_type("Dict[" + TypeOf<Key>::get()->annotation_str() + ", " + TypeOf<Value>::get()->annotation_str() +
                     "]");
  }
};
template <typename T>
struct TypeOf<std::optional<T>> {
  static TypePtr get() { return make_type("Optional[" + TypeOf<T>::get()->annotation_str() + "]"); }
};

}  // namespace hb
