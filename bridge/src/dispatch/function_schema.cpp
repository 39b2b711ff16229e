#include <halfbridge/bridge/dispatch/function_schema.h>
#include <halfbridge/tensor_type.h>

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "dispatch/schema_types.h"

namespace hb::bridge {
inline namespace api {
namespace {

void print_text(std::ostream& out, const std::string& text) {
  out << '"';
  for (unsigned char c : text) {
    if (c == '"' || c == '\'' || c == '\\') {
      out << '\\' << c;
    } else if (c == '\n') {
      out << "\\n";
    } else if (c == '\t') {
      out << "\\t";
    } else if (c < 0x20 || c >= 0x7f) {
      out << '\\' << std::oct << std::setw(3) << std::setfill('0') << int{c} << std::dec << std::setfill(' ');
    } else {
      out << c;
    }
  }
  out << '"';
}

void print_default(std::ostream& out, const IValue& value, TypeKind type) {
  if (value.isString() && type != TypeKind::DeviceObjType) return print_text(out, value.toStringRef());
  if (value.isDevice()) return print_text(out, value.toDevice().str());
  if (!value.isList()) {
    out << value;
    return;
  }
  out << "[";
  const char* before = "";
  for (const IValue& item : value.toListRef()) {
    out << before;
    print_default(out, item, TypeKind::AnyType);
    before = ", ";
  }
  out << "]";
}

// The default of "int[2] x=1": one number for a list of them.
bool stands_for_all(const Argument& argument) {
  const Type& type = *argument.real_type();
  if (!argument.N() || type.kind() != TypeKind::ListType || !argument.default_value()) return false;
  if (type.containedType(0)->kind() != TypeKind::IntType) return false;
  if (!argument.default_value()->isList() || argument.default_value()->toListRef().empty()) return false;
  const auto& items = argument.default_value()->toListRef();
  return std::all_of(items.begin(), items.end(), [&](const IValue& item) { return item == items[0]; });
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "|") + name;
  return text;
}

// The type with its alias annotation and the length of its list: "Tensor(a!)[]", "int[2]?".
std::string annotated(const Argument& argument) {
  std::string text = argument.real_type()->str(), suffix;
  const auto take = [&](const std::string& ending) {
    if (text.size() <= ending.size() || text.compare(text.size() - ending.size(), ending.size(), ending) != 0)
      return false;
    text.resize(text.size() - ending.size());
    return true;
  };
  if (take("?")) suffix = "?";
  if (argument.N() && take("[]")) suffix = "[" + std::to_string(*argument.N()) + "]" + suffix;
  if (const AliasInfo* alias = argument.alias_info()) {
    // The annotation is read directly after the innermost type.
    for (;;) {
      if (take("[]"))
        suffix = "[]" + suffix;
      else if (take("?"))
        suffix = "?" + suffix;
      else
        break;
    }
    std::string note = joined(alias->beforeSets()) + (alias->isWrite() ? "!" : "");
    if (alias->beforeSets() != alias->afterSets()) note += " -> " + joined(alias->afterSets());
    text += "(" + note + ")";
  }
  return text + suffix;
}

void print_returns(std::ostream& out, const FunctionSchema& schema) {
  const bool bare =
      schema.returns().size() == 1 && !schema.is_varret() && schema.returns()[0].real_type()->str().front() != '(';
  if (schema.is_varret() && schema.returns().empty()) {
    out << "...";
    return;
  }
  if (!bare) out << "(";
  const char* before = "";
  for (const Argument& result : schema.returns()) out << before << result, before = ", ";
  if (schema.is_varret()) out << before << "...";
  if (!bare) out << ")";
}

}  // namespace

std::optional<std::string> OperatorName::getNamespace() const {
  const size_t colons = name.find("::");
  if (colons == std::string::npos) return std::nullopt;
  return name.substr(0, colons);
}
bool OperatorName::setNamespaceIfNotSet(const char* ns) {
  if (getNamespace()) return false;
  name = std::string(ns) + "::" + name;
  return true;
}
std::string toString(const OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}
std::ostream& operator<<(std::ostream& out, const OperatorName& name) { return out << toString(name); }

Argument::Argument(std::string name, TypePtr type, std::optional<int32_t> N, std::optional<IValue> default_value,
                   bool kwarg_only, std::optional<AliasInfo> alias_info)
    : name_(std::move(name)),
      real_type_(type ? std::move(type) : TensorType::get()),
      N_(N),
      default_value_(std::move(default_value)),
      kwarg_only_(kwarg_only),
      alias_info_(std::move(alias_info)) {
  type_ = held_type(real_type_);
}

bool Argument::operator==(const Argument& o) const {
  return name_ == o.name_ && *real_type_ == *o.real_type_ && N_ == o.N_ && kwarg_only_ == o.kwarg_only_ &&
         default_value_ == o.default_value_ && alias_info_ == o.alias_info_;
}

std::ostream& operator<<(std::ostream& out, const Argument& argument) {
  out << annotated(argument);
  if (!argument.name().empty()) out << " " << argument.name();
  if (stands_for_all(argument)) {
    out << "=" << argument.default_value()->toListRef()[0];
  } else if (argument.default_value()) {
    out << "=";
    print_default(out, *argument.default_value(), argument.real_type()->kind());
  }
  return out;
}

FunctionSchema::FunctionSchema(std::string name, std::string overload_name, std::vector<Argument> arguments,
                               std::vector<Argument> returns, bool is_vararg, bool is_varret)
    : name_(std::move(name), std::move(overload_name)),
      arguments_(std::move(arguments)),
      returns_(std::move(returns)),
      is_vararg_(is_vararg),
      is_varret_(is_varret) {
  bool defaults = false;
  for (const Argument& argument : arguments_) {
    HB_CHECK(!defaults || argument.default_value() || argument.kwarg_only(),
             "Non-default positional argument follows default argument. Parameter ", argument.name(), " in ", *this);
    defaults = defaults || argument.default_value().has_value();
  }
}

bool FunctionSchema::is_mutable() const {
  for (const Argument& argument : arguments_) {
    if (argument.alias_info() && argument.alias_info()->isWrite()) return true;
  }
  return false;
}

std::optional<int> FunctionSchema::argumentIndexWithName(const std::string& name) const {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].name() == name) return static_cast<int>(i);
  }
  return std::nullopt;
}

FunctionSchema FunctionSchema::cloneWithName(std::string name, std::string overload_name) const {
  FunctionSchema clone = *this;
  clone.name_ = OperatorName(std::move(name), std::move(overload_name));
  return clone;
}
FunctionSchema FunctionSchema::cloneWithArguments(std::vector<Argument> arguments) const {
  FunctionSchema clone(name(), overload_name(), std::move(arguments), returns_, is_vararg_, is_varret_);
  clone.alias_analysis_ = alias_analysis_;
  return clone;
}

void FunctionSchema::checkAndNormalizeInputs(std::vector<IValue>& stack) const {
  HB_CHECK(is_vararg_ || stack.size() <= arguments_.size(), name(), "() expected at most ", arguments_.size(),
           " argument(s) but received ", stack.size(), " argument(s). Declaration: ", *this);
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const Argument& argument = arguments_[i];
    if (i == stack.size()) {
      HB_CHECK(argument.default_value(), name(), "() is missing value for argument '", argument.name(),
               "'. Declaration: ", *this);
      stack.push_back(*argument.default_value());
    }
    HB_CHECK(value_fits(stack[i], *argument.type()), name(), "() Expected a value of type '", argument.type()->str(),
             "' for argument '", argument.name(), "' but instead found type '", stack[i].type()->annotation_str(),
             "'. Position: ", i, ". Declaration: ", *this);
  }
}

bool FunctionSchema::operator==(const FunctionSchema& o) const {
  return name_ == o.name_ && arguments_ == o.arguments_ && returns_ == o.returns_ && is_vararg_ == o.is_vararg_ &&
         is_varret_ == o.is_varret_;
}

std::ostream& operator<<(std::ostream& out, const FunctionSchema& schema) {
  out << schema.operator_name() << "(";
  const char* before = "";
  bool by_name = false;
  for (const Argument& argument : schema.arguments()) {
    out << before;
    if (argument.kwarg_only() && !by_name) out << "*, ";
    by_name = argument.kwarg_only();
    out << argument;
    before = ", ";
  }
  if (schema.is_vararg()) out << before << "...";
  out << ") -> ";
  print_returns(out, schema);
  return out;
}
std::string toString(const FunctionSchema& schema) {
  std::ostringstream out;
  out << schema;
  return out.str();
}

namespace {
// SymInt and int stand for each other.
std::string without_symbols(const TypePtr& type) {
  const auto symbol = [](const Type& one) -> std::optional<std::string> {
    if (one.kind() == TypeKind::SymIntType) return "int";
    return std::nullopt;
  };
  return type->annotation_str(symbol);
}

std::optional<std::string> differing(const char* kind, const std::vector<Argument>& expected,
                                     const std::vector<Argument>& inferred) {
  if (expected.size() != inferred.size()) {
    return hb::detail::str("The number of ", kind, "s is different. ", expected.size(), " vs ", inferred.size(), ".");
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (without_symbols(expected[i].real_type()) == without_symbols(inferred[i].real_type())) continue;
    return hb::detail::str("Type mismatch in ", kind, " ", i + 1, ": ", expected[i].real_type()->str(), " vs ",
                           inferred[i].real_type()->str(), ".");
  }
  return std::nullopt;
}
}  // namespace

std::optional<std::string> findSchemaDifferences(const FunctionSchema& expected, const FunctionSchema& inferred) {
  if (auto found = differing("argument", expected.arguments(), inferred.arguments())) return found;
  if (auto found = differing("return", expected.returns(), inferred.returns())) return found;
  if (expected.is_vararg() != inferred.is_vararg()) return "The schemas have different varargs.";
  return std::nullopt;
}

}  // namespace api
}  // namespace hb::bridge
