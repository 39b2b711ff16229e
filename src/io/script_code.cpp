#include "io/script_code.h"

#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "io/io_error.h"
#include "io/script_lexer.h"

namespace hb::io {
namespace {

using ivalue::ClassData;
using Role = ivalue::ObjectData::Role;

constexpr uint64_t kMaxCode = uint64_t{1} << 26;
constexpr int kMaxDepth = 100;
constexpr std::string_view kRoot = "__torch__";

// Declarations stand one on a line: classes at its beginning, what belongs to a class after two spaces. What stands
// further in is code.
class FileParser {
 public:
  FileParser(std::string module, const std::string& label, const ClassCodeMaker& code)
      : module_(std::move(module)), label_(label), code_(code) {}

  std::map<std::string, std::shared_ptr<const ClassData>> run(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      line(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    finish();
    return std::move(classes_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { io_fail("load", "code of '", label_, "': ", why); }

  void line(std::string_view text) {
    ScriptLine line(text);
    if (line.take("class ")) return begin(line);
    if (!now_ || !line.take("  ") || line.rest().substr(0, 1) == " ") return;
    if (line.take("def ")) {
      now_->methods.emplace_back(line.take_name());
    } else if (line.take("__parameters__ = [")) {
      names(line, Role::Parameter);
    } else if (line.take("__buffers__ = [")) {
      names(line, Role::Buffer);
    } else if (line.take("__annotations__[")) {
      std::string name;
      if (!line.take_string(name) || !line.take("] = ")) fail("expected a name and its type under __annotations__");
      field(std::move(name), line.rest());
    } else if (const std::string_view name = line.take_name(); !name.empty() && line.take(" : ")) {
      field(std::string(name), line.rest());
    }
  }

  void begin(ScriptLine& line) {
    finish();
    const std::string_view name = line.take_name();
    if (name.empty()) fail("expected the name of a class");
    now_ = std::make_shared<ClassData>();
    now_->name.append(module_).append(".").append(name);
    now_->is_module = line.take("(Module)");
    if (code_) now_->code = code_(now_->name);
  }

  void names(ScriptLine& line, Role role) {
    for (std::string name; line.take_string(name);) {
      roles_[name] = role;
      if (!line.take(", ")) break;
    }
    if (!line.take("]")) fail("expected a list of names in class '" + now_->name + "'");
  }

  void field(std::string name, std::string_view type) {
    ScriptLine line(type);
    if (!line.take("Final[")) {
      now_->fields.push_back({std::move(name), make_type(type), Role::Attribute});
    } else if (const size_t value = type.find("] = "); value != std::string_view::npos) {
      now_->constants.emplace_back(std::move(name), std::string(type.substr(value + 4)));
    }
  }

  // As in LibTorch, a buffer that may be None does not count as one.
  void finish() {
    if (!now_) return;
    for (ClassData::Field& field : now_->fields) {
      const auto role = roles_.find(field.name);
      if (role == roles_.end()) continue;
      if (role->second == Role::Parameter || field.type->kind() == TypeKind::TensorType) field.role = role->second;
    }
    roles_.clear();
    const std::string name = now_->name;
    if (!classes_.emplace(name, std::move(now_)).second) fail("class '" + name + "' is there twice");
  }

  std::string module_;
  const std::string& label_;
  const ClassCodeMaker& code_;
  std::shared_ptr<ClassData> now_;
  std::unordered_map<std::string, Role> roles_;
  std::map<std::string, std::shared_ptr<const ClassData>> classes_;
};

class LiteralParser {
 public:
  explicit LiteralParser(std::string_view text) : text_(text), line_(text) {}

  IValue run() {
    IValue value = read();
    line_.skip_spaces();
    if (!line_.at_end()) fail();
    return value;
  }

 private:
  [[noreturn]] void fail() const {
    io_fail("jit.Module.attr", "expected a constant that is a number, a text or a list or tuple of them, got ",
            text_.substr(0, 60));
  }

  IValue read() {
    line_.skip_spaces();
    std::string text;
    if (line_.take_string(text)) return IValue(std::move(text));
    if (line_.take("[")) return list(items(']'));
    if (line_.take("(")) return tuple();
    if (line_.take("torch.device(")) return device();
    return word();
  }

  std::vector<IValue> items(char close) {
    if (++depth_ > kMaxDepth) fail();
    std::vector<IValue> values;
    const std::string_view end(&close, 1);
    for (line_.skip_spaces(); !line_.take(end); line_.skip_spaces()) {
      values.push_back(read());
      line_.skip_spaces();
      if (line_.take(",")) continue;
      if (!line_.take(end)) fail();
      break;
    }
    --depth_;
    return values;
  }

  static IValue list(std::vector<IValue> values) {
    List<IValue> result(values.empty() ? AnyType::get() : values[0].type());
    result.data()->items = std::move(values);
    return result;
  }

  IValue tuple() { return IValue(ivalue::TupleData::create(items(')'))); }

  IValue device() {
    std::string name;
    if (!line_.take_string(name) || !line_.take(")")) fail();
    return IValue(Device(name));
  }

  IValue word() {
    const std::string rest(line_.rest().substr(0, line_.rest().find_first_of(",])")));
    if (!line_.take(rest) || rest.empty()) fail();
    if (rest == "None") return IValue();
    if (rest == "True" || rest == "False") return IValue(rest == "True");
    char* end = nullptr;
    if (rest.find_first_not_of("-0123456789") == std::string::npos) {
      const long long whole = std::strtoll(rest.c_str(), &end, 10);
      if (*end == '\0') return IValue(int64_t{whole});
    }
    const double real = std::strtod(rest.c_str(), &end);
    if (*end != '\0' || end == rest.c_str()) fail();
    return IValue(real);
  }

  std::string_view text_;
  ScriptLine line_;
  int depth_ = 0;
};

}  // namespace

void ScriptCode::read_file(const std::string& module, const std::string& file) {
  if (!read_.emplace(file, true).second || !zip_.has(file)) return;
  const std::string label = zip_.label() + ":" + file;
  classes_.merge(FileParser(module, label, code_).run(zip_.read(file, kMaxCode)));
}

std::shared_ptr<const ClassData> ScriptCode::find(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || name.compare(0, kRoot.size(), kRoot) != 0) return nullptr;
  const std::string module = name.substr(0, dot);
  std::string file = "code/" + module + ".py";
  for (size_t i = 5; i < file.size() - 3; ++i) {
    if (file[i] == '.') file[i] = '/';
  }
  read_file(module, file);
  const auto found = classes_.find(name);
  return found == classes_.end() ? nullptr : found->second;
}

IValue value_of_literal(std::string_view text) { return LiteralParser(text).run(); }

}  // namespace hb::io
