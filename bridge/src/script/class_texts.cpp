#include "script/class_texts.h"

#include <algorithm>
#include <cctype>

#include "io/quoted.h"
#include "script/lexer.h"
#include "script/syntax.h"

namespace hb::bridge::script {
namespace {

using Role = ivalue::ObjectData::Role;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Whether no identifier goes on at either end of these characters.
bool is_whole(const std::string& text, size_t from, size_t to) {
  return (from == 0 || !is_word(text[from - 1])) && (to == text.size() || !is_word(text[to]));
}

bool is_identifier(const std::string& name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), is_word);
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// Whether a line of code ends inside of a text in three quotes, given how it began.
class QuoteState {
 public:
  bool inside() const { return !quotes_.empty(); }
  void read(std::string_view line) {
    for (size_t i = 0; i < line.size(); ++i) {
      if (inside()) {
        if (line[i] == '\\') {
          ++i;
        } else if (line.substr(i, quotes_.size()) == quotes_) {
          i += quotes_.size() - 1;
          quotes_.clear();
        }
      } else if (line[i] == '#') {
        break;
      } else if (line[i] == '"' || line[i] == '\'') {
        const bool three = line.substr(i, 3) == std::string(3, line[i]);
        quotes_.assign(three ? 3 : 1, line[i]);
        i += quotes_.size() - 1;
      }
    }
    if (quotes_.size() == 1) quotes_.clear();  // ends with its line
  }

 private:
  std::string quotes_;
};

std::string field_line(const ClassLines::Field& field) {
  if (is_identifier(field.name)) return "  " + field.name + " : " + field.type;
  return "  __annotations__[" + io::quoted(field.name) + "] = " + field.type;
}

std::string names_of(const ClassLines& lines, Role role) {
  std::string text;
  for (const auto& field : lines.fields) {
    if (field.role == role && !field.declared) text += io::quoted(field.name) + ", ";
  }
  return text;
}

std::string methods_of(const ClassLines& lines) {
  std::string text;
  for (const auto& [name, source] : lines.methods) text += as_method(source);
  return text;
}

bool needs_annotations(const ClassLines& lines) {
  return std::any_of(lines.fields.begin(), lines.fields.end(),
                     [](const ClassLines::Field& field) { return !field.declared && !is_identifier(field.name); });
}

// Which lines of the class are of methods that others stand before, and where its methods begin.
struct Methods {
  std::vector<bool> dropped;
  size_t first;
};
Methods methods_in(const std::string& text, const ClassLines& lines, size_t count) {
  const FileSyntax syntax = parse_source(text, "class");
  Methods found{std::vector<bool>(count), count};
  const auto& methods = syntax.classes.at(0)->methods;
  for (size_t i = 0; i < methods.size(); ++i) {
    const auto from = static_cast<size_t>(methods[i]->line - 1);
    const size_t to = i + 1 < methods.size() ? static_cast<size_t>(methods[i + 1]->line - 1) : count;
    found.first = std::min(found.first, from);
    const bool replaced = std::any_of(lines.methods.begin(), lines.methods.end(),
                                      [&](const auto& method) { return method.first == methods[i]->name; });
    if (replaced)
      std::fill(found.dropped.begin() + static_cast<std::ptrdiff_t>(from),
                found.dropped.begin() + static_cast<std::ptrdiff_t>(to), true);
  }
  return found;
}

// Adds to the class's own list of names; false where the line is another.
bool add_names(std::string& line, const std::string& list, const std::string& names) {
  const std::string begin = "  " + list + " = [";
  if (line.compare(0, begin.size(), begin) != 0) return false;
  const size_t end = line.rfind(']');
  if (end == std::string::npos) return false;
  line.insert(end, names);
  return true;
}

void set_types(std::string& line, const ClassLines& lines) {
  for (const auto& field : lines.fields) {
    if (!field.declared) continue;
    const std::string made = field_line(field);
    const size_t head = made.size() - field.type.size();
    if (line.compare(0, head, made, 0, head) == 0) line = made;
  }
}

}  // namespace

std::string lines_of(std::string_view text, int from, int to) {
  std::string taken;
  int number = 0;
  for (const std::string& line : split_lines(text)) {
    ++number;
    if (number >= from && (to == 0 || number < to)) taken += line + "\n";
  }
  return taken;
}

std::string as_method(std::string_view source) {
  std::string text;
  QuoteState quotes;
  const std::vector<std::string> lines = split_lines(source);
  const size_t outer = lines.empty() ? 0 : std::min(lines[0].find_first_not_of(" \t"), lines[0].size());
  for (const std::string& line : lines) {
    if (quotes.inside()) {
      text += line + "\n";
    } else if (line.find_first_not_of(" \t\r") != std::string::npos) {
      text += "  " + line.substr(std::min(outer, line.find_first_not_of(" \t"))) + "\n";
    }
    quotes.read(line);
  }
  return text;
}

std::string with_forward_calls(std::string source, const std::string& self,
                               const std::function<bool(const std::vector<std::string>& path)>& is_module) {
  std::vector<size_t> places;
  Lexer lexer(source, "source");
  std::string_view before;
  while (lexer.now().kind != Token::Kind::End) {
    const Token token = lexer.take();
    const bool begins = token.kind == Token::Kind::Name && token.text == self && before != ".";
    before = token.text;
    if (!begins) continue;
    std::vector<std::string> path;
    while (lexer.is(".") && lexer.next().kind == Token::Kind::Name) {
      lexer.take();
      path.emplace_back(before = lexer.take().text);
    }
    if (!path.empty() && lexer.is("(") && is_module(path))
      places.push_back(static_cast<size_t>(lexer.now().text.data() - source.data()));
  }
  for (auto place = places.rbegin(); place != places.rend(); ++place) source.insert(*place, ".forward");
  return source;
}

std::string new_class(const std::string& name, const ClassLines& lines) {
  std::string text = "class " + name + "(Module):\n";
  text += "  __parameters__ = [" + names_of(lines, Role::Parameter) + "]\n";
  text += "  __buffers__ = [" + names_of(lines, Role::Buffer) + "]\n";
  if (needs_annotations(lines)) text += "  __annotations__ = []\n";
  for (const auto& field : lines.fields) text += field_line(field) + "\n";
  return text + methods_of(lines);
}

std::string extended_class(const std::string& text, const std::string& new_name, const ClassLines& lines) {
  std::vector<std::string> own = split_lines(text);
  while (!own.empty() && own.back().find_first_not_of(" \t\r") == std::string::npos) own.pop_back();
  const Methods methods = methods_in(text, lines, own.size());
  const size_t name_end = own.at(0).find_first_of("(:");
  std::string result = "class " + new_name + own[0].substr(std::min(name_end, own[0].size())) + "\n", after;
  const std::string parameters = names_of(lines, Role::Parameter), buffers = names_of(lines, Role::Buffer);
  bool has_parameters = parameters.empty(), has_buffers = buffers.empty();
  for (size_t i = 1; i < methods.first; ++i) {
    has_parameters = add_names(own[i], "__parameters__", parameters) || has_parameters;
    has_buffers = add_names(own[i], "__buffers__", buffers) || has_buffers;
    set_types(own[i], lines);
    after += own[i] + "\n";
  }
  if (!has_parameters) result += "  __parameters__ = [" + parameters + "]\n";
  if (!has_buffers) result += "  __buffers__ = [" + buffers + "]\n";
  result += after;
  if (needs_annotations(lines) && result.find("\n  __annotations__ = ") == std::string::npos)
    result += "  __annotations__ = []\n";
  for (const auto& field : lines.fields) {
    if (!field.declared) result += field_line(field) + "\n";
  }
  result += methods_of(lines);
  for (size_t i = methods.first; i < own.size(); ++i) {
    if (!methods.dropped[i]) result += own[i] + "\n";
  }
  return result;
}

bool has_word(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (is_whole(text, at, at + word.size())) return true;
  return false;
}

std::string with_class_renamed(std::string type, const std::string& from, const std::string& to) {
  for (size_t at = type.find(from); at != std::string::npos; at = type.find(from, at)) {
    const size_t end = at + from.size();
    const bool part = (at > 0 && type[at - 1] == '.') || (end < type.size() && type[end] == '.');
    const bool whole = !part && is_whole(type, at, end);
    if (whole) type.replace(at, from.size(), to);
    at += whole ? to.size() : from.size();
  }
  return type;
}

}  // namespace hb::bridge::script
