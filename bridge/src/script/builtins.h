#pragma once
// Functions of TorchScript that are no operators of the dispatcher: those of numbers, texts, lists and dicts, and what
// tensors know of themselves.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <halfbridge/ivalue.h>

namespace hb::bridge::script {

using Values = std::vector<IValue>;

struct Builtin {
  const char* name;  // "aten::append"
  /// Sets the result and returns true if the arguments are of its kinds; what it does not take, an operator may.
  bool (*run)(Values& arguments, IValue& result);
  bool tensors = true;  // whether it takes any call whose first argument is a tensor
};

/// Those of one name: the first that takes the arguments answers.
struct Builtins {
  std::vector<Builtin> rows;
  bool run(Values& arguments, IValue& result) const;
};
/// Null where there is none.
const Builtins* find_builtins(const std::string& name);
/// Where the arguments of these names stand among all; nothing where one of the names is unknown.
std::optional<std::vector<size_t>> places_of_names(const std::string& function, const std::vector<std::string>& names);
/// Whether a list that is written in a call may be the same one in each call.
bool keeps_arguments(const std::string& name);

std::span<const Builtin> number_builtins();
std::span<const Builtin> mixed_builtins();
std::span<const Builtin> math_builtins();
std::span<const Builtin> list_builtins();
std::span<const Builtin> dict_builtins();
std::span<const Builtin> text_builtins();
std::span<const Builtin> text_part_builtins();
std::span<const Builtin> property_builtins();
std::span<const Builtin> other_builtins();

// --- helpers of several files

inline bool is_whole(const IValue& v) { return v.isInt() || v.isBool(); }
inline bool is_real(const IValue& v) { return v.isDouble() || v.isInt() || v.isBool(); }
inline int64_t whole(const IValue& v) { return v.isBool() ? int64_t{v.toBool()} : v.toInt(); }
inline double real(const IValue& v) { return v.isDouble() ? v.toDouble() : static_cast<double>(whole(v)); }

/// What counts as true; throws for what has no truth value.
bool truth(const IValue& value);
/// What a number of a source text is; nothing for one that 64 bits do not hold.
std::optional<IValue> number_of(const std::string& text);
/// Conversions as int(), float() and str() make them.
int64_t to_int(const IValue& value);
double to_float(const IValue& value);
std::string to_text(const IValue& value);
/// Items of a list, or characters of a text, that code may make.
constexpr size_t kMostItems = size_t{1} << 28;
/// Throws for a text of more characters.
void check_length(size_t characters);
bool equal_values(const IValue& a, const IValue& b);
bool less_value(const IValue& a, const IValue& b);
/// -1 is the last one; throws IndexError where there is none.
size_t place_of(int64_t index, size_t count, const char* what);
/// A list whose element type is that of the items.
IValue list_of_items(std::vector<IValue> items);
/// The items of what a loop goes through.
std::vector<IValue> items_of(const IValue& value);
/// The items that start:stop:step picks from `count`.
struct Picked {
  int64_t start, step;
  size_t count;
};
Picked pick(const IValue& start, const IValue& stop, const IValue& step, size_t count);
/// value[index] and value[index] = item of lists, tuples, dicts, texts and tensors.
IValue subscript(const IValue& value, const IValue& index);
void set_subscript(const IValue& value, const IValue& index, IValue item);
/// The attribute of a value that is no object; false where it has none.
bool property(const IValue& value, const std::string& name, IValue& result);

}  // namespace hb::bridge::script
