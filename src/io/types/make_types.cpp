// The types that there are: how each is made.
#include <algorithm>

#include <halfbridge/class_type.h>
#include <halfbridge/tensor_type.h>

#include "core/remains.h"
#include "io/types/type_maker.h"

namespace hb {

using detail::TypeMaker;

const char* typeKindToString(TypeKind kind) {
  constexpr const char* kNames[] = {
      "AnyType",        "EnumType",     "AnyEnumType",      "TensorType",  "StorageType",   "TupleType",
      "ListType",       "DictType",     "NumberType",       "FloatType",   "ComplexType",   "FutureType",
      "AwaitType",      "RRefType",     "IntType",          "NoneType",    "StringType",    "GeneratorType",
      "QuantizerType",  "BoolType",     "OptionalType",     "VarType",     "DeviceObjType", "StreamObjType",
      "FunctionType",   "ClassType",    "PyObjectType",     "CapsuleType", "InterfaceType", "QSchemeType",
      "ScalarTypeType", "LayoutType",   "MemoryFormatType", "AnyListType", "AnyTupleType",  "AnyClassType",
      "SymIntType",     "SymFloatType", "SymBoolType",      "UnionType",   "DynamicType"};
  return kNames[static_cast<size_t>(kind)];
}

// Types that programs hold until the very end need them: none is ever destroyed.
#define HB_SIMPLE_TYPE(NAME)                                       \
  std::shared_ptr<NAME> NAME::get() {                              \
    static auto* const type = new std::shared_ptr<NAME>(new NAME); \
    return *type;                                                  \
  }
HB_FORALL_SIMPLE_TYPES(HB_SIMPLE_TYPE)
#undef HB_SIMPLE_TYPE

// Types of values that are nested deep are deep, too: they are not freed by recursion.
Type::~Type() {
  const auto nested = [](const TypePtr& type) { return type && !type->contained_.empty(); };
  if (std::any_of(contained_.begin(), contained_.end(), nested)) detail::free_list_in_turn(contained_);
}

bool Type::has_name() const {
  return kind_ == TypeKind::TupleType || kind_ == TypeKind::FunctionType || kind_ == TypeKind::ClassType ||
         kind_ == TypeKind::InterfaceType || kind_ == TypeKind::EnumType;
}
void Type::fail_kind(const char* wanted) const {
  detail::fail<Error>("[Type::expect] expected a type of kind ", wanted, ", got ", typeKindToString(kind_), ", ",
                      repr_str());
}
bool Type::is_module() const {
  if (const auto* of_class = castRaw<ClassType>()) return of_class->is_module_;
  const auto* interface = castRaw<InterfaceType>();
  return interface && interface->is_module_;
}
bool Type::requires_grad() const {
  if (const auto* tensor = castRaw<TensorType>()) return tensor->requiresGrad().value_or(true);
  return std::any_of(contained_.begin(), contained_.end(), [](const TypePtr& type) { return type->requires_grad(); });
}
bool Type::hasFreeVariables() const {
  if (kind_ == TypeKind::VarType) return true;
  return std::any_of(contained_.begin(), contained_.end(),
                     [](const TypePtr& type) { return type->hasFreeVariables(); });
}

TypePtr Type::containedType(size_t at) const {
  HB_CHECK(at < contained_.size(), "ArrayRef: invalid index Index = ", at, "; Length = ", contained_.size());
  return contained_[at];
}

TypePtr Type::withContained(std::vector<TypePtr> contained) {
  HB_CHECK(!contained_.empty() && contained.size() == contained_.size(), "[Type::withContained] expected ",
           contained_.size(), " types for a ", typeKindToString(kind_), " that holds any, got ", contained.size());
  return contained == contained_ ? shared_from_this() : createWithContained(std::move(contained));
}

TypePtr Type::createWithContained(std::vector<TypePtr> contained) const {
  HB_CHECK(kind_ == TypeKind::TupleType || kind_ == TypeKind::UnionType || contained.size() == contained_.size(),
           "Expected ", contained_.size(), " contained types");
  switch (kind_) {
    case TypeKind::ListType:
      return ListType::create(contained.at(0));
    case TypeKind::DictType:
      return DictType::create(contained.at(0), contained.at(1));
    case TypeKind::OptionalType:
      return OptionalType::create(contained.at(0));
    case TypeKind::FutureType:
      return FutureType::create(contained.at(0));
    case TypeKind::AwaitType:
      return AwaitType::create(contained.at(0));
    case TypeKind::RRefType:
      return RRefType::create(contained.at(0));
    case TypeKind::UnionType:
      return UnionType::create(std::move(contained));
    case TypeKind::TupleType: {
      const auto& own = static_cast<const TupleType&>(*this);
      auto made = TypeMaker::make<TupleType>(TypeKind::TupleType, own.name(), std::move(contained));
      made->names_ = own.names_;
      return made;
    }
    default:
      break;
  }
  throw Error("type with contained types did not overload createWithContained: " + str());
}

// --- types of one other

namespace {

template <class T>
std::shared_ptr<T> wrapped(TypePtr inner) {
  HB_CHECK(inner, "Can not create ", typeKindToString(T::Kind), " with None type");
  return TypeMaker::make<T>(T::Kind, std::vector<TypePtr>{std::move(inner)});
}

}  // namespace

ListTypePtr ListType::create(TypePtr element) { return wrapped<ListType>(std::move(element)); }
FutureTypePtr FutureType::create(TypePtr inner) { return wrapped<FutureType>(std::move(inner)); }
AwaitTypePtr AwaitType::create(TypePtr inner) { return wrapped<AwaitType>(std::move(inner)); }
RRefTypePtr RRefType::create(TypePtr inner) { return wrapped<RRefType>(std::move(inner)); }
OptionalTypePtr OptionalType::create(const TypePtr& inner) {
  if (inner && inner->kind() == TypeKind::OptionalType) return inner->expect<OptionalType>();
  return wrapped<OptionalType>(inner);
}
OptionalTypePtr OptionalType::ofTensor() {
  static auto* const type = new OptionalTypePtr(create(TensorType::get()));
  return *type;
}

#define HB_LIST_OF(NAME, ELEMENT)                               \
  ListTypePtr ListType::NAME() {                                \
    static auto* const type = new ListTypePtr(create(ELEMENT)); \
    return *type;                                               \
  }
HB_LIST_OF(ofTensors, TensorType::get())
HB_LIST_OF(ofOptionalTensors, OptionalType::ofTensor())
HB_LIST_OF(ofInts, IntType::get())
HB_LIST_OF(ofSymInts, SymIntType::get())
HB_LIST_OF(ofFloats, FloatType::get())
HB_LIST_OF(ofComplexDoubles, ComplexType::get())
HB_LIST_OF(ofBools, BoolType::get())
HB_LIST_OF(ofStrings, StringType::get())
HB_LIST_OF(ofNumbers, NumberType::get())
#undef HB_LIST_OF

DictTypePtr DictType::create(TypePtr key, TypePtr value) {
  HB_CHECK(key && value, "Can not create DictType with None type");
  switch (key->kind()) {
    case TypeKind::AnyType:
    case TypeKind::IntType:
    case TypeKind::BoolType:
    case TypeKind::FloatType:
    case TypeKind::ComplexType:
    case TypeKind::StringType:
    case TypeKind::TensorType:
    case TypeKind::DeviceObjType:
      break;
    default:
      throw Error("Cannot create dict for key type '" + key->str() +
                  "', only int, float, complex, Tensor, device and string keys are supported");
  }
  return TypeMaker::dict(std::move(key), std::move(value));
}

DictTypePtr TypeMaker::dict(TypePtr key, TypePtr value) {
  return make<DictType>(TypeKind::DictType, std::vector<TypePtr>{std::move(key), std::move(value)});
}

// --- types with a name

VarTypePtr VarType::create(std::string name) { return VarTypePtr(new VarType(std::move(name))); }

TupleTypePtr TupleType::create(std::vector<TypePtr> elements) {
  return TypeMaker::make<TupleType>(Kind, std::nullopt, std::move(elements));
}
TupleTypePtr TupleType::createNamed(const std::optional<QualifiedName>& name,
                                    const std::vector<std::string>& field_names,
                                    const std::vector<TypePtr>& field_types) {
  HB_CHECK(field_names.size() == field_types.size(), "[TupleType::createNamed] expected a type for each of ",
           field_names.size(), " names, got ", field_types.size());
  auto type = TypeMaker::make<TupleType>(Kind, name, field_types);
  type->names_ = field_names;
  return type;
}
std::optional<std::vector<std::string_view>> TupleType::names() const {
  if (names_.empty()) return std::nullopt;
  return std::vector<std::string_view>(names_.begin(), names_.end());
}

EnumTypePtr EnumType::create(const QualifiedName& name, TypePtr value, std::vector<EnumNameValue> names_values,
                             std::weak_ptr<bridge::jit::CompilationUnit> unit) {
  const TypeKind kind = value->kind();
  HB_CHECK(kind == TypeKind::IntType || kind == TypeKind::FloatType || kind == TypeKind::StringType,
           "Cannot create Enum with value type '", value->str(), "', only int, float and string are supported");
  auto type = TypeMaker::make<EnumType>(Kind, name, std::vector<TypePtr>{std::move(value)});
  type->names_values_ = std::move(names_values);
  type->unit_ = std::move(unit);
  return type;
}

InterfaceTypePtr InterfaceType::create(QualifiedName name, bool is_module) {
  auto type = TypeMaker::make<InterfaceType>(Kind, std::move(name), std::vector<TypePtr>());
  type->is_module_ = is_module;
  return type;
}

namespace detail {

TypePtr tensor_type() { return TensorType::get(); }
TypePtr list_type(TypePtr element) { return ListType::create(std::move(element)); }
TypePtr dict_type(TypePtr key, TypePtr value) { return TypeMaker::dict(std::move(key), std::move(value)); }
TypePtr optional_type(const TypePtr& inner) { return OptionalType::create(inner); }
TypePtr tuple_type(std::vector<TypePtr> elements) { return TupleType::create(std::move(elements)); }

}  // namespace detail

// --- names

QualifiedName::QualifiedName(std::string name) : name_(std::move(name)) {}
QualifiedName::QualifiedName(std::vector<std::string> atoms) {
  for (const std::string& atom : atoms) name_ += (name_.empty() ? "" : ".") + atom;
}
QualifiedName::QualifiedName(const QualifiedName& prefix, std::string name) : name_(prefix.name_ + "." + name) {}
std::string QualifiedName::prefix() const {
  const size_t dot = name_.rfind('.');
  return dot == std::string::npos ? "" : name_.substr(0, dot);
}
std::string QualifiedName::name() const { return name_.substr(name_.rfind('.') + 1); }
std::vector<std::string> QualifiedName::atoms() const {
  std::vector<std::string> all(1);
  for (char c : name_) {
    if (c == '.') {
      all.emplace_back();
    } else {
      all.back() += c;
    }
  }
  return all;
}
bool QualifiedName::isPrefixOf(const QualifiedName& other) const {
  return other.name_ == name_ || other.name_.compare(0, name_.size() + 1, name_ + ".") == 0;
}

}  // namespace hb
