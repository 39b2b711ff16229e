// Options of a module as it prints them: "3, 64, kernel_size=[3, 3], bias=false" of LibTorch and Halfbridge,
// "kernel_size=(3, 3), bias=False" of Python.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hb::layer_diff::replay {

/// One option. Words lose their quotes, and enumerators their k: kReflect, 'reflect' and reflect are the same.
struct Value {
  enum class Type { none, boolean, number, word, list };
  Type type = Type::none;
  bool flag = false;
  double number = 0;
  std::string word;
  std::vector<Value> items;

  static Value of(bool flag);
  static Value of(double number);
  static Value of(const std::string& word);
  bool is_none() const { return type == Type::none; }
};
/// [3, 3] and 3 are equal: an option of several dimensions may be given once for all.
bool same(const Value& a, const Value& b);
/// As it prints: 3, 0.001, true, [3, 3], reflect, None.
std::string text_of(const Value& value);

/// The text between the parentheses, split: options without a name in their order, and those with one.
struct Config {
  std::vector<Value> positional;
  std::map<std::string, Value> named;
};
/// Reads at most 64 KiB and 16 levels of brackets. What is not an option (a nested module's text) becomes a word.
Config parse_config(const std::string& text);
/// One value alone.
Value parse_value(const std::string& text);

}  // namespace hb::layer_diff::replay
