// A value of any of the kinds that archives and pickles hold.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <halfbridge/complex.h>
#include <halfbridge/ivalue_type.h>
#include <halfbridge/tensor.h>

namespace hb {

namespace bridge::jit {
struct Module;
}
class ClassType;

namespace ivalue {
struct ListData;
struct DictData;
struct TupleData;
struct ObjectData;
struct StringData;
using Tuple = TupleData;
using Object = ObjectData;
using ConstantString = StringData;
}  // namespace ivalue

/// None, Tensor, float, complex, int, bool, string, Device, list, tuple, dict, object or generator; dtypes, layouts and
/// memory formats are ints. Lists, tuples, dicts and objects are shared by copies, as in LibTorch. The to...()
/// functions throw hb::Error when the value is of another kind.
class HB_API IValue {
 public:
  IValue() = default;
  IValue(std::nullopt_t) {}
  IValue(Tensor value) : value_(std::move(value)) {}
  IValue(double value) : value_(value) {}
  IValue(Complex<double> value) : value_(value) {}
  IValue(int64_t value) : value_(value) {}
  IValue(int32_t value) : value_(int64_t{value}) {}
  IValue(bool value) : value_(value) {}
  IValue(const char* value) : IValue(std::string(value)) {}
  IValue(std::string value);
  IValue(std::string_view value) : IValue(std::string(value)) {}
  IValue(Device value) : value_(value) {}
  IValue(const Scalar& value);
  IValue(Generator value) : value_(std::move(value)) {}
  IValue(ScalarType value) : value_(static_cast<int64_t>(value)) {}
  IValue(Layout value) : value_(static_cast<int64_t>(value)) {}
  IValue(MemoryFormat value) : value_(static_cast<int64_t>(value)) {}
  /// An object of a class that the program registered by torch::class_; throws for any other class.
  template <typename T, typename = std::enable_if_t<std::is_base_of_v<intrusive_ptr_target, T>>>
  IValue(intrusive_ptr<T> value);
  IValue(std::shared_ptr<ivalue::ListData> value) : value_(std::move(value)) {}
  IValue(std::shared_ptr<ivalue::DictData> value) : value_(std::move(value)) {}
  IValue(std::shared_ptr<ivalue::TupleData> value) : value_(std::move(value)) {}
  IValue(std::shared_ptr<ivalue::ObjectData> value) : value_(std::move(value)) {}
  template <typename T>
  IValue(List<T> value);
  template <typename T>
  IValue(const std::vector<T>& value);
  template <typename T>
  IValue(ArrayRef<T> value) : IValue(value.vec()) {}
  template <typename Key, typename Value>
  IValue(Dict<Key, Value> value);
  template <typename Key, typename Value>
  IValue(const std::unordered_map<Key, Value>& value);
  template <typename... Ts>
  IValue(std::tuple<Ts...> value);
  template <typename T>
  IValue(std::optional<T> value);
  /// Pointers would silently become bool.
  template <typename T, typename = std::enable_if_t<!std::is_same_v<std::remove_cv_t<T>, char>>>
  IValue(T* value) = delete;

  bool isNone() const { return is<std::monostate>(); }
  bool isTensor() const { return is<Tensor>(); }
  bool isDouble() const { return is<double>(); }
  bool isComplexDouble() const { return is<Complex<double>>(); }
  bool isInt() const { return is<int64_t>(); }
  bool isBool() const { return is<bool>(); }
  bool isScalar() const { return isDouble() || isInt() || isBool() || isComplexDouble(); }
  bool isString() const { return is<StringPtr>(); }
  bool isDevice() const { return is<Device>(); }
  bool isList() const { return is<ListPtr>(); }
  bool isIntList() const { return is_list_of("int"); }
  bool isDoubleList() const { return is_list_of("float"); }
  bool isBoolList() const { return is_list_of("bool"); }
  bool isTensorList() const { return is_list_of("Tensor"); }
  bool isOptionalTensorList() const { return is_list_of("Optional[Tensor]"); }
  bool isGenerator() const { return is<Generator>(); }
  bool isTuple() const { return is<TuplePtr>(); }
  bool isGenericDict() const { return is<DictPtr>(); }
  bool isObject() const { return is<ObjectPtr>(); }
  /// An object whose class is a module.
  bool isModule() const;
  /// An object whose class is a registered C++ class.
  bool isCustomClass() const;

  const Tensor& toTensor() const&;
  Tensor toTensor() &&;
  double toDouble() const;
  Complex<double> toComplexDouble() const;
  int64_t toInt() const;
  bool toBool() const;
  Scalar toScalar() const;
  const std::string& toStringRef() const;
  std::string_view toStringView() const { return toStringRef(); }
  std::shared_ptr<ivalue::ConstantString> toString() const;
  Device toDevice() const;
  Generator toGenerator() const;
  ScalarType toScalarType() const { return static_cast<ScalarType>(toInt()); }
  Layout toLayout() const { return static_cast<Layout>(toInt()); }
  MemoryFormat toMemoryFormat() const { return static_cast<MemoryFormat>(toInt()); }
  List<IValue> toList() const;
  const std::vector<IValue>& toListRef() const;
  List<int64_t> toIntList() const;
  List<double> toDoubleList() const;
  List<bool> toBoolList() const;
  List<Tensor> toTensorList() const;
  std::vector<int64_t> toIntVector() const;
  std::vector<double> toDoubleVector() const;
  std::vector<Tensor> toTensorVector() const;
  std::shared_ptr<ivalue::Tuple> toTuple() const;
  const ivalue::Tuple& toTupleRef() const;
  Dict<IValue, IValue> toGenericDict() const;
  std::shared_ptr<ivalue::Object> toObject() const;
  /// Of a module; needs <halfbridge/bridge/jit.h>.
  bridge::jit::Module toModule() const;
  /// The C++ object in one of a registered class; throws when T is another class.
  template <typename T>
  intrusive_ptr<T> toCustomClass() const;
  template <typename T>
  T to() const;
  /// Nothing for None.
  template <typename T>
  std::optional<T> toOptional() const {
    return to<std::optional<T>>();
  }

  /// "Tensor", "Int", "GenericDict" and so on, as LibTorch names kinds.
  const char* tagKind() const;
  TypePtr type() const;
  /// The same object, or equal plain values.
  bool is(const IValue& other) const;

 private:
  using StringPtr = std::shared_ptr<ivalue::StringData>;
  using ListPtr = std::shared_ptr<ivalue::ListData>;
  using DictPtr = std::shared_ptr<ivalue::DictData>;
  using TuplePtr = std::shared_ptr<ivalue::TupleData>;
  using ObjectPtr = std::shared_ptr<ivalue::ObjectData>;

  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(value_);
  }
  template <typename T>
  const T& get(const char* function, const char* wanted) const;
  bool is_list_of(std::string_view element) const;

  std::variant<std::monostate, Tensor, double, Complex<double>, int64_t, bool, Device, StringPtr, ListPtr, DictPtr,
               TuplePtr, ObjectPtr, Generator>
      value_;
};

HB_API std::ostream& operator<<(std::ostream& out, const IValue& value);
/// Equal values; tensors are equal when they are the same tensor.
HB_API bool operator==(const IValue& left, const IValue& right);
inline bool operator!=(const IValue& left, const IValue& right) { return !(left == right); }

}  // namespace hb

#include <halfbridge/ivalue_containers.h>
