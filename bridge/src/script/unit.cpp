#include "script/unit.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <halfbridge/error.h>
#include <halfbridge/tensor_type.h>

#include "script/class_texts.h"

namespace hb::bridge::script {
namespace {

uint64_t next_id() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

std::string before_last_dot(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

TypePtr schema_type(const std::string& text) { return text.empty() ? TensorType::get() : make_type(text); }

std::unique_ptr<jit::Function> callable_of(ScriptFunction* function) {
  const auto run = [function](jit::Stack& stack) {
    IValue result = function->call(std::exchange(stack, {}));
    stack.push_back(std::move(result));
  };
  return std::make_unique<jit::Function>(function->qualified_name(), function->schema(), run, "");
}

}  // namespace

// --- Unit

void Unit::add_file(const std::string& module, std::string label, std::string text) {
  files_[module] = {module, std::move(label), std::move(text)};
}

std::vector<std::pair<std::string, std::string>> Unit::files() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [module, file] : files_) all.emplace_back(file.label, file.text);
  return all;
}

void Unit::parse(const std::string& module) {
  const auto found = files_.find(module);
  if (found == files_.end() || found->second.parsed) return;
  File& file = found->second;
  FileSyntax syntax = parse_source(file.text, file.label);
  file.parsed = true;
  for (auto& function : syntax.functions) {
    const std::string name = module + "." + function->name;
    functions_[name] = std::make_unique<ScriptFunction>(*this, "", name, file.label, std::move(function));
  }
  for (auto& made : syntax.classes) {
    const std::string name = module + "." + made->name;
    add_class(name, file.label, std::move(made));
  }
}

void Unit::add_class(const std::string& name, const std::string& label, std::shared_ptr<const ClassSyntax> syntax) {
  ScriptClass& made = classes_[name];
  made.name = name;
  made.syntax = std::move(syntax);
  for (const auto& method : made.syntax->methods)
    made.methods[method->name] =
        std::make_unique<ScriptFunction>(*this, name, name + "." + method->name, label, method);
}

std::vector<ScriptFunction*> Unit::add_source(std::string text, const std::string& owner) {
  const std::lock_guard lock(mutex_);
  FileSyntax syntax = parse_source(text, "source");
  if (!syntax.classes.empty())
    throw Error("[TorchScript] expected functions in a source text, got a class; classes come from archives alone");
  std::vector<ScriptFunction*> added;
  for (size_t i = 0; i < syntax.functions.size(); ++i) {
    std::shared_ptr<FunctionSyntax>& function = syntax.functions[i];
    const int end = i + 1 < syntax.functions.size() ? syntax.functions[i + 1]->line : 0;
    function->source = lines_of(text, function->line, end);
    const std::string name = function->name;
    auto made = std::make_unique<ScriptFunction>(*this, owner, owner.empty() ? name : owner + "." + name, "source",
                                                 std::move(function));
    added.push_back(made.get());
    auto& place = functions_[name];
    if (place) replaced_.push_back(std::move(place));  // callers may hold it
    place = std::move(made);
  }
  return added;
}

// A number that was traced is a constant tensor without dimensions. As where it was traced, it does not decide about
// the dtype of a result.
void Unit::set_constants(std::vector<IValue> constants) {
  constants_ = std::move(constants);
  for (IValue& constant : constants_) {
    if (constant.isTensor() && constant.toTensor().defined() && constant.toTensor().dim() == 0)
      constant.toTensor().unsafeGetTensorImpl()->set_wrapped_number(true);
  }
}

const IValue* Unit::constant(const std::string& name) const {
  size_t index = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), index);
  const bool number = name.size() > 1 && name[0] == 'c' && error == std::errc() && end == name.data() + name.size();
  if (number && index < constants_.size()) return &constants_[index];
  return parent_ ? parent_->constant(name) : nullptr;
}

ScriptFunction* Unit::function(const std::string& qualified_name) {
  {
    const std::lock_guard lock(mutex_);
    parse(before_last_dot(qualified_name));
    const auto found = functions_.find(qualified_name);
    if (found != functions_.end()) return found->second.get();
  }
  return parent_ ? parent_->function(qualified_name) : nullptr;
}

ScriptClass* Unit::find_class(const std::string& qualified_name) {
  {
    const std::lock_guard lock(mutex_);
    parse(before_last_dot(qualified_name));
    const auto found = classes_.find(qualified_name);
    if (found != classes_.end()) return &found->second;
  }
  return parent_ ? parent_->find_class(qualified_name) : nullptr;
}

std::vector<ScriptFunction*> Unit::plain_functions() const {
  std::vector<ScriptFunction*> all;
  for (const auto& [name, function] : functions_) all.push_back(function.get());
  return all;
}

jit::Function* Unit::callable(const std::string& name) {
  ScriptFunction* function = this->function(name);
  if (!function) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& made = callables_[name];
  if (!made) made = callable_of(function);
  return made.get();
}

std::shared_ptr<ClassCode> Unit::code_of(const std::string& class_name) {
  return std::make_shared<ClassCode>(shared_from_this(), class_name);
}

std::shared_ptr<const ivalue::ClassData> Unit::declared(ScriptClass& of) {
  const std::lock_guard lock(mutex_);
  if (auto known = of.declared.lock()) return known;
  auto made = std::make_shared<ivalue::ClassData>();
  made->name = of.name;
  made->is_module = of.syntax->kind == ClassSyntax::Kind::Module;
  for (const auto& [name, type] : of.syntax->fields) made->fields.push_back({name, make_type(type)});
  for (const auto& method : of.syntax->methods) made->methods.push_back(method->name);
  made->code = code_of(of.name);
  of.declared = made;
  return made;
}

// --- ClassCode

ClassCode::ClassCode(std::shared_ptr<Unit> unit, std::string class_name)
    : unit(std::move(unit)), class_name(std::move(class_name)), id(next_id()) {}

ClassCode::ClassCode(const ClassCode& other)
    : unit(other.unit),
      class_name(other.class_name),
      added(other.added),
      sources(other.sources),
      folded(other.folded),
      id(next_id()) {}

ScriptFunction* ClassCode::method(const std::string& name) const {
  if (const auto found = folded.find(name); found != folded.end()) return found->second.get();
  if (const auto found = added.find(name); found != added.end()) return found->second;
  ScriptClass* declared = unit->find_class(class_name);
  if (!declared) return nullptr;
  const auto found = declared->methods.find(name);
  if (found == declared->methods.end()) return nullptr;
  if (declared->syntax->has_hooks && name == "forward")
    throw NotImplementedError("[TorchScript] " + class_name + " has forward hooks, which are not run: save it without");
  return found->second.get();
}

jit::Function* ClassCode::find(const std::string& name) {
  ScriptFunction* function = method(name);
  if (!function) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& made = callables_[name];
  if (!made) made = callable_of(function);
  return made.get();
}
std::vector<jit::Function*> ClassCode::all() {
  std::vector<jit::Function*> functions;
  if (const ScriptClass* declared = unit->find_class(class_name)) {
    for (const auto& entry : declared->methods) functions.push_back(find(entry.first));
  }
  for (const auto& entry : added) {
    jit::Function* function = find(entry.first);
    if (std::find(functions.begin(), functions.end(), function) == functions.end()) functions.push_back(function);
  }
  return functions;
}

ScriptFunction* find_method(const ivalue::ObjectData& object, const std::string& name) {
  if (!object.declared || !object.declared->code) return nullptr;
  return class_code(*object.declared)->method(name);
}

// --- the text and the schema of a function

// An archive's functions keep no text of their own: it stands in the archive's file up to what comes behind it.
std::string ScriptFunction::source() const {
  if (!syntax_->source.empty()) return syntax_->source;
  const std::string& text = unit_.file_text(before_last_dot(owner_.empty() ? qualified_name_ : owner_));
  return lines_of(text, syntax_->line, next_line(parse_source(text, label_), syntax_->line, /*methods=*/true));
}

FunctionSchema ScriptFunction::schema() const {
  std::vector<Argument> arguments;
  bool defaults = false;
  ensure_compiled();
  for (size_t i = 0; i < syntax_->parameters.size(); ++i) {
    const Parameter& parameter = syntax_->parameters[i];
    const bool self = i == 0 && !owner_.empty();
    std::optional<IValue> value;
    Frame none(places_);
    if (defaults_[i]) value = defaults_[i]->eval(none);
    defaults = defaults || value;
    arguments.emplace_back(parameter.name, self ? make_type(owner_) : schema_type(parameter.type), std::nullopt, value,
                           parameter.by_name);
  }
  std::vector<Argument> results;
  results.emplace_back("", syntax_->result.empty() ? AnyType::get() : schema_type(syntax_->result));
  return FunctionSchema(name(), "", std::move(arguments), std::move(results));
}

}  // namespace hb::bridge::script
