#include <halfbridge/ivalue.h>

#include <new>
#include <variant>

#include <halfbridge/class_type.h>
#include <halfbridge/future.h>
#include <halfbridge/stream.h>
#include <halfbridge/tensor_type.h>

#include "core/stack.h"
#include "io/types/type_maker.h"

namespace hb {
namespace {

// In a container an object equals itself, even a tensor of several elements.
bool equal_within(const IValue& left, const IValue& right) { return left.is(right) || left == right; }

bool equal_items(const std::vector<IValue>& left, const std::vector<IValue>& right) {
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!equal_within(left[i], right[i])) return false;
  }
  return true;
}

bool equal_dicts(const ivalue::DictData& left, const ivalue::DictData& right) {
  if (left.entries.size() != right.entries.size()) return false;
  for (const auto& [key, value] : left.entries) {
    const size_t place = right.find(key);
    if (place == right.entries.size() || !equal_within(right.entries[place].second, value)) return false;
  }
  return true;
}

bool equal_containers(const IValue& left, const IValue& right) {
  if (left.isList() && right.isList()) return equal_items(left.toListRef(), right.toListRef());
  if (left.isTuple() && right.isTuple()) return equal_items(left.toTupleRef().items, right.toTupleRef().items);
  if (!left.isGenericDict() || !right.isGenericDict()) return false;
  return equal_dicts(*left.toGenericDict().data(), *right.toGenericDict().data());
}

}  // namespace

using StringPtr = std::shared_ptr<ivalue::StringData>;
using ListPtr = std::shared_ptr<ivalue::ListData>;
using DictPtr = std::shared_ptr<ivalue::DictData>;
using TuplePtr = std::shared_ptr<ivalue::TupleData>;
using ObjectPtr = std::shared_ptr<ivalue::ObjectData>;
using FuturePtr = intrusive_ptr<ivalue::Future>;
struct Uninitialized {
  bool operator==(Uninitialized) const { return true; }
};

// In the order of Kind.
struct IValue::Held {
  std::variant<std::monostate, Tensor, double, Complex<double>, int64_t, bool, Device, StringPtr, ListPtr, DictPtr,
               TuplePtr, ObjectPtr, Generator, Storage, Stream, FuturePtr, Uninitialized>
      value;

  // Calls use(value) for None and numbers, of which loops of programs are full: they skip the tables of the variant's
  // functions.
  template <typename F>
  bool with_plain(F use) const {
    switch (static_cast<Kind>(value.index())) {
      case Kind::None:
        return use(std::monostate()), true;
      case Kind::Double:
        return use(*std::get_if<double>(&value)), true;
      case Kind::Int:
        return use(*std::get_if<int64_t>(&value)), true;
      case Kind::Bool:
        return use(*std::get_if<bool>(&value)), true;
      default:
        return false;
    }
  }
};

IValue::Held& IValue::held() noexcept {
  static_assert(sizeof(Held) <= sizeof(storage_) && alignof(Held) <= 16);
  return *std::launder(reinterpret_cast<Held*>(storage_));
}
const IValue::Held& IValue::held() const noexcept { return *std::launder(reinterpret_cast<const Held*>(storage_)); }
IValue::Kind IValue::kind() const noexcept { return static_cast<Kind>(held().value.index()); }

IValue::IValue() noexcept { new (storage_) Held(); }
IValue::IValue(const IValue& other) {
  if (other.held().with_plain([&](auto plain) { new (storage_) Held{plain}; })) return;
  new (storage_) Held(other.held());
}
IValue::IValue(IValue&& other) noexcept {
  if (other.held().with_plain([&](auto plain) { new (storage_) Held{plain}; })) return;
  new (storage_) Held(std::move(other.held()));
}
IValue& IValue::operator=(const IValue& other) {
  if (!other.held().with_plain([&](auto plain) { held().value = plain; })) held() = other.held();
  return *this;
}
IValue& IValue::operator=(IValue&& other) noexcept {
  if (!other.held().with_plain([&](auto plain) { held().value = plain; })) held() = std::move(other.held());
  return *this;
}
IValue::~IValue() {
  if (!held().with_plain([](auto) {})) held().~Held();
}

IValue::IValue(Tensor value) { new (storage_) Held{std::move(value)}; }
IValue::IValue(double value) { new (storage_) Held{value}; }
IValue::IValue(Complex<double> value) { new (storage_) Held{value}; }
IValue::IValue(int64_t value) { new (storage_) Held{value}; }
IValue::IValue(uint64_t value) : IValue(static_cast<int64_t>(value)) {
  HB_CHECK(value <= static_cast<uint64_t>(INT64_MAX), "IValue: ", value,
           " is above the largest int64, and values hold no larger integers");
}
IValue::IValue(bool value) { new (storage_) Held{value}; }
IValue::IValue(Device value) { new (storage_) Held{value}; }
IValue::IValue(Generator value) { new (storage_) Held{std::move(value)}; }
IValue::IValue(Storage value) { new (storage_) Held{std::move(value)}; }
IValue::IValue(Stream value) { new (storage_) Held{value}; }
IValue::IValue(FuturePtr value) { new (storage_) Held{std::move(value)}; }
IValue::IValue(StringPtr value) { new (storage_) Held{std::move(value)}; }
IValue::IValue(ListPtr value) { new (storage_) Held{std::move(value)}; }
IValue::IValue(DictPtr value) { new (storage_) Held{std::move(value)}; }
IValue::IValue(TuplePtr value) { new (storage_) Held{std::move(value)}; }
IValue::IValue(ObjectPtr value) { new (storage_) Held{std::move(value)}; }

IValue::IValue(std::string value) : IValue(ivalue::StringData::create(std::move(value))) {}

IValue::IValue(const Scalar& value) : IValue() {
  if (value.isComplex()) {
    *this = value.toComplexDouble();
  } else if (value.isFloatingPoint()) {
    *this = value.toDouble();
  } else if (value.isBoolean()) {
    *this = value.toBool();
  } else {
    *this = value.toLong();
  }
}

template <typename T>
const T& IValue::get(const char* function, const char* wanted) const {
  if (const T* found = std::get_if<T>(&held().value)) return *found;
  detail::fail<Error>("[", function, "] Expected ", wanted, " but got ", tagKind());
}

// A whole number that may be symbolic is an int here.
bool IValue::is_list_of(TypeKind element) const {
  if (!isList()) return false;
  const TypeKind kind = std::get<ListPtr>(held().value)->element_type->kind();
  return kind == element || (kind == TypeKind::SymIntType && element == TypeKind::IntType);
}
bool IValue::is_list_of(const Type& element) const {
  if (element.containedTypes().empty() && element.kind() != TypeKind::ClassType) return is_list_of(element.kind());
  return isList() && *std::get<ListPtr>(held().value)->element_type == element;
}
bool IValue::isOptionalTensorList() const { return is_list_of(*OptionalType::ofTensor()); }

const Tensor& IValue::toTensor() const& { return get<Tensor>("IValue.toTensor", "Tensor"); }
Tensor& IValue::toTensor() & { return const_cast<Tensor&>(std::as_const(*this).toTensor()); }
Tensor IValue::toTensor() && { return get<Tensor>("IValue.toTensor", "Tensor"); }
double IValue::toDouble() const { return get<double>("IValue.toDouble", "Double"); }
Complex<double> IValue::toComplexDouble() const {
  return get<Complex<double>>("IValue.toComplexDouble", "ComplexDouble");
}
int64_t IValue::toInt() const { return get<int64_t>("IValue.toInt", "Int"); }
bool IValue::isUnsigned() const { return isInt() && toInt() >= 0; }
uint64_t IValue::toUInt() const {
  HB_CHECK(isUnsigned(), "[IValue.toUInt] Expected an int that is not negative but got ", tagKind());
  return static_cast<uint64_t>(toInt());
}
bool IValue::toBool() const { return get<bool>("IValue.toBool", "Bool"); }
Generator IValue::toGenerator() const { return get<Generator>("IValue.toGenerator", "Generator"); }
Storage IValue::toStorage() const { return get<Storage>("IValue.toStorage", "Storage"); }
Stream IValue::toStream() const { return get<Stream>("IValue.toStream", "Stream"); }
FuturePtr IValue::toFuture() const { return get<FuturePtr>("IValue.toFuture", "Future"); }
Device IValue::toDevice() const { return get<Device>("IValue.toDevice", "Device"); }

Scalar IValue::toScalar() const {
  if (isDouble()) return Scalar(toDouble());
  if (isBool()) return Scalar(toBool());
  if (isComplexDouble()) return Scalar(toComplexDouble());
  return Scalar(get<int64_t>("IValue.toScalar", "Double, ComplexDouble, Int or Bool"));
}

const std::string& IValue::toStringRef() const { return get<StringPtr>("IValue.toStringRef", "String")->text; }
std::shared_ptr<ivalue::ConstantString> IValue::toString() const { return get<StringPtr>("IValue.toString", "String"); }
List<IValue> IValue::toList() const { return List<IValue>(get<ListPtr>("IValue.toList", "a list")); }
const std::vector<IValue>& IValue::toListRef() const { return get<ListPtr>("IValue.toListRef", "a list")->items; }
namespace {
// Of elements of just this type: other lists convert element by element, and would fail only where one is read.
template <class T>
List<T> list_of(const IValue& value, const char* kind) {
  HB_CHECK(value.isListOf<T>(), "[IValue] Expected ", kind, " but got ", value.tagKind());
  return value.to<List<T>>();
}
}  // namespace
List<int64_t> IValue::toIntList() const { return list_of<int64_t>(*this, "IntList"); }
List<SymInt> IValue::toSymIntList() const { return list_of<SymInt>(*this, "SymIntList"); }
List<double> IValue::toDoubleList() const { return list_of<double>(*this, "DoubleList"); }
List<bool> IValue::toBoolList() const { return list_of<bool>(*this, "BoolList"); }
List<Tensor> IValue::toTensorList() const { return list_of<Tensor>(*this, "TensorList"); }
List<Complex<double>> IValue::toComplexDoubleList() const {
  return list_of<Complex<double>>(*this, "ComplexDoubleList");
}
std::vector<Complex<double>> IValue::toComplexDoubleVector() const { return to<std::vector<Complex<double>>>(); }
List<std::optional<Tensor>> IValue::toOptionalTensorList() const {
  return list_of<std::optional<Tensor>>(*this, "OptionalTensorList");
}
std::vector<std::optional<Tensor>> IValue::toOptionalTensorVector() const {
  return to<std::vector<std::optional<Tensor>>>();
}
DimVector IValue::toDimVector() const {
  const std::vector<int64_t> sizes = toIntVector();
  return DimVector(sizes.data(), sizes.data() + sizes.size());
}
std::optional<std::reference_wrapper<const std::string>> IValue::toOptionalStringRef() const {
  if (isNone()) return std::nullopt;
  return toStringRef();
}
std::string IValue::toNone() const {
  HB_CHECK(isNone(), "[IValue.toNone] Expected None but got ", tagKind());
  return "None";
}
ivalue::Object& IValue::toObjectRef() const { return *get<ObjectPtr>("IValue.toObjectRef", "Object"); }
std::vector<int64_t> IValue::toIntVector() const { return to<std::vector<int64_t>>(); }
std::vector<SymInt> IValue::toSymIntVector() const { return to<std::vector<SymInt>>(); }
std::vector<double> IValue::toDoubleVector() const { return to<std::vector<double>>(); }
std::vector<Tensor> IValue::toTensorVector() const { return to<std::vector<Tensor>>(); }
std::shared_ptr<ivalue::Tuple> IValue::toTuple() const { return get<TuplePtr>("IValue.toTuple", "Tuple"); }
const ivalue::Tuple& IValue::toTupleRef() const { return *get<TuplePtr>("IValue.toTupleRef", "Tuple"); }
Dict<IValue, IValue> IValue::toGenericDict() const {
  return Dict<IValue, IValue>(get<DictPtr>("IValue.toGenericDict", "GenericDict"));
}
std::shared_ptr<ivalue::Object> IValue::toObject() const { return get<ObjectPtr>("IValue.toObject", "Object"); }

std::string IValue::tagKind() const {
  constexpr const char* kNames[] = {"None",      "Tensor",  "Double",      "ComplexDouble", "Int",          "Bool",
                                    "Device",    "String",  "GenericList", "GenericDict",   "Tuple",        "Object",
                                    "Generator", "Storage", "Stream",      "Future",        "Uninitialized"};
  return kNames[static_cast<size_t>(kind())];
}

TypePtr IValue::type() const {
  if (isNone()) return NoneType::get();
  if (isTensor()) return TensorType::create(toTensor());
  if (isDouble()) return FloatType::get();
  if (isComplexDouble()) return ComplexType::get();
  if (isInt()) return IntType::get();
  if (isBool()) return BoolType::get();
  if (isDevice()) return DeviceObjType::get();
  if (isString()) return StringType::get();
  if (isGenerator()) return GeneratorType::get();
  if (isStorage()) return StorageType::get();
  if (isStream()) return StreamObjType::get();
  if (isFuture()) return FutureType::create(toFuture()->elementType());
  if (isList()) return ListType::create(std::get<ListPtr>(held().value)->element_type);
  if (isGenericDict()) {
    const auto& dict = *std::get<DictPtr>(held().value);
    return detail::TypeMaker::dict(dict.key_type, dict.value_type);
  }
  if (isTuple()) return std::get<TuplePtr>(held().value)->type();
  if (isObject()) return std::get<ObjectPtr>(held().value)->type();
  return AnyType::get();  // uninitialized
}

bool IValue::isModule() const {
  if (!isObject()) return false;
  const auto& object = *std::get<ObjectPtr>(held().value);
  return object.declared && object.declared->is_module;
}

bool IValue::is(const IValue& other) const {
  if (kind() != other.kind()) return false;
  return std::visit(
      [&](const auto& mine) {
        using T = std::decay_t<decltype(mine)>;
        const T& theirs = std::get<T>(other.held().value);
        if constexpr (std::is_same_v<T, Tensor>) {
          return mine.is_same(theirs);
        } else if constexpr (std::is_same_v<T, Storage>) {
          return mine.unsafeGetStorageImpl() == theirs.unsafeGetStorageImpl();
        } else {
          return mine == theirs;
        }
      },
      held().value);
}

IValue IValue::uninitialized() {
  IValue value;
  value.held().value = Uninitialized();
  return value;
}

bool IValue::isPtrType() const {
  if (isTensor()) return toTensor().defined();
  return isComplexDouble() || isString() || isList() || isGenericDict() || isTuple() || isObject() || isGenerator() ||
         isStorage() || isStream() || isFuture();
}

namespace {
template <class T>
constexpr bool is_shared_ptr = false;
template <class T>
constexpr bool is_shared_ptr<std::shared_ptr<T>> = true;
}  // namespace

bool IValue::isAliasOf(const IValue& other) const {
  if (kind() != other.kind()) return false;
  if (isTensor()) {
    const Tensor &mine = toTensor(), &theirs = other.toTensor();
    if (!mine.has_storage() || !theirs.has_storage()) return mine.is_same(theirs);
    return mine.is_alias_of(theirs);
  }
  return isPtrType() && isSameIdentity(other);
}

bool IValue::isSameIdentity(const IValue& other) const {
  if (kind() != other.kind()) return false;
  return !isDevice() && is(other);  // as in LibTorch, whose devices are no objects
}

size_t IValue::use_count() const noexcept {
  return std::visit(
      [](const auto& held) -> size_t {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, Tensor>) return static_cast<size_t>(held.use_count());
        if constexpr (is_shared_ptr<T>) return static_cast<size_t>(held.use_count());
        return 1;
      },
      held().value);
}

bool operator==(const IValue& left, const IValue& right) {
  if (left.isTensor() && right.isTensor() && left.toTensor().defined() && right.toTensor().defined())
    return left.equals(right).toTensor().is_nonzero();  // throws where there are several elements
  if (left.is(right)) return true;
  if (left.isString() && right.isString()) return left.toStringRef() == right.toStringRef();
  return detail::with_stack([&] { return equal_containers(left, right); });
}

}  // namespace hb
