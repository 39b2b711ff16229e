#include "source.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include <halfbridge/error.h>
#include <halfbridge/io/keys.h>

namespace hb::layer_diff::bundle {

using io::printable;
using replay::Layer;
using replay::Option;
using replay::Value;

namespace {

// How LibTorch writes a module or a function: the column `source` of the tables.
const std::map<std::string, std::string> kModules = {
#define HB_LAYER(module, kind, forward, precision, operators, options, source) {#module, source},
#include <halfbridge/bridge/nn/table/modules.def>
};
const std::map<std::string, std::string> kFunctions = {
#define HB_CALL(function, kind, forward, options, source) {#function, source},
#include <halfbridge/bridge/nn/table/functions.def>
};

const std::string& source_of(const std::map<std::string, std::string>& table, const char* what,
                             const std::string& type) {
  const auto found = table.find(type);
  HB_CHECK(found != table.end() && found->second != "not written", "[bundle] ", what, type,
           " cannot be written as source");
  return found->second;
}

bool contains(const std::string& words, const std::string& word) {
  std::istringstream stream(words);
  for (std::string w; stream >> w;)
    if (w == word) return true;
  return false;
}

// What a trace says goes into the source of a program: nothing but letters.
void check_word(const std::string& word) {
  HB_CHECK(!word.empty() &&
               std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c) || c == '-'; }),
           "[bundle] an option has the value '", printable(word), "', which has no name in C++");
}

// torch::kReflect of reflect
std::string enumerator(const std::string& word) {
  static const std::map<std::string, std::string> special = {
      {"relu", "ReLU"}, {"gelu", "GELU"}, {"batchmean", "BatchMean"}};
  const auto found = special.find(word);
  if (found != special.end()) return "torch::k" + found->second;
  check_word(word);
  std::string name = word;
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return "torch::k" + name;
}

std::string text_of_number(double number) {
  HB_CHECK(std::isfinite(number), "[bundle] an option has the value ", number, ", which is no number in C++");
  const bool whole = std::abs(number) <= replay::kMaxWhole && number == std::trunc(number);
  return whole ? fmt::format("{}", static_cast<int64_t>(number)) : fmt::format("{:.17g}", number);
}

std::string literal(const std::string& option, const Value& value) {
  switch (value.type) {
    case Value::Type::boolean:
      return value.flag ? "true" : "false";
    case Value::Type::number:
      return text_of_number(value.number);
    case Value::Type::word:
      if (option != "approximate") return enumerator(value.word);
      check_word(value.word);
      return '"' + value.word + '"';
    case Value::Type::none:
      return option == "stride" ? "{}" : "std::nullopt";
    case Value::Type::list:
      break;
  }
  std::string items;
  for (const Value& item : value.items) items += (items.empty() ? "" : ", ") + literal(option, item);
  if (option == "scale_factor") return "std::vector<double>({" + items + "})";
  if (option == "size" || option == "normalized_shape") return "std::vector<int64_t>({" + items + "})";
  return "{" + items + "}";
}

Value as_list(const Value& value) {
  if (value.type == Value::Type::list) return value;
  Value list;
  list.type = Value::Type::list;
  list.items = {value};
  return list;
}

bool needs_list(const std::string& type, const std::string& option) {
  return option == "normalized_shape" || (type == "Upsample" && (option == "scale_factor" || option == "size"));
}

std::string module_declaration(const Layer& layer, const std::string& type) {
  const std::string& source = source_of(kModules, "a module of type ", type);
  if (source == "no options") return "torch::nn::" + type + " layer;";
  const auto value_of = [&](const std::string& name) {
    const Value& value = layer.args.at(name);
    return literal(name, needs_list(type, name) ? as_list(value) : value);
  };
  std::string arguments, setters;
  std::istringstream names(source);
  for (std::string name; names >> name;) {
    if (name[0] == '-') continue;
    HB_CHECK(layer.args.has(name), "[bundle] the trace does not say the ", name, " of this ", type);
    arguments += (arguments.empty() ? "" : ", ") + value_of(name);
  }
  for (const Option& option : layer.declaration->options) {
    const Value& value = layer.args.at(option.name);
    if (value.is_none() || replay::same(value, option.standard) || contains(source, option.name)) continue;
    if (contains(source, "-" + option.name)) {
      HB_CHECK(option.name == "inplace" || option.name == "value", "[bundle] ", type, " of LibTorch has no option ",
               option.name);
      continue;
    }
    setters += "." + option.name + "(" + value_of(option.name) + ")";
  }
  // An option that is one number may stand for a flag: Softmax(1) would be its dimension.
  return fmt::format("torch::nn::{0} layer(torch::nn::{0}Options({1}){2});", type, arguments, setters);
}

std::string inputs_text(const std::vector<bool>& defined, size_t at_least = 0) {
  std::string text;
  for (size_t i = 0; i < std::max(defined.size(), at_least); ++i)
    text += (i ? ", " : "") +
            (i < defined.size() && defined[i] ? "in" + std::to_string(i) : std::string("torch::Tensor()"));
  return text;
}

std::string function_call(const Layer& layer, const std::string& type, const std::vector<bool>& defined) {
  const std::string& pattern = source_of(kFunctions, "the function ", type);
  std::string text;
  HB_CHECK(pattern.find("in1") == std::string::npos || (defined.size() > 1 && defined[1]), "[bundle] ", type,
           " with a number cannot be written");
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      text += pattern[i];
      continue;
    }
    size_t end = i + 1;
    while (end < pattern.size() && (std::isalnum(static_cast<unsigned char>(pattern[end])) || pattern[end] == '_'))
      ++end;
    const std::string name = pattern.substr(i + 1, end - i - 1);
    text += name == "i"    ? inputs_text(defined)
            : name == "i3" ? inputs_text(defined, 3)
                           : literal(name, layer.args.at(name));
    i = end - 1;
  }
  return text;
}

}  // namespace

std::string braces(const std::vector<int64_t>& values) {
  std::string text = "{";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "}";
}

LayerSource source_of(const Layer& layer, const std::string& type, const std::vector<bool>& defined) {
  LayerSource source;
  if (!layer.is_module) {
    source.call = function_call(layer, type, defined);
    return source;
  }
  if (type.rfind("Dropout", 0) == 0 && layer.training && !layer.masks.empty()) {
    source.call = fmt::format("in0 * mask.to(in0.scalar_type()) / {}", 1 - layer.args.number("p"));
    return source;
  }
  source.declaration = module_declaration(layer, type);
  const bool pair = type == "LSTM" || type == "LSTMCell";
  if (pair && defined.size() >= 3)
    source.call = "layer->forward(in0, std::make_tuple(in1, in2))";
  else
    source.call = "layer->forward(" + inputs_text(defined) + ")";
  source.tuple = pair || type == "GRU" || type == "RNN" || type == "MultiheadAttention";
  return source;
}

}  // namespace hb::layer_diff::bundle
