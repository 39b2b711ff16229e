#include "types.h"

#include "brackets.h"
#include "result_types.h"

namespace hb::cli::port {

namespace {

// Tokens of an expression, and of the chain of calls before a dot; what is longer stays unknown.
constexpr size_t kLongestExpression = 2000, kLongestOperand = 100;
constexpr int kDeepest = 40;

}  // namespace

Types::Types(const Tree& tree, const Declarations& declarations)
    : tree_(tree), declarations_(declarations), files_(tree.sources.size()) {
  for (size_t i = 0; i < files_.size(); ++i) files_[i].partners = partners_of(tree.sources[i].tokens);
  for (size_t i = 0; i < files_.size(); ++i) collect(i);
}

void Types::collect(size_t source) {
  const std::vector<Token>& tokens = tree_.sources[source].tokens;
  for (size_t i = 0; i < tokens.size();) {
    const bool begins = is_name(tokens, i) && !is_statement_word(tokens[i].text) &&
                        (i == 0 || !(is(tokens, i - 1, ".") || is(tokens, i - 1, "->") || is(tokens, i - 1, "::")));
    i = begins ? declaration(source, i) : i + 1;
  }
}

/// Reads a declaration `type name` at `at`, if it is one; gives the token to go on with.
size_t Types::declaration(size_t source, size_t at) {
  const std::vector<Token>& tokens = tree_.sources[source].tokens;
  if (is(tokens, at, "const") || is(tokens, at, "static") || is(tokens, at, "constexpr")) return at + 1;
  size_t end = at;
  qualified_name(tokens, end);
  const size_t past = std::max(end, at + 1);
  if (is(tokens, end, "<")) end = past_template_arguments(tokens, end);
  const size_t type_end = end;
  while (is(tokens, end, "const") || is(tokens, end, "&") || is(tokens, end, "*")) ++end;
  if (is(tokens, at, "auto") && is(tokens, end, "[")) {
    structured_binding(source, end);
    return end + 1;
  }
  if (!is_name(tokens, end) || is_statement_word(tokens[end].text)) return past;
  static constexpr std::array<std::string_view, 8> kAfter = {"=", ";", ",", ")", "{", "(", ":", "["};
  size_t after = end + 1;
  if (after >= tokens.size() || !one_of(tokens[after].text, kAfter)) return past;
  Type type = Type::unknown;
  if (!is(tokens, at, "auto"))
    type = declared_type(source, at, type_end);
  else if (is(tokens, after, "="))
    type = expression(source, after + 1, tokens.size());
  else if (is(tokens, after, ":") && expression(source, after + 1, tokens.size()) == Type::tensors)
    type = Type::tensor;
  if (type != Type::unknown || end == type_end) declare(source, tokens[end].text, end, type);
  // Torch::Tensor a, b;
  while (is(tokens, after, ",") && is_name(tokens, after + 1) &&
         (is(tokens, after + 2, ",") || is(tokens, after + 2, ";"))) {
    declare(source, tokens[after + 1].text, after + 1, type);
    after += 2;
  }
  return past;
}

void Types::structured_binding(size_t source, size_t open) {
  const std::vector<Token>& tokens = tree_.sources[source].tokens;
  const size_t close = files_[source].partners[open];
  const Type value = is(tokens, close + 1, "=") ? expression(source, close + 2, tokens.size()) : Type::unknown;
  const Type type = value == Type::tensor || value == Type::tensors ? Type::tensor : Type::unknown;
  for (size_t i = open + 1; i < close; ++i)
    if (is_name(tokens, i)) declare(source, tokens[i].text, i, type);
}

void Types::declare(size_t source, std::string_view name, size_t token, Type type) {
  files_[source].variables[std::string(name)].push_back({token, type});
  const auto [it, added] = anywhere_.emplace(name, type);
  if (!added && it->second != type) it->second = Type::unknown;
}

/// The type that is written in the tokens from `begin` to `end`.
Type Types::declared_type(size_t source, size_t begin, size_t end) const {
  const std::vector<Token>& tokens = tree_.sources[source].tokens;
  size_t at = begin;
  const std::string name = qualified_name(tokens, at);
  const std::string full = declarations_.resolve(source, name);
  if (!full.empty()) return result_of_libtorch(full);
  static constexpr std::array<std::string_view, 10> kOwners = {
      "std::shared_ptr", "std::unique_ptr",  "std::optional", "shared_ptr",       "unique_ptr",
      "optional",        "std::make_shared", "make_shared",   "std::make_unique", "make_unique"};
  if (is(tokens, at, "<")) {
    const Type inner = declared_type(source, at + 1, end);
    if (one_of(name, kOwners)) return inner;
    if (inner == Type::tensor && (name.rfind("std::", 0) == 0 || name == "vector")) return Type::tensors;
  }
  if (declarations_.own_class(name.substr(name.rfind(':') + 1))) return Type::library;
  return is_plain_type(name) ? Type::other : Type::unknown;
}

Type Types::anywhere(std::string_view name) const {
  const auto it = anywhere_.find(name);
  return it == anywhere_.end() ? Type::unknown : it->second;
}

Type Types::variable(size_t source, std::string_view name, size_t token) const {
  const auto& variables = files_[source].variables;
  const auto it = variables.find(name);
  if (it == variables.end()) return anywhere(name);
  const auto later = std::upper_bound(it->second.begin(), it->second.end(), token,
                                      [](size_t t, const Variable& v) { return t < v.token; });
  return later == it->second.begin() ? anywhere(name) : std::prev(later)->type;
}

Type Types::method(Type of, std::string_view name) const {
  static constexpr std::array<std::string_view, 8> kElement = {"at",    "back",  "front", "get",
                                                               "value", "begin", "data",  "toTensor"};
  switch (of) {
    case Type::tensor:
      return result_of_tensor_method(name);
    case Type::tensors:
      return one_of(name, kElement) ? Type::tensor : Type::other;
    case Type::other:
      return Type::other;
    default:
      break;
  }
  if (name == "forward" || name == "toTensor") return Type::tensor;
  if (name == "parameters" || name == "buffers") return Type::tensors;
  return declarations_.own(name) ? anywhere(name) : of == Type::library ? Type::library : Type::unknown;
}

/// What calling `name` gives; its arguments begin at the bracket `arguments`.
Type Types::call(size_t source, const std::string& name, size_t arguments, size_t end, int depth) const {
  const std::string full = declarations_.resolve(source, name);
  if (!full.empty()) return full.find("::") == full.npos ? Type::unknown : result_of_libtorch(full);
  if (name == "std::move" || name == "std::get" || name == "std::forward" || name == "move") {
    const Type inner = expression(source, arguments + 1, std::min(files_[source].partners[arguments], end), depth + 1);
    return name == "std::get" && inner == Type::tensors ? Type::tensor : inner;
  }
  const Type type = variable(source, name.substr(name.rfind(':') + 1), arguments);
  if (type == Type::library) return Type::tensor;  // a module is called
  if (type != Type::unknown) return type;
  if (name == "parameters" || name == "buffers") return Type::tensors;  // of the module that the code stands in
  return declarations_.own_class(name) ? Type::library : name.rfind("std::", 0) == 0 ? Type::other : Type::unknown;
}

Type Types::primary(size_t source, size_t& at, size_t end, int depth) const {
  const std::vector<Token>& tokens = tree_.sources[source].tokens;
  const std::vector<size_t>& partners = files_[source].partners;
  if (is(tokens, at, "this") && is(tokens, at + 1, "->")) at += 2;
  if (is(tokens, at, "(")) {
    const size_t close = partners[at];
    const Type type = expression(source, at + 1, std::min(close, end), depth + 1);
    at = std::max(close, at) + 1;
    return type;
  }
  if (!is_name(tokens, at) && !is(tokens, at, "::")) {
    ++at;
    return at <= tokens.size() && (tokens[at - 1].kind == Token::number || tokens[at - 1].kind == Token::literal)
               ? Type::other
               : Type::unknown;
  }
  const size_t begin = at;
  const std::string name = qualified_name(tokens, at);
  if (at == begin) ++at;
  if (is(tokens, at, "<")) {
    const size_t past = past_template_arguments(tokens, at);
    if (past > at && is(tokens, past, "(")) {
      const bool makes = name.find("make_shared") != name.npos || name.find("make_unique") != name.npos;
      const Type made = makes ? declared_type(source, begin, past) : Type::unknown;
      at = past;
      const Type type = makes ? made : call(source, name, at, end, depth);
      at = std::max(partners[at], at) + 1;
      return type;
    }
  }
  if (is(tokens, at, "(") || (is(tokens, at, "{") && !declarations_.resolve(source, name).empty())) {
    const Type type = call(source, name, at, end, depth);
    at = std::max(partners[at], at) + 1;
    return type;
  }
  return name.find("::") == name.npos ? variable(source, name, begin) : Type::unknown;
}

/// A primary and the calls, members and subscripts behind it; `at` is moved past them.
Type Types::operand(size_t source, size_t& at, size_t end, int depth) const {
  const std::vector<Token>& tokens = tree_.sources[source].tokens;
  const std::vector<size_t>& partners = files_[source].partners;
  Type type = primary(source, at, end, depth);
  while (at < end && at < tokens.size()) {
    if (is(tokens, at, ".") || is(tokens, at, "->")) {
      if (!is_name(tokens, at + 1)) return type;
      const std::string_view name = tokens[at + 1].text;
      size_t next = at + 2;
      if (is(tokens, next, "template")) ++next;
      if (is(tokens, next, "<")) next = past_template_arguments(tokens, next);
      if (is(tokens, next, "(")) {
        type = method(type, name);
        at = std::max(partners[next], next) + 1;
      } else {
        static constexpr std::array<std::string_view, 7> kFields = {"data",         "target",      "weight", "bias",
                                                                    "running_mean", "running_var", "grad"};
        const Type field = anywhere(name);
        type = field != Type::unknown ? field : one_of(name, kFields) ? Type::tensor : Type::unknown;
        at += 2;
      }
    } else if (is(tokens, at, "[")) {
      type = type == Type::tensors || type == Type::tensor ? Type::tensor : Type::unknown;
      at = std::max(partners[at], at) + 1;
    } else if (is(tokens, at, "(")) {
      type = type == Type::library ? Type::tensor : Type::unknown;  // a module is called
      at = std::max(partners[at], at) + 1;
    } else {
      return type;
    }
  }
  return type;
}

/// What is computed from token `begin` up to `end`, a `;`, a `,` or a closing bracket.
Type Types::expression(size_t source, size_t begin, size_t end, int depth) const {
  if (depth > kDeepest) return Type::unknown;
  const std::vector<Token>& tokens = tree_.sources[source].tokens;
  end = std::min({end, tokens.size(), begin + kLongestExpression});
  Type result = Type::unknown;
  bool first = true;
  for (size_t at = begin; at < end;) {
    const Token& token = tokens[at];
    if (token.kind == Token::punctuation &&
        one_of(token.text, std::array<std::string_view, 5>{";", ",", ")", "]", "}"}))
      break;
    const bool is_operator = token.kind == Token::punctuation && token.text != "(" && token.text != "::";
    if (is_operator) {
      if (token.text == "[" || token.text == "{") break;  // a lambda, a list
      ++at;
      continue;
    }
    const Type type = operand(source, at, end, depth);
    if (first || type == Type::tensor) result = type;  // whatever is combined with a tensor is one
    first = false;
  }
  return result;
}

Type Types::operand_before(size_t source, size_t end) const {
  const std::vector<Token>& tokens = tree_.sources[source].tokens;
  const std::vector<size_t>& partners = files_[source].partners;
  size_t begin = end, steps = 0;
  while (begin > 0) {
    if (++steps > kLongestOperand) return Type::unknown;
    const size_t last = begin - 1;
    if (is(tokens, last, ")") || is(tokens, last, "]") || is(tokens, last, "}")) {
      if (partners[last] == last) return Type::unknown;
      begin = partners[last];
      if (begin > 0 && is(tokens, begin - 1, ">")) begin = template_arguments_before(tokens, begin - 1);
      const bool more =
          begin > 0 && (is_name(tokens, begin - 1) || is(tokens, begin - 1, ")") || is(tokens, begin - 1, "]"));
      if (!more || is_statement_word(tokens[begin - 1].text)) break;
      continue;
    }
    if (!is_name(tokens, last) && tokens[last].kind != Token::literal) return Type::unknown;
    begin = last;
    while (begin > 1 && is(tokens, begin - 1, "::") && is_name(tokens, begin - 2)) begin -= 2;
    if (begin > 0 && (is(tokens, begin - 1, ".") || is(tokens, begin - 1, "->")))
      --begin;
    else
      break;
  }
  return end - begin > kLongestExpression ? Type::unknown : operand(source, begin, end, 0);
}

}  // namespace hb::cli::port
