// A value of any of the kinds that archives and pickles hold.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
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
class Future;  // <halfbridge/future.h>
struct ListData;
struct DictData;
struct TupleData;
struct ObjectData;
struct StringData;
using Tuple = TupleData;
using Object = ObjectData;
using ConstantString = StringData;
}  // namespace ivalue

/// None, Tensor, float, complex, int, bool, string, Device, list, tuple, dict, object, generator, storage, stream or
/// future; dtypes, layouts and memory formats are ints. Lists, tuples, dicts and objects are shared by copies, as in
/// LibTorch. The to...() functions throw hb::Error when the value is of another kind.
class HB_API IValue {
 public:
  IValue() noexcept;
  IValue(const IValue& other);
  IValue(IValue&& other) noexcept;
  IValue& operator=(const IValue& other);
  IValue& operator=(IValue&& other) noexcept;
  ~IValue();
  IValue(std::nullopt_t) : IValue() {}
  IValue(Tensor value);
  IValue(double value);
  IValue(Complex<double> value);
  template <typename T>
  IValue(Complex<T> value) : IValue(Complex<double>(value.real(), value.imag())) {}
  IValue(int64_t value);
  IValue(int32_t value) : IValue(int64_t{value}) {}
  /// Throws for numbers above the largest int64: no value holds them.
  IValue(uint64_t value);
  IValue(const SymInt& value) : IValue(value.expect_int()) {}
  IValue(bool value);
  IValue(const char* value) : IValue(std::string(value)) {}
  IValue(std::string value);
  IValue(std::string_view value) : IValue(std::string(value)) {}
  IValue(Device value);
  IValue(const Scalar& value);
  IValue(Generator value);
  IValue(Storage value);
  IValue(Stream value);
  IValue(intrusive_ptr<ivalue::Future> value);
  IValue(ScalarType value) : IValue(static_cast<int64_t>(value)) {}
  IValue(Layout value) : IValue(static_cast<int64_t>(value)) {}
  IValue(MemoryFormat value) : IValue(static_cast<int64_t>(value)) {}
  /// An object of a class that the program registered by torch::class_; throws for any other class.
  template <typename T, typename = std::enable_if_t<std::is_base_of_v<intrusive_ptr_target, T>>>
  IValue(intrusive_ptr<T> value);
  IValue(std::shared_ptr<ivalue::StringData> value);
  IValue(std::shared_ptr<ivalue::ListData> value);
  IValue(std::shared_ptr<ivalue::DictData> value);
  IValue(std::shared_ptr<ivalue::TupleData> value);
  IValue(std::shared_ptr<ivalue::ObjectData> value);
  template <typename T>
  IValue(List<T> value);
  template <typename T>
  IValue(const std::vector<T>& value);
  template <typename T>
  IValue(ArrayRef<T> value) : IValue(value.vec()) {}
  template <typename T>
  IValue(OptionalArrayRef<T> value) : IValue() {
    if (value.has_value()) *this = IValue(*value);
  }
  template <typename T, size_t N>
  IValue(const std::array<T, N>& value) : IValue(ArrayRef<T>(value)) {}
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

  bool isNone() const { return kind() == Kind::None; }
  bool isTensor() const { return kind() == Kind::Tensor; }
  bool isDouble() const { return kind() == Kind::Double; }
  bool isComplexDouble() const { return kind() == Kind::ComplexDouble; }
  bool isInt() const { return kind() == Kind::Int; }
  /// An int that is not negative.
  bool isUnsigned() const;
  bool isBool() const { return kind() == Kind::Bool; }
  bool isScalar() const { return isDouble() || isInt() || isBool() || isComplexDouble(); }
  bool isString() const { return kind() == Kind::String; }
  bool isDevice() const { return kind() == Kind::Device; }
  bool isList() const { return kind() == Kind::List; }
  bool isIntList() const { return is_list_of(TypeKind::IntType); }
  bool isDoubleList() const { return is_list_of(TypeKind::FloatType); }
  bool isBoolList() const { return is_list_of(TypeKind::BoolType); }
  bool isTensorList() const { return is_list_of(TypeKind::TensorType); }
  bool isOptionalTensorList() const;
  bool isComplexDoubleList() const { return is_list_of(TypeKind::ComplexType); }
  template <typename T>
  bool isListOf() const;
  // Kinds of LibTorch's that no value is of here; its own SymInt of a known number is an int, too.
  bool isAwait() const { return false; }
  bool isBlob() const { return false; }
  bool isCapsule() const { return false; }
  bool isEnum() const { return false; }
  bool isPyObject() const { return false; }
  bool isQuantizer() const { return false; }
  bool isRRef() const { return false; }
  bool isSymBool() const { return false; }
  bool isSymFloat() const { return false; }
  bool isSymInt() const { return false; }
  /// A defined tensor, or what is counted: a text, list, tuple, dict, object, generator or complex number.
  bool isPtrType() const;
  bool isIntrusivePtr() const { return isPtrType() && !isTensor(); }
  bool isGenerator() const { return kind() == Kind::Generator; }
  bool isStorage() const { return kind() == Kind::Storage; }
  bool isStream() const { return kind() == Kind::Stream; }
  bool isFuture() const { return kind() == Kind::Future; }
  bool isTuple() const { return kind() == Kind::Tuple; }
  bool isGenericDict() const { return kind() == Kind::Dict; }
  bool isObject() const { return kind() == Kind::Object; }
  /// An object whose class is a module.
  bool isModule() const;
  /// An object whose class is a registered C++ class.
  bool isCustomClass() const;

  const Tensor& toTensor() const&;
  Tensor& toTensor() &;
  Tensor toTensor() &&;
  double toDouble() const;
  Complex<double> toComplexDouble() const;
  int64_t toInt() const;
  uint64_t toUInt() const;
  SymInt toSymInt() const { return toInt(); }
  bool toBool() const;
  Scalar toScalar() const;
  const std::string& toStringRef() const;
  std::string_view toStringView() const { return toStringRef(); }
  std::shared_ptr<ivalue::ConstantString> toString() const;
  Device toDevice() const;
  Generator toGenerator() const;
  Storage toStorage() const;
  Stream toStream() const;
  intrusive_ptr<ivalue::Future> toFuture() const;
  ScalarType toScalarType() const { return static_cast<ScalarType>(toInt()); }
  Layout toLayout() const { return static_cast<Layout>(toInt()); }
  MemoryFormat toMemoryFormat() const { return static_cast<MemoryFormat>(toInt()); }
  List<IValue> toList() const;
  const std::vector<IValue>& toListRef() const;
  List<int64_t> toIntList() const;
  List<SymInt> toSymIntList() const;
  List<double> toDoubleList() const;
  List<bool> toBoolList() const;
  List<Tensor> toTensorList() const;
  List<Complex<double>> toComplexDoubleList() const;
  std::vector<Complex<double>> toComplexDoubleVector() const;
  List<std::optional<Tensor>> toOptionalTensorList() const;
  std::vector<std::optional<Tensor>> toOptionalTensorVector() const;
  DimVector toDimVector() const;
  /// Nothing for None.
  std::optional<std::reference_wrapper<const std::string>> toOptionalStringRef() const;
  std::string toNone() const;
  std::vector<int64_t> toIntVector() const;
  std::vector<SymInt> toSymIntVector() const;
  std::vector<double> toDoubleVector() const;
  std::vector<Tensor> toTensorVector() const;
  std::shared_ptr<ivalue::Tuple> toTuple() const;
  const ivalue::Tuple& toTupleRef() const;
  Dict<IValue, IValue> toGenericDict() const;
  std::shared_ptr<ivalue::Object> toObject() const;
  ivalue::Object& toObjectRef() const;
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
  std::string tagKind() const;
  TypePtr type() const;
  template <typename T>
  TypePtr type() const {
    return type();
  }
  /// The same object, or equal plain values.
  bool is(const IValue& other) const;
  /// The same object; plain values have none.
  bool isSameIdentity(const IValue& other) const;
  /// Whether a change of one may be seen in the other: the same memory or the same object.
  bool isAliasOf(const IValue& other) const;
  size_t use_count() const noexcept;

  // By what values share: a tensor's memory, or the object.
  struct HashAliasedIValue {
    HB_API size_t operator()(const IValue& value) const;
  };
  struct CompAliasedIValues {
    bool operator()(const IValue& left, const IValue& right) const { return left.isAliasOf(right); }
  };
  using HashAliasedIValues = std::unordered_set<IValue, HashAliasedIValue, CompAliasedIValues>;
  using HashAliasedIValueMap = std::unordered_map<IValue, IValue, HashAliasedIValue, CompAliasedIValues>;

  /// Throws for lists and dicts.
  static size_t hash(const IValue& value);
  /// A bool; for two tensors the tensor of their equal elements.
  IValue equals(const IValue& other) const;
  /// Tensors and containers are copied, each once; other values, as texts, stay the same.
  IValue deepcopy(std::optional<Device> device = std::nullopt) const;
  IValue deepcopy(HashAliasedIValueMap& copies, std::optional<Device> device = std::nullopt) const;
  /// As code writes it. The formatter says whether it wrote a value itself.
  std::ostream& repr(std::ostream& out, const std::function<bool(std::ostream&, const IValue&)>& formatter) const;
  /// Prints it.
  void dump() const;
  /// Adds this value and what it holds, where these are tensors, containers or objects.
  void getSubValues(HashAliasedIValues& values) const;
  /// Calls the visitor with this value and, unless it says true, with each that it holds.
  void visit(const std::function<bool(const IValue&)>& visitor) const;
  /// Whether both hold something in common.
  bool overlaps(const IValue& other) const;
  /// What no value was assigned to.
  static IValue uninitialized();

 private:
  // A variant of these, which ivalue.cpp alone knows: a program that includes this header would pay for it dearly.
  enum class Kind {
    None,
    Tensor,
    Double,
    ComplexDouble,
    Int,
    Bool,
    Device,
    String,
    List,
    Dict,
    Tuple,
    Object,
    Generator,
    Storage,
    Stream,
    Future,
    Uninitialized
  };
  struct Held;
  Kind kind() const noexcept;
  Held& held() noexcept;
  const Held& held() const noexcept;
  template <typename T>
  const T& get(const char* function, const char* wanted) const;
  bool is_list_of(TypeKind element) const;
  bool is_list_of(const Type& element) const;

  alignas(16) unsigned char storage_[32];
};

HB_API std::ostream& operator<<(std::ostream& out, const IValue& value);
/// Equal values. Of tensors the elements are compared, and there must be one: of several, as in Python, it throws, but
/// in a container a tensor equals itself.
HB_API bool operator==(const IValue& left, const IValue& right);
inline bool operator!=(const IValue& left, const IValue& right) { return !(left == right); }

}  // namespace hb

#include <halfbridge/ivalue_containers.h>
