#include "config.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <halfbridge/error.h>

namespace hb::layer_diff::replay {

namespace {

constexpr size_t kMaxText = 64 * 1024;
constexpr int kMaxDepth = 16;

bool opens(char c) { return c == '[' || c == '(' || c == '{' || c == '<'; }
bool closes(char c) { return c == ']' || c == ')' || c == '}' || c == '>'; }

std::string trimmed(const std::string& text) {
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  const auto first = std::find_if_not(text.begin(), text.end(), is_space);
  const auto last = std::find_if_not(text.rbegin(), text.rend(), is_space).base();
  return first < last ? std::string(first, last) : std::string();
}

// Splits at commas outside brackets and quotes.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  char quote = 0;
  for (char c : text) {
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (opens(c)) {
      ++depth;
    } else if (closes(c)) {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(trimmed(part));
      part.clear();
      continue;
    }
    part += c;
  }
  if (!trimmed(part).empty()) parts.push_back(trimmed(part));
  return parts;
}

// kReflect -> reflect, kRNN_TANH -> rnn_tanh, torch::kMean -> mean
std::string plain_word(std::string word) {
  if (word.size() >= 2 && (word.front() == '\'' || word.front() == '"') && word.back() == word.front())
    return word.substr(1, word.size() - 2);
  if (word.rfind("torch::", 0) == 0) word = word.substr(7);
  if (word.size() >= 2 && word[0] == 'k' && std::isupper(static_cast<unsigned char>(word[1]))) word = word.substr(1);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

bool is_number(const std::string& text, double* number) {
  if (text.empty()) return false;
  const char* first = text.data() + (text[0] == '+' ? 1 : 0);
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, *number);
  return error == std::errc() && end == last;
}

Value parse(const std::string& text, int depth) {
  Value value;
  if (text.empty() || text == "None" || text == "nullopt" || text == "null") return value;
  if (text == "true" || text == "True" || text == "false" || text == "False")
    return Value::of(text[0] == 't' || text[0] == 'T');
  if (is_number(text, &value.number)) return Value::of(value.number);
  if (depth < kMaxDepth && opens(text.front()) && closes(text.back()) && text.size() >= 2) {
    value.type = Value::Type::list;
    for (const std::string& item : split(text.substr(1, text.size() - 2)))
      value.items.push_back(parse(item, depth + 1));
    return value;
  }
  return Value::of(plain_word(text));
}

// The '=' that ends a name: the text before it is an identifier.
size_t end_of_name(const std::string& text) {
  size_t i = 0;
  while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_')) ++i;
  return i > 0 && i < text.size() && text[i] == '=' ? i : std::string::npos;
}

}  // namespace

Value Value::of(bool flag) {
  Value value;
  value.type = Type::boolean;
  value.flag = flag;
  return value;
}
Value Value::of(double number) {
  Value value;
  value.type = Type::number;
  value.number = number;
  return value;
}
Value Value::of(const std::string& word) {
  Value value;
  value.type = Type::word;
  value.word = word;
  return value;
}

bool same(const Value& a, const Value& b) {
  if (a.type == Value::Type::list && b.type == Value::Type::list)
    return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same);
  const auto all = [](const Value& list, const Value& one) {
    return !list.items.empty() &&
           std::all_of(list.items.begin(), list.items.end(), [&](const Value& v) { return same(v, one); });
  };
  if (a.type == Value::Type::list) return all(a, b);
  if (b.type == Value::Type::list) return all(b, a);
  return a.type == b.type && a.flag == b.flag && a.number == b.number && a.word == b.word;
}

std::string text_of(const Value& value) {
  switch (value.type) {
    case Value::Type::none:
      return "None";
    case Value::Type::boolean:
      return value.flag ? "true" : "false";
    case Value::Type::number:
      return fmt::format("{:.6g}", value.number);
    case Value::Type::word:
      return value.word;
    case Value::Type::list:
      break;
  }
  std::string text = "[";
  for (const Value& item : value.items) text += (text.size() > 1 ? ", " : "") + text_of(item);
  return text + "]";
}

Value parse_value(const std::string& text) { return parse(trimmed(text), 0); }

Config parse_config(const std::string& text) {
  Config config;
  if (text.size() > kMaxText) return config;
  for (const std::string& part : split(text)) {
    const size_t equals = end_of_name(part);
    if (equals == std::string::npos)
      config.positional.push_back(parse_value(part));
    else
      config.named[part.substr(0, equals)] = parse_value(part.substr(equals + 1));
  }
  return config;
}

}  // namespace hb::layer_diff::replay
