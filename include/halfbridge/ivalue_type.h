// Types of values, of archives' code and of schemas: the base and those that hold no other. Types that hold others
// stand in <halfbridge/type_tree.h>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/array_ref.h>
#include <halfbridge/macros.h>

namespace hb {

// Simple types are those of which there is one object each.
#define HB_FORALL_SIMPLE_TYPES(_) \
  _(AnyType)                      \
  _(AnyEnumType)                  \
  _(StorageType)                  \
  _(NumberType)                   \
  _(FloatType)                    \
  _(ComplexType)                  \
  _(IntType)                      \
  _(NoneType)                     \
  _(StringType)                   \
  _(GeneratorType)                \
  _(QuantizerType)                \
  _(BoolType)                     \
  _(DeviceObjType)                \
  _(StreamObjType)                \
  _(PyObjectType)                 \
  _(CapsuleType)                  \
  _(QSchemeType)                  \
  _(ScalarTypeType)               \
  _(LayoutType)                   \
  _(MemoryFormatType)             \
  _(AnyListType)                  \
  _(AnyTupleType)                 \
  _(AnyClassType)                 \
  _(SymIntType)                   \
  _(SymFloatType)                 \
  _(SymBoolType)

/// In LibTorch's order.
enum class TypeKind {
  AnyType,
  EnumType,
  AnyEnumType,
  TensorType,
  StorageType,
  TupleType,
  ListType,
  DictType,
  NumberType,
  FloatType,
  ComplexType,
  FutureType,
  AwaitType,
  RRefType,
  IntType,
  NoneType,
  StringType,
  GeneratorType,
  QuantizerType,
  BoolType,
  OptionalType,
  VarType,
  DeviceObjType,
  StreamObjType,
  FunctionType,
  ClassType,
  PyObjectType,
  CapsuleType,
  InterfaceType,
  QSchemeType,
  ScalarTypeType,
  LayoutType,
  MemoryFormatType,
  AnyListType,
  AnyTupleType,
  AnyClassType,
  SymIntType,
  SymFloatType,
  SymBoolType,
  UnionType,
  DynamicType
};
HB_API const char* typeKindToString(TypeKind kind);

namespace detail {
struct TypeMaker;
}
class Type;
class NamedType;
using TypePtr = std::shared_ptr<Type>;
using ConstTypePtr = std::shared_ptr<const Type>;
/// The text of a type, or nothing for the usual one.
using TypePrinter = std::function<std::optional<std::string>(const Type&)>;

/// A type. All objects are owned by std::shared_ptr.
class HB_API Type : public std::enable_shared_from_this<Type> {
 public:
  using Ptr = TypePtr;
  using ElementType = Type;

  virtual ~Type();
  Type& operator=(const Type&) = delete;

  TypeKind kind() const { return kind_; }
  /// As schemas write it: "int[]", "Dict(str, Tensor)", "(float, float)", "int?".
  std::string str() const;
  /// As Python writes it and archives hold it: "List[int]", "Dict[str, Tensor]", "Tuple[float, float]",
  /// "Optional[int]". What the printer has no text for is written as usual.
  std::string annotation_str() const;
  std::string annotation_str(const TypePrinter& printer) const;
  /// For messages.
  std::string repr_str() const;

  /// Whether a value of this type may stand where `rhs` is wanted.
  bool isSubtypeOf(const Type& rhs) const { return isSubtypeOfExt(rhs, nullptr); }
  bool isSubtypeOf(const ConstTypePtr& rhs) const { return isSubtypeOf(*rhs); }
  /// Says in `why_not`, unless it is null, what the texts of the two types do not show.
  bool isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const;
  bool isSubtypeOfExt(const ConstTypePtr& rhs, std::ostream* why_not) const { return isSubtypeOfExt(*rhs, why_not); }

  bool is_module() const;
  bool isUnionType() const { return kind_ == TypeKind::UnionType || kind_ == TypeKind::OptionalType; }
  /// Whether tensors of this type may need gradients.
  bool requires_grad() const;
  /// Whether a variable stands in it, as "t" in "t[]".
  bool hasFreeVariables() const;

  /// The types that it is made of: the elements' of a list or tuple, key and value of a dict, a class's attributes'.
  ArrayRef<TypePtr> containedTypes() const { return contained_; }
  TypePtr containedType(size_t at) const;
  size_t containedTypeSize() const { return contained_.size(); }
  /// The same type made of others.
  TypePtr withContained(std::vector<TypePtr> contained);
  TypePtr createWithContained(std::vector<TypePtr> contained) const;

  /// This type as a T; null where it is of another kind.
  template <typename T>
  std::shared_ptr<T> cast() {
    return is_a<T>() ? std::static_pointer_cast<T>(shared_from_this()) : nullptr;
  }
  template <typename T>
  std::shared_ptr<const T> cast() const {
    return is_a<T>() ? std::static_pointer_cast<const T>(shared_from_this()) : nullptr;
  }
  template <typename T>
  T* castRaw() {
    return is_a<T>() ? static_cast<T*>(this) : nullptr;
  }
  template <typename T>
  const T* castRaw() const {
    return is_a<T>() ? static_cast<const T*>(this) : nullptr;
  }
  /// As cast(); throws for another kind.
  template <typename T>
  std::shared_ptr<T> expect() {
    check_kind<T>();
    return cast<T>();
  }
  template <typename T>
  std::shared_ptr<const T> expect() const {
    check_kind<T>();
    return cast<T>();
  }
  template <typename T>
  T& expectRef() {
    check_kind<T>();
    return *castRaw<T>();
  }
  template <typename T>
  const T& expectRef() const {
    check_kind<T>();
    return *castRaw<T>();
  }

 protected:
  explicit Type(TypeKind kind, std::vector<TypePtr> contained = {}) : kind_(kind), contained_(std::move(contained)) {}
  Type(const Type& other) : std::enable_shared_from_this<Type>(), kind_(other.kind_), contained_(other.contained_) {}

  TypeKind kind_;
  std::vector<TypePtr> contained_;

 private:
  friend detail::TypeMaker;
  template <typename T>
  bool is_a() const {
    if constexpr (std::is_same_v<std::remove_const_t<T>, NamedType>) {
      return has_name();
    } else {
      return T::Kind == kind_;
    }
  }
  template <typename T>
  void check_kind() const {
    if (!is_a<T>()) fail_kind(kind_of<T>());
  }
  template <typename T>
  static const char* kind_of() {
    if constexpr (std::is_same_v<std::remove_const_t<T>, NamedType>) {
      return "NamedType";
    } else {
      return typeKindToString(T::Kind);
    }
  }
  bool has_name() const;
  [[noreturn]] void fail_kind(const char* wanted) const;
};

HB_API bool operator==(const Type& left, const Type& right);
inline bool operator!=(const Type& left, const Type& right) { return !(left == right); }
/// With what is known of tensors' sizes: "Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)".
HB_API std::ostream& operator<<(std::ostream& out, const Type& type);
HB_API std::string toString(const Type& type);
HB_API std::string toString(const TypePtr& type);

/// The type of a text in Python's form or in that of schemas. Words that are no types are variables ("t") or classes
/// ("__torch__.Net"), as are texts that are malformed or nested too deep.
HB_API TypePtr make_type(std::string_view text);

#define HB_SIMPLE_TYPE(NAME)                         \
  class HB_API NAME final : public Type {            \
   public:                                           \
    static constexpr TypeKind Kind = TypeKind::NAME; \
    static std::shared_ptr<NAME> get();              \
                                                     \
   private:                                          \
    NAME() : Type(Kind) {}                           \
  };                                                 \
  using NAME##Ptr = std::shared_ptr<NAME>;
HB_FORALL_SIMPLE_TYPES(HB_SIMPLE_TYPE)
#undef HB_SIMPLE_TYPE

}  // namespace hb

#include <halfbridge/type_of.h>
