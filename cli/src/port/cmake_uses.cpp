#include <algorithm>
#include <array>
#include <cctype>

#include "uses.h"

namespace hb::cli::port {

namespace {

struct Command {
  std::string name;  // in small letters
  std::vector<std::string> arguments;
  int line;
};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Commands of a CMake file, comments left out.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<Command> run() {
    std::vector<Command> commands;
    std::string word;
    for (; at_ < text_.size(); step()) {
      const char c = text_[at_];
      if (c == '#') {
        skip_comment();
      } else if (c == '(' && !word.empty()) {
        commands.push_back({lower(word), {}, line_});
        step();
        arguments(commands.back().arguments);
        word.clear();
      } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
        word += c;
      } else if (c != ' ' && c != '\t') {
        word.clear();
      }
    }
    return commands;
  }

 private:
  void step() {
    if (at_ < text_.size() && text_[at_++] == '\n') ++line_;
  }
  void skip_comment() {
    while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') step();
  }
  /// To the bracket that closes the command.
  void arguments(std::vector<std::string>& out) {
    std::string word;
    int depth = 1;
    const auto flush = [&] {
      if (!word.empty()) out.push_back(std::move(word));
      word.clear();
    };
    for (bool quoted = false; at_ < text_.size(); step()) {
      const char c = text_[at_];
      if (c == '"') quoted = !quoted;
      if (c == '#' && !quoted) {
        skip_comment();
        flush();
        continue;
      }
      if (!quoted) depth += (c == '(') - (c == ')');
      if (depth == 0) return flush();
      if (quoted || !(std::isspace(static_cast<unsigned char>(c)) || c == ';' || c == '(' || c == ')'))
        word += c == '"' ? std::string() : std::string(1, c);
      else
        flush();
    }
    flush();
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

constexpr const char* kNoCuda = "nothing: no target of Halfbridge's needs it; leave it out";

/// What to do about an argument, if anything.
const char* instead_of_argument(const std::string& argument) {
  struct Row {
    std::string_view name;
    const char* instead;
  };
  static constexpr std::array<Row, 6> kRows = {
      {{"torch_cuda_linalg", kNoCuda},
       {"caffe2_nvrtc", kNoCuda},
       {"nvToolsExt", kNoCuda},
       {"torch_python", "nothing: Halfbridge has no Python binding"},
       {"TORCH_PYTHON_LIBRARY", "nothing: Halfbridge has no Python binding"},
       {"TorchVision::TorchVision", "modules of your own: Halfbridge has no TorchVision"}}};
  for (const Row& row : kRows)
    if (argument == row.name || argument == "${" + std::string(row.name) + "}") return row.instead;
  return nullptr;
}

bool has(const Command& command, const char* argument) {
  return std::find(command.arguments.begin(), command.arguments.end(), argument) != command.arguments.end();
}

/// What to do about a command itself; empty text for nothing.
std::string instead_of_command(const Command& command) {
  const std::string first = command.arguments.empty() ? "" : command.arguments[0];
  if (command.name == "find_package") {
    if (first == "Torch" && has(command, "COMPONENTS"))
      return "find_package(Torch REQUIRED): Halfbridge's package has no components";
    if (first == "TorchVision") return "modules of your own: Halfbridge has no TorchVision";
  }
  const bool sets_path = command.name == "set" || (command.name == "list" && has(command, "APPEND"));
  if (sets_path && (has(command, "CMAKE_PREFIX_PATH") || has(command, "Torch_DIR")))
    for (const std::string& argument : command.arguments)
      if (lower(argument).find("torch") != std::string::npos && argument != "Torch_DIR")
        return "the folder that Halfbridge is installed in";
  return {};
}

}  // namespace

void find_cmake_uses(const Source& source, std::vector<Use>& uses) {
  const auto add = [&](const std::string& name, std::string instead, int line) {
    const auto it =
        std::find_if(uses.begin(), uses.end(), [&](const Use& u) { return u.kind == Use::build && u.name == name; });
    if (it != uses.end()) return it->places.push_back({source.path, line});
    uses.push_back({Use::build, name, false, true, std::move(instead), {{source.path, line}}});
  };
  for (const Command& command : Parser(source.text).run()) {
    if (std::string instead = instead_of_command(command); !instead.empty())
      add(command.name + "(" + (command.arguments.empty() ? "" : command.arguments[0]) + " …)", std::move(instead),
          command.line);
    for (const std::string& argument : command.arguments)
      if (const char* instead = instead_of_argument(argument)) add(argument, instead, command.line);
  }
}

}  // namespace hb::cli::port
