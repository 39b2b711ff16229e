// Reads the schema language. A text may come from a stranger: its length, the depth of its types and the length of its
// default lists are bounded.
#include <halfbridge/bridge/dispatch/function_schema.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "dispatch/schema_lexer.h"
#include "dispatch/schema_types.h"

namespace hb::bridge {
namespace {

using Kind = SchemaLexer::Kind;
constexpr int kDeepest = 32;
constexpr int32_t kLongestDefault = 1024;

constexpr std::string_view kTypes[] = {"Tensor",       "Scalar",   "int",      "SymInt",     "float",    "complex",
                                       "bool",         "str",      "Device",   "ScalarType", "Layout",   "MemoryFormat",
                                       "Generator",    "Any",      "NoneType", "None",       "Storage",  "Stream",
                                       "QScheme",      "Dimname",  "Capsule",  "AnyList",    "AnyTuple", "AnyEnumType",
                                       "AnyClassType", "SymFloat", "SymBool",  "Quantizer",  "PyObject"};

constexpr std::string_view kWrappers[] = {"Dict", "Future", "Await", "RRef", "Union"};

struct ParsedType {
  std::string text;  // without annotations
  std::optional<int32_t> N;
  std::optional<AliasInfo> alias;
};

class SchemaParser {
 public:
  SchemaParser(std::string_view text, bool variables) : lexer_(text), variables_(variables) {}

  OperatorName name() {
    std::string name(lexer_.expect_word().text), overload;
    if (lexer_.next_if("::")) name += "::" + std::string(lexer_.expect_word().text);
    if (lexer_.next_if(".")) {
      const auto token = lexer_.expect_word();
      if (token.text == "default") lexer_.fail("default is not a legal overload name for aten operators", token.place);
      overload = token.text;
    }
    return {std::move(name), std::move(overload)};
  }
  bool at_end() const { return lexer_.now().kind == Kind::End; }
  void expect_end() const {
    if (!at_end()) lexer_.fail_expected("eof");
  }

  FunctionSchema rest(OperatorName name) {
    bool vararg = false, varret = false;
    auto arguments = argument_list(vararg);
    lexer_.expect("->");
    auto returns = return_list(varret);
    expect_end();
    return FunctionSchema(std::move(name.name), std::move(name.overload_name), std::move(arguments), std::move(returns),
                          vararg, varret);
  }

 private:
  std::vector<Argument> argument_list(bool& vararg) {
    std::vector<Argument> arguments;
    bool by_name = false;
    lexer_.expect("(");
    while (!lexer_.next_if(")")) {
      if (vararg) lexer_.fail("... must be the last element of the argument list", lexer_.now().place);
      if (lexer_.next_if("...")) {
        vararg = true;
      } else if (lexer_.next_if("*")) {
        by_name = true;
      } else {
        arguments.push_back(argument(by_name));
      }
      if (lexer_.next_if(",")) continue;
      lexer_.expect(")");
      break;
    }
    return arguments;
  }

  Argument argument(bool by_name) {
    ParsedType type = parse_type();
    std::string name(lexer_.expect_word().text);
    std::optional<IValue> value;
    if (lexer_.next_if("=")) value = default_value(type.text, type.N);
    return Argument(std::move(name), make_type(type.text), type.N, std::move(value), by_name, std::move(type.alias));
  }

  std::vector<Argument> return_list(bool& varret) {
    std::vector<Argument> returns;
    if (lexer_.next_if("...")) {
      varret = true;
    } else if (lexer_.next_if("(")) {
      while (!lexer_.next_if(")")) {
        if (varret) lexer_.fail("... must be the last element of the return list", lexer_.now().place);
        if (lexer_.next_if("...")) {
          varret = true;
        } else {
          returns.push_back(result(true));
        }
        if (lexer_.next_if(",")) continue;
        lexer_.expect(")");
        break;
      }
    } else {
      returns.push_back(result(false));
    }
    return returns;
  }

  // Outside of parentheses the result ends with its line.
  Argument result(bool in_parentheses) {
    ParsedType type = parse_type();
    std::string name;
    if (lexer_.now().kind == Kind::Word && (in_parentheses || !lexer_.now().begins_line)) name = lexer_.take().text;
    return Argument(std::move(name), make_type(type.text), type.N, std::nullopt, false, std::move(type.alias));
  }

  ParsedType parse_type() {
    if (++depth_ > kDeepest) lexer_.fail("expected types nested at most 32 deep", lexer_.now().place);
    ParsedType type;
    type.text = base_type();
    if (lexer_.is("(")) type.alias = alias();
    for (;;) {
      if (lexer_.next_if("?")) {
        type.text += "?";
      } else if (lexer_.next_if("[")) {
        type.N = list_length();
        type.text += "[]";
        if (lexer_.is("(")) type.alias = alias();
      } else {
        break;
      }
      if (type.text.size() > 4096) lexer_.fail("expected a shorter type", lexer_.now().place);
    }
    --depth_;
    return type;
  }

  static bool is_wrapper(std::string_view name) {
    return std::find(std::begin(kWrappers), std::end(kWrappers), name) != std::end(kWrappers);
  }

  std::string base_type() {
    if (lexer_.next_if("(")) {
      std::string text = "(" + parse_type().text;
      while (lexer_.next_if(",")) text += ", " + parse_type().text;
      lexer_.expect(")");
      return text + ")";
    }
    const auto token = lexer_.expect_word();
    if (is_wrapper(token.text)) {
      lexer_.expect("(");
      std::string text = std::string(token.text) + "(" + parse_type().text;
      const bool one = token.text != "Dict" && token.text != "Union";
      while (one ? false : lexer_.next_if(",")) text += ", " + parse_type().text;
      lexer_.expect(")");
      return text + ")";
    }
    if (token.text == "__torch__") {
      std::string text(token.text);
      while (lexer_.next_if(".")) text += "." + std::string(lexer_.expect_word().text);
      return text;
    }
    if (std::find(std::begin(kTypes), std::end(kTypes), token.text) != std::end(kTypes)) return std::string(token.text);
    if (variables_ && std::islower(static_cast<unsigned char>(token.text[0]))) return std::string(token.text);
    lexer_.fail("unknown type specifier '" + std::string(token.text) +
                    "'. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar",
                token.place);
  }

  std::optional<int32_t> list_length() {
    std::optional<int32_t> length;
    if (lexer_.now().kind == Kind::Number) {
      const auto token = lexer_.take();
      int32_t number = 0;
      const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
      if (error != std::errc() || end != token.text.data() + token.text.size())
        lexer_.fail("expected the length of a list", token.place);
      length = number;
    }
    lexer_.expect("]");
    return length;
  }

  AliasInfo alias() {
    lexer_.expect("(");
    const std::set<std::string> before = alias_set();
    const bool writes = lexer_.next_if("!");
    std::set<std::string> after = before;
    if (lexer_.next_if("->")) after = alias_set();
    lexer_.expect(")");
    return {writes, before, after};
  }
  std::set<std::string> alias_set() {
    if (lexer_.next_if("*")) return {"*"};
    std::set<std::string> names{std::string(lexer_.expect_word().text)};
    while (lexer_.next_if("|")) names.emplace(lexer_.expect_word().text);
    return names;
  }

  // --- defaults

  IValue default_value(const std::string& type, std::optional<int32_t> N) {
    if (lexer_.is_word("None")) return lexer_.take(), IValue();
    if (type.back() == '?') return default_value(type.substr(0, type.size() - 1), N);
    if (type.size() > 2 && type.compare(type.size() - 2, 2, "[]") == 0)
      return default_list(type.substr(0, type.size() - 2), N);
    return default_item(type);
  }

  IValue default_list(const std::string& element, std::optional<int32_t> N) {
    List<IValue> list(element_type(element));
    if (lexer_.next_if("[")) {
      while (!lexer_.next_if("]")) {
        list.push_back(default_value(element, std::nullopt));
        if (lexer_.next_if(",")) continue;
        lexer_.expect("]");
        break;
      }
      return IValue(list.data());
    }
    if (!N || *N < 0 || *N > kLongestDefault)
      lexer_.fail("expected a list in brackets, or a type with a length of at most 1024,", lexer_.now().place);
    const IValue item = default_item(element);
    for (int32_t i = 0; i < *N; ++i) list.push_back(item);
    return IValue(list.data());
  }

  // Lists of values name their elements' type as archives do.
  static TypePtr element_type(const std::string& element) { return held_type(make_type(element)); }

  IValue default_item(const std::string& type) {
    if (type == "str") return IValue(text());
    if (type == "Device") return IValue(Device(text()));
    if (type == "bool") return boolean();
    if (type == "float") return IValue(number().toScalar().toDouble());
    if (type == "Scalar" || type == "complex") return number();
    if (type == "int" || type == "SymInt" || type == "ScalarType" || type == "Layout" || type == "MemoryFormat")
      return integer();
    lexer_.fail("expected None, the only default of a " + type, lexer_.now().place);
  }

  IValue boolean() {
    if (lexer_.is_word("True") || lexer_.is_word("true")) return lexer_.take(), IValue(true);
    if (lexer_.is_word("False") || lexer_.is_word("false")) return lexer_.take(), IValue(false);
    return IValue(integer().toInt() != 0);
  }

  // Constants that schemas call by name.
  IValue integer() {
    const auto token = lexer_.now();
    struct Constant {
      std::string_view name;
      int64_t value;
    };
    constexpr Constant kConstants[] = {
        {"strided", 0}, {"Mean", 1}, {"contiguous_format", 0}, {"preserve_format", 1}, {"long", 4},
        {"True", 1},    {"False", 0}};
    for (const Constant& constant : kConstants) {
      if (lexer_.is_word(constant.name)) return lexer_.take(), IValue(constant.value);
    }
    const IValue value = number();
    if (!value.isInt()) lexer_.fail("expected an integer as default", token.place);
    return value;
  }

  IValue number() {
    const size_t place = lexer_.now().place;
    const bool negative = lexer_.next_if("-");
    const auto token = lexer_.now();
    if (lexer_.is_word("inf") || lexer_.is_word("nan")) {
      lexer_.take();
      const double value = token.text == "inf" ? std::numeric_limits<double>::infinity() : std::nan("");
      return IValue(negative ? -value : value);
    }
    if (token.kind != Kind::Number) lexer_.fail("invalid numeric default value", place);
    lexer_.take();
    const std::string text = (negative ? "-" : "") + std::string(token.text);
    if (text.find_first_of(".eE") != std::string::npos) return IValue(std::strtod(text.c_str(), nullptr));
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) lexer_.fail("expected a number that 64 bits hold", place);
    return IValue(value);
  }

  std::string text() {
    if (lexer_.now().kind != Kind::Text) lexer_.fail_expected("string literal");
    const std::string_view quoted = lexer_.take().text;
    std::string out;
    for (size_t i = 1; i + 1 < quoted.size(); ++i) {
      char c = quoted[i];
      if (c == '\\') {
        c = quoted[++i];
        if (c == 'n') c = '\n';
        if (c == 't') c = '\t';
        const auto octal = [&](size_t at) { return at + 1 < quoted.size() && quoted[at] >= '0' && quoted[at] <= '7'; };
        if (c >= '0' && c <= '3' && octal(i + 1) && octal(i + 2)) {
          c = static_cast<char>((c - '0') << 6 | (quoted[i + 1] - '0') << 3 | (quoted[i + 2] - '0'));
          i += 2;
        }
      }
      out += c;
    }
    return out;
  }

  SchemaLexer lexer_;
  bool variables_;
  int depth_ = 0;
};

}  // namespace

namespace jit {

std::variant<OperatorName, FunctionSchema> parseSchemaOrName(const std::string& text, bool allow_typevars) {
  SchemaParser parser(text, allow_typevars);
  OperatorName name = parser.name();
  if (parser.at_end()) return name;
  return parser.rest(std::move(name));
}
FunctionSchema parseSchema(const std::string& text, bool allow_typevars) {
  SchemaParser parser(text, allow_typevars);
  OperatorName name = parser.name();
  return parser.rest(std::move(name));
}
OperatorName parseName(const std::string& text) {
  SchemaParser parser(text, false);
  OperatorName name = parser.name();
  parser.expect_end();
  return name;
}

}  // namespace jit
}  // namespace hb::bridge
