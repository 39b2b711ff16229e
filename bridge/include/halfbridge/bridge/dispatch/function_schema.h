#pragma once
// What an operator takes and returns, as PyTorch's schema language writes it:
// "ns::add.Tensor(Tensor(a!) self, int[2] size=1, *, Scalar alpha=1) -> (Tensor(a!), Tensor count)".

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <halfbridge/ivalue.h>

namespace hb::bridge {

namespace schema_types {
// Where schemas tell more than values do.
template <typename T>
struct SchemaTypeOf : TypeOf<T> {};
template <>
struct SchemaTypeOf<SymInt> : hb::detail::TypeIs<SymIntType> {};
template <>
struct SchemaTypeOf<ScalarType> : hb::detail::TypeIs<ScalarTypeType> {};
template <>
struct SchemaTypeOf<Layout> : hb::detail::TypeIs<LayoutType> {};
template <>
struct SchemaTypeOf<MemoryFormat> : hb::detail::TypeIs<MemoryFormatType> {};
template <>
struct SchemaTypeOf<Generator> {
  static TypePtr get() { return hb::detail::optional_type(GeneratorType::get()); }
};
template <>
struct SchemaTypeOf<std::vector<SymInt>> {
  static TypePtr get() { return hb::detail::list_type(SymIntType::get()); }
};
template <>
struct SchemaTypeOf<ArrayRef<SymInt>> : SchemaTypeOf<std::vector<SymInt>> {};
template <typename T>
struct SchemaTypeOf<std::optional<T>> {
  static TypePtr get() { return hb::detail::optional_type(SchemaTypeOf<T>::get()); }
};
template <typename T>
struct FakeTypeOf : TypeOf<T> {};
template <>
struct FakeTypeOf<ScalarType> : TypeOf<int64_t> {};
template <>
struct FakeTypeOf<Layout> : TypeOf<int64_t> {};
template <>
struct FakeTypeOf<MemoryFormat> : TypeOf<int64_t> {};
}  // namespace schema_types

inline namespace api {

/// "ns::name" and the overload's name.
struct HB_API OperatorName {
  std::string name, overload_name;
  OperatorName(std::string name, std::string overload_name)
      : name(std::move(name)), overload_name(std::move(overload_name)) {}
  /// The part before "::", if there is one.
  std::optional<std::string> getNamespace() const;
  /// Puts a namespace before a name that has none; false where it has one.
  bool setNamespaceIfNotSet(const char* ns);
  bool operator==(const OperatorName& o) const { return name == o.name && overload_name == o.overload_name; }
  bool operator!=(const OperatorName& o) const { return !(*this == o); }
  bool operator<(const OperatorName& o) const {
    return std::tie(name, overload_name) < std::tie(o.name, o.overload_name);
  }
};
HB_API std::string toString(const OperatorName& name);
HB_API std::ostream& operator<<(std::ostream& out, const OperatorName& name);

/// (a!), (a -> *), (a|b): which memory a value shares with others, and whether the operator writes to it.
class AliasInfo {
 public:
  AliasInfo() = default;
  AliasInfo(bool is_write, std::set<std::string> before, std::set<std::string> after)
      : is_write_(is_write), before_(std::move(before)), after_(std::move(after)) {}
  bool isWrite() const { return is_write_; }
  const std::set<std::string>& beforeSets() const { return before_; }
  const std::set<std::string>& afterSets() const { return after_; }
  bool isWildcardBefore() const { return before_.count("*") != 0; }
  bool isWildcardAfter() const { return after_.count("*") != 0; }
  bool operator==(const AliasInfo& o) const {
    return is_write_ == o.is_write_ && before_ == o.before_ && after_ == o.after_;
  }

 private:
  bool is_write_ = false;
  std::set<std::string> before_, after_;
};

/// The type that C++ values of type T have in a schema.
template <typename T>
TypePtr getTypePtr() {
  return schema_types::SchemaTypeOf<T>::get();
}
template <typename T>
TypePtr getTypePtrCopy() {
  return getTypePtr<T>();
}
/// The type that values of them have: int for SymInt and ScalarType.
template <typename T>
TypePtr getFakeTypePtr() {
  return schema_types::FakeTypeOf<T>::get();
}
template <typename T>
TypePtr getFakeTypePtrCopy() {
  return getFakeTypePtr<T>();
}

/// One argument or result.
class HB_API Argument {
 public:
  explicit Argument(std::string name = "", TypePtr type = nullptr, std::optional<int32_t> N = std::nullopt,
                    std::optional<IValue> default_value = std::nullopt, bool kwarg_only = false,
                    std::optional<AliasInfo> alias_info = std::nullopt);
  const std::string& name() const { return name_; }
  /// As values hold it: ScalarType, Layout, MemoryFormat and SymInt are "int".
  const TypePtr& type() const { return type_; }
  /// As the schema writes it.
  const TypePtr& real_type() const { return real_type_; }
  /// The length of a list that one value may stand for, "int[2]".
  std::optional<int32_t> N() const { return N_; }
  const std::optional<IValue>& default_value() const { return default_value_; }
  bool kwarg_only() const { return kwarg_only_; }
  const AliasInfo* alias_info() const { return alias_info_ ? &*alias_info_ : nullptr; }
  bool is_out() const { return kwarg_only_ && alias_info_ && alias_info_->isWrite(); }
  bool operator==(const Argument& o) const;

 private:
  std::string name_;
  TypePtr type_, real_type_;
  std::optional<int32_t> N_;
  std::optional<IValue> default_value_;
  bool kwarg_only_;
  std::optional<AliasInfo> alias_info_;
};
HB_API std::ostream& operator<<(std::ostream& out, const Argument& argument);

enum class AliasAnalysisKind : uint8_t { INTERNAL_SPECIAL_CASE, CONSERVATIVE, FROM_SCHEMA, PURE_FUNCTION };

class HB_API FunctionSchema {
 public:
  /// Throws when an argument without a default follows one with, unless it is given by name.
  FunctionSchema(std::string name, std::string overload_name, std::vector<Argument> arguments,
                 std::vector<Argument> returns, bool is_vararg = false, bool is_varret = false);
  const OperatorName& operator_name() const { return name_; }
  const std::string& name() const { return name_.name; }
  const std::string& overload_name() const { return name_.overload_name; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  const std::vector<Argument>& returns() const { return returns_; }
  bool is_vararg() const { return is_vararg_; }
  bool is_varret() const { return is_varret_; }
  bool is_mutable() const;
  std::optional<int> argumentIndexWithName(const std::string& name) const;
  std::optional<std::string> getNamespace() const { return name_.getNamespace(); }
  bool setNamespaceIfNotSet(const char* ns) { return name_.setNamespaceIfNotSet(ns); }
  FunctionSchema cloneWithName(std::string name, std::string overload_name) const;
  FunctionSchema cloneWithArguments(std::vector<Argument> arguments) const;
  AliasAnalysisKind aliasAnalysis() const { return alias_analysis_; }
  void setAliasAnalysis(AliasAnalysisKind kind) { alias_analysis_ = kind; }
  /// Adds the defaults of the arguments that the stack lacks; throws, naming the argument, where there is none or where
  /// a value is of another type.
  void checkAndNormalizeInputs(std::vector<IValue>& stack) const;
  bool operator==(const FunctionSchema& o) const;
  bool operator!=(const FunctionSchema& o) const { return !(*this == o); }

 private:
  OperatorName name_;
  std::vector<Argument> arguments_, returns_;
  bool is_vararg_, is_varret_;
  AliasAnalysisKind alias_analysis_ = AliasAnalysisKind::CONSERVATIVE;
};
HB_API std::ostream& operator<<(std::ostream& out, const FunctionSchema& schema);
HB_API std::string toString(const FunctionSchema& schema);

/// In what the two differ, in LibTorch's words; nothing where a function of the schema `inferred` fits `expected`.
HB_API std::optional<std::string> findSchemaDifferences(const FunctionSchema& expected, const FunctionSchema& inferred);

}  // namespace api

namespace jit {
/// Throw hb::Error that says what was expected at which place of the text.
HB_API FunctionSchema parseSchema(const std::string& text, bool allow_typevars = true);
HB_API OperatorName parseName(const std::string& text);
HB_API std::variant<OperatorName, FunctionSchema> parseSchemaOrName(const std::string& text,
                                                                    bool allow_typevars = true);
}  // namespace jit
}  // namespace hb::bridge

template <>
struct std::hash<hb::bridge::OperatorName> {
  size_t operator()(const hb::bridge::OperatorName& name) const noexcept {
    return std::hash<std::string>()(name.name) * 31 + std::hash<std::string>()(name.overload_name);
  }
};
