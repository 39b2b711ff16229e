#pragma once
// Texts of classes as archives have them: new ones, and those of an archive with lines added.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <halfbridge/ivalue.h>

namespace hb::bridge::script {

/// What a class gets beside its own text.
struct ClassLines {
  struct Field {
    std::string name, type;
    ivalue::ObjectData::Role role = ivalue::ObjectData::Role::Attribute;
    bool declared = false;  // the class has it, with another type
  };
  std::vector<Field> fields;
  std::vector<std::pair<std::string, std::string>>
      methods;  // names and source texts; they stand before the class's own
};

/// Lines of a text, from the first (1) of them to before the last; 0 is the end.
std::string lines_of(std::string_view text, int from, int to);
/// The source text of a function with its `def` two spaces in, as a method stands. Texts of several lines in quotes
/// stay as they are.
std::string as_method(std::string_view source);
/// The source text of a method with self.child(x) as self.child.forward(x), which LibTorch wants. `is_module` says what
/// is one; names of attributes after `self`.
std::string with_forward_calls(std::string source, const std::string& self,
                               const std::function<bool(const std::vector<std::string>& path)>& is_module);
/// class Name(Module): with these lines.
std::string new_class(const std::string& name, const ClassLines& lines);
/// The text of a class, which begins with its header, with these lines too.
std::string extended_class(const std::string& text, const std::string& new_name, const ClassLines& lines);
/// Whether a text has this identifier.
bool has_word(const std::string& text, const std::string& word);
/// The type's text with another name for a class of it.
std::string with_class_renamed(std::string type, const std::string& from, const std::string& to);

}  // namespace hb::bridge::script
