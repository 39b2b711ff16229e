// Types that are made of others, or that have a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfbridge/ivalue.h>
#include <halfbridge/ivalue_type.h>
#include <halfbridge/qualified_name.h>

namespace hb {

namespace bridge::jit {
class Function;
struct CompilationUnit;
}  // namespace bridge::jit

class ListType;
class DictType;
class UnionType;
class OptionalType;
class TupleType;
class FutureType;
class AwaitType;
class RRefType;
class VarType;
class EnumType;
class FunctionType;
class InterfaceType;
class TensorType;
using ListTypePtr = std::shared_ptr<ListType>;
using DictTypePtr = std::shared_ptr<DictType>;
using UnionTypePtr = std::shared_ptr<UnionType>;
using OptionalTypePtr = std::shared_ptr<OptionalType>;
using TupleTypePtr = std::shared_ptr<TupleType>;
using FutureTypePtr = std::shared_ptr<FutureType>;
using AwaitTypePtr = std::shared_ptr<AwaitType>;
using RRefTypePtr = std::shared_ptr<RRefType>;
using VarTypePtr = std::shared_ptr<VarType>;
using EnumTypePtr = std::shared_ptr<EnumType>;
using FunctionTypePtr = std::shared_ptr<FunctionType>;
using InterfaceTypePtr = std::shared_ptr<InterfaceType>;
using TensorTypePtr = std::shared_ptr<TensorType>;
using NamedTypePtr = std::shared_ptr<NamedType>;
using ConstNamedTypePtr = std::shared_ptr<const NamedType>;

/// Of lists.
class HB_API ListType final : public Type {
 public:
  static constexpr TypeKind Kind = TypeKind::ListType;
  /// Throws for null, as those below do.
  static ListTypePtr create(TypePtr element);
  static ListTypePtr ofTensors();
  static ListTypePtr ofOptionalTensors();
  static ListTypePtr ofInts();
  static ListTypePtr ofSymInts();
  static ListTypePtr ofFloats();
  static ListTypePtr ofComplexDoubles();
  static ListTypePtr ofBools();
  static ListTypePtr ofStrings();
  static ListTypePtr ofNumbers();
  const TypePtr& getElementType() const { return contained_[0]; }

 private:
  friend detail::TypeMaker;
  using Type::Type;
};

class HB_API DictType final : public Type {
 public:
  static constexpr TypeKind Kind = TypeKind::DictType;
  /// Throws where keys of this type cannot be looked up.
  static DictTypePtr create(TypePtr key, TypePtr value);
  const TypePtr& getKeyType() const { return contained_[0]; }
  const TypePtr& getValueType() const { return contained_[1]; }

 private:
  friend detail::TypeMaker;
  using Type::Type;
};

/// One of several types.
class HB_API UnionType : public Type {
 public:
  static constexpr TypeKind Kind = TypeKind::UnionType;
  /// Types within unions and optional ones are taken apart, those that another one covers are left out. Optional where
  /// None and one more are left; throws where it is one alone.
  static UnionTypePtr create(std::vector<TypePtr> types);
  ArrayRef<TypePtr> getTypes() const { return contained_; }
  bool canHoldType(const Type& type) const;
  /// The optional type that this is; nothing for more types than None and one.
  std::optional<TypePtr> toOptional() const;

 protected:
  friend detail::TypeMaker;
  using Type::Type;
};

class HB_API OptionalType final : public UnionType {
 public:
  static constexpr TypeKind Kind = TypeKind::OptionalType;
  /// An optional type stays what it is.
  static OptionalTypePtr create(const TypePtr& inner);
  static TypePtr get(const TypePtr& inner) { return create(inner); }
  static OptionalTypePtr ofTensor();
  const TypePtr& getElementType() const { return contained_[0]; }

 private:
  friend detail::TypeMaker;
  using UnionType::UnionType;
};

#define HB_WRAPPING_TYPE(NAME)                                      \
  class HB_API NAME final : public Type {                           \
   public:                                                          \
    static constexpr TypeKind Kind = TypeKind::NAME;                \
    static NAME##Ptr create(TypePtr inner);                         \
    const TypePtr& getElementType() const { return contained_[0]; } \
                                                                    \
   private:                                                         \
    friend detail::TypeMaker;                                       \
    using Type::Type;                                               \
  };
HB_WRAPPING_TYPE(FutureType)
HB_WRAPPING_TYPE(AwaitType)
HB_WRAPPING_TYPE(RRefType)
#undef HB_WRAPPING_TYPE

/// A variable of a schema: the "t" of "t[]".
class HB_API VarType final : public Type {
 public:
  static constexpr TypeKind Kind = TypeKind::VarType;
  static VarTypePtr create(std::string name);
  const std::string& name() const { return name_; }

 private:
  explicit VarType(std::string name) : Type(Kind), name_(std::move(name)) {}
  std::string name_;
};

/// A type that may have a name.
class HB_API NamedType : public Type {
 public:
  const std::optional<QualifiedName>& name() const { return name_; }

 protected:
  NamedType(TypeKind kind, std::optional<QualifiedName> name, std::vector<TypePtr> contained = {})
      : Type(kind, std::move(contained)), name_(std::move(name)) {}

 private:
  friend detail::TypeMaker;
  std::optional<QualifiedName> name_;
};

class HB_API TupleType final : public NamedType {
 public:
  static constexpr TypeKind Kind = TypeKind::TupleType;
  static TupleTypePtr create(std::vector<TypePtr> elements = {});
  /// A NamedTuple.
  static TupleTypePtr createNamed(const std::optional<QualifiedName>& name, const std::vector<std::string>& field_names,
                                  const std::vector<TypePtr>& field_types);
  ArrayRef<TypePtr> elements() const { return contained_; }
  /// Of a NamedTuple's fields.
  std::optional<std::vector<std::string_view>> names() const;

 private:
  friend Type;
  friend detail::TypeMaker;
  using NamedType::NamedType;
  std::vector<std::string> names_;
};

using EnumNameValue = std::pair<std::string, IValue>;
class HB_API EnumType final : public NamedType {
 public:
  static constexpr TypeKind Kind = TypeKind::EnumType;
  /// Throws for values that are no ints, floats or texts.
  static EnumTypePtr create(const QualifiedName& name, TypePtr value, std::vector<EnumNameValue> names_values,
                            std::weak_ptr<bridge::jit::CompilationUnit> unit = {});
  const TypePtr& getValueType() const { return contained_[0]; }
  ArrayRef<EnumNameValue> enumNamesValues() const { return names_values_; }
  const QualifiedName& qualifiedClassName() const { return *name(); }
  std::shared_ptr<const bridge::jit::CompilationUnit> compilation_unit() const { return unit_.lock(); }

 private:
  friend Type;
  friend detail::TypeMaker;
  using NamedType::NamedType;
  std::vector<EnumNameValue> names_values_;
  std::weak_ptr<bridge::jit::CompilationUnit> unit_;
};

class HB_API FunctionType final : public NamedType {
 public:
  static constexpr TypeKind Kind = TypeKind::FunctionType;
  /// Needs <halfbridge/bridge/dispatch/custom_class.h>.
  static FunctionTypePtr create(bridge::jit::Function* function);
  bridge::jit::Function* function() const { return function_; }

 private:
  friend detail::TypeMaker;
  using NamedType::NamedType;
  bridge::jit::Function* function_ = nullptr;
};

/// Without the methods that it asks for.
class HB_API InterfaceType final : public NamedType {
 public:
  static constexpr TypeKind Kind = TypeKind::InterfaceType;
  static InterfaceTypePtr create(QualifiedName name, bool is_module = false);

 private:
  friend Type;
  friend detail::TypeMaker;
  using NamedType::NamedType;
  bool is_module_ = false;
};

// LibTorch tells pointers to types of which there is one object from others.
using SharedType = Type;
template <typename T>
using SingletonTypePtr = std::shared_ptr<T>;
template <typename T>
using SingletonOrSharedTypePtr = std::shared_ptr<T>;

/// A type, or why there is none.
class InferredType {
 public:
  InferredType(TypePtr type) : type_(std::move(type)) {}            // NOLINT: implicit as in LibTorch
  InferredType(std::string reason) : reason_(std::move(reason)) {}  // NOLINT
  /// Null where there is none.
  const TypePtr& type() const { return type_; }
  bool success() const { return type_ != nullptr; }
  const std::string& reason() const { return reason_; }

 private:
  TypePtr type_;
  std::string reason_;
};

/// The smallest type that both fit, or nothing. `default_to_union`: a union where there is no other; `hint` is the type
/// that is wanted.
HB_API std::optional<TypePtr> unifyTypes(const TypePtr& a, const TypePtr& b, bool default_to_union = false,
                                         const TypePtr& hint = nullptr);
HB_API std::optional<TypePtr> unifyTypeList(ArrayRef<TypePtr> elements, std::ostream& why_not,
                                            bool default_to_union = false, const TypePtr& hint = nullptr);
/// Whether the elements of a list show its type: not those that may be of several.
HB_API bool elementTypeCanBeInferredFromMembers(const TypePtr& element);
HB_API bool containsAnyType(const TypePtr& type);

/// The dtype of tensors that hold such numbers; nothing, or an error, for other types.
HB_API std::optional<ScalarType> tryScalarTypeFromJitType(const Type& type);
HB_API ScalarType scalarTypeFromJitType(const Type& type);

/// What variables stand for.
using TypeEnv = std::unordered_map<std::string, TypePtr>;
class HB_API MatchTypeReturn {
 public:
  MatchTypeReturn(std::string reason) : reason_(std::move(reason)) {}  // NOLINT: implicit as in LibTorch
  static MatchTypeReturn Success() { return MatchTypeReturn(); }
  bool success() const { return !reason_; }
  const std::string& reason() const { return reason_.value(); }

 private:
  MatchTypeReturn() = default;
  std::optional<std::string> reason_;
};
/// Sets the variables of `formal` so that it is `actual`.
HB_API MatchTypeReturn matchTypeVariables(const TypePtr& formal, const TypePtr& actual, TypeEnv& variables);
/// The type without variables; null where one is not known.
HB_API TypePtr tryEvalTypeVariables(const TypePtr& type, TypeEnv& variables);

}  // namespace hb
