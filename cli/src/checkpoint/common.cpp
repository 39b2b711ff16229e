#include "common.h"

#include <fmt/format.h>
#include <halfbridge/error.h>
#include <halfbridge/io/dtype_name.h>

namespace hb::cli::checkpoint {

IValue select(const io::StateDictFile& file, const Names& names, const std::string& path) {
  const auto part = io::value_at(file.value, names.only);
  HB_CHECK(part, "'", path, "' holds nothing named '", names.only, "': `halfbridge checkpoint show ", path,
           "` lists its names");
  return *part;
}

io::NamedTensors rename(io::NamedTensors tensors, const Names& names) {
  io::RenameRules all;
  if (!names.strip.empty()) all.add_prefix(names.strip, "");
  for (const std::string& rule : names.rename) all.add(rule);
  if (!names.prefix.empty()) all.add_prefix("", names.prefix);
  for (const std::string& rule : all.unused(tensors)) fmt::print(stderr, "note: the rule '{}' matches no name\n", rule);
  return all.apply(tensors);
}

void add_name_options(CLI::App& command, Names& names, const std::string& whose) {
  command
      .add_option("--rename", names.rename,
                  "Change names" + whose +
                      ": 'old=new', 'prefix*=new*' or '/regex/=new'; may be repeated; rules apply in order")
      ->type_name("RULE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--only", names.only, "Use only what has this name, such as 'model'")->type_name("NAME");
  command.add_option("--strip", names.strip, "Remove this text from the front of names" + whose + ", before --rename")
      ->type_name("TEXT");
  command.add_option("--prefix", names.prefix, "Add this text to the front of names" + whose + ", after --rename")
      ->type_name("TEXT");
}

std::string shape_text(const Tensor& tensor) { return hb::detail::str(tensor.sizes()); }

std::string size_text(uint64_t bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.{}f} {}", value, value < 10 ? 2 : 1, units[unit]);
}

namespace {

void append_items(const std::vector<IValue>& items, const char* ends, std::string& text, size_t most);

// Tensors within a value are named by dtype and shape alone, and what is too long is not written to its end.
void append(const IValue& value, std::string& text, size_t most) {
  if (text.size() > most) return;
  if (value.isTensor()) {
    text += fmt::format("{} {}", io::dtype_name(value.toTensor().scalar_type()), shape_text(value.toTensor()));
  } else if (value.isString()) {
    text += '"' + value.toStringRef() + '"';
  } else if (value.isDouble()) {
    text += fmt::format("{}", value.toDouble());  // the shortest that is this number
  } else if (value.isList()) {
    append_items(value.toListRef(), "[]", text, most);
  } else if (value.isTuple()) {
    append_items(value.toTupleRef().elements(), "()", text, most);
  } else if (value.isGenericDict()) {
    text += '{';
    for (const auto& [key, item] : value.toGenericDict().data()->entries) {
      if (text.size() > most) return;
      if (text.back() != '{') text += ", ";
      append(key, text, most);
      text += ": ";
      append(item, text, most);
    }
    text += '}';
  } else {
    text += hb::detail::str(value);
  }
}

void append_items(const std::vector<IValue>& items, const char* ends, std::string& text, size_t most) {
  text += ends[0];
  for (size_t i = 0; i < items.size() && text.size() <= most; ++i) {
    if (i > 0) text += ", ";
    append(items[i], text, most);
  }
  text += ends[1];
}

}  // namespace

std::string value_text(const IValue& value, size_t most) {
  std::string text;
  append(value, text, most);
  if (text.size() > most) text = text.substr(0, most) + "...";
  return printable(text);
}

uint64_t bytes_of(const io::NamedTensors& tensors) {
  uint64_t bytes = 0;
  for (const auto& item : tensors) bytes += item.second.nbytes();
  return bytes;
}

}  // namespace hb::cli::checkpoint
