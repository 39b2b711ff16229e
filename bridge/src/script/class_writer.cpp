#include "script/class_writer.h"

#include <algorithm>

#include "io/io_error.h"

namespace hb::bridge::script {
namespace {

constexpr const char* kWhere = "jit.Module.save";
constexpr int kMaxDepth = 200;

using Object = ivalue::ObjectData;

[[noreturn]] void too_deep() { io::io_fail(kWhere, "expected at most ", kMaxDepth, " levels of nesting, got more"); }

std::string module_of(const std::string& class_name) { return class_name.substr(0, class_name.rfind('.')); }
std::string last_of(const std::string& class_name) { return class_name.substr(class_name.rfind('.') + 1); }

std::string file_of(const std::string& class_name) {
  std::string module = module_of(class_name);
  std::replace(module.begin(), module.end(), '.', '/');
  return "code/" + module + ".py";
}

// Calls f for each value that a list, tuple or dict holds.
template <class F>
void for_each_item(const IValue& value, F f) {
  if (value.isList() || value.isTuple()) {
    for (const IValue& item : value.isList() ? value.toListRef() : value.toTupleRef().elements()) f(item);
  } else if (value.isGenericDict()) {
    for (const auto& [key, item] : value.toGenericDict().data()->entries) f(item);
  }
}

const ClassCode* code_of(const Object& object) { return object.declared ? class_code(*object.declared) : nullptr; }

bool declares_all(const ScriptClass& base, const Object& object) {
  if (!code_of(object)->added.empty() || base.syntax->fields.size() != object.attributes.size()) return false;
  return std::all_of(base.syntax->fields.begin(), base.syntax->fields.end(),
                     [&](const auto& field) { return object.find(field.first) != nullptr; });
}

std::string source_of(const Object& object, const FunctionSyntax& method) {
  return with_forward_calls(method.source, method.parameters.at(0).name, [&](const std::vector<std::string>& path) {
    const Object* holder = &object;
    const Object::Attribute* found = nullptr;
    for (const std::string& name : path) {
      found = holder ? holder->find(name) : nullptr;
      holder = found && found->value.isObject() ? found->value.toObject().get() : nullptr;
    }
    return found && found->value.isModule();
  });
}

// The lines of a class in a file: from its header to what stands behind it.
std::pair<int, int> place_of_class(const std::string& text, const std::string& label, const std::string& name) {
  const FileSyntax syntax = parse_source(text, label);
  int from = 0;
  for (const auto& made : syntax.classes) {
    if (made->name == name) from = made->line;
  }
  return {from, next_line(syntax, from, /*methods=*/false)};
}

}  // namespace

ClassWriter::ClassWriter(const std::shared_ptr<Object>& root) {
  look_at(IValue(root), 0);
  name_of(*root, 0);
}

// --- what there is

void ClassWriter::look_at(const IValue& value, int depth) {
  if (depth > kMaxDepth) too_deep();
  for_each_item(value, [&](const IValue& item) { look_at(item, depth + 1); });
  if (!value.isObject()) return;
  const auto object = value.toObject();
  if (!seen_.insert(object.get()).second || object->registered_class) return;
  look_at_object(*object);
  for (const auto& attribute : object->attributes) look_at(attribute.value, depth + 1);
}

void ClassWriter::look_at_object(const Object& object) {
  if (!object.declared || (!object.declared->code && !object.declared->methods.empty())) {
    io::io_fail(kWhere, "no code of ", object.class_name,
                " is known: save the weights, with hb::io::save_state_dict_file or torch::save of a native module");
  }
  const ClassCode* code = code_of(object);
  if (!code || code->unit->version() == 0) return;
  if (!archive_) archive_ = code->unit;
  if (archive_ != code->unit)
    io::io_fail(kWhere, "expected objects of one archive, got one of ", object.class_name, " from another");
  const ScriptClass* base = base_of(object);
  if (!base) io::io_fail(kWhere, "the code of the archive has no class ", object.class_name);
  if (declares_all(*base, object)) unchanged_.insert(object.class_name);
}

ScriptClass* ClassWriter::base_of(const Object& object) const {
  const ClassCode* code = code_of(object);
  return code && code->unit->version() != 0 ? code->unit->find_class(object.class_name) : nullptr;
}

// --- what is written

const std::string& ClassWriter::name_of(const Object& object, int depth) {
  if (depth > kMaxDepth) too_deep();
  if (const auto known = names_.find(&object); known != names_.end()) return known->second;
  if (object.registered_class) return names_[&object] = object.class_name;
  const ScriptClass* base = base_of(object);
  const ClassLines lines = lines_for(object, base, depth);
  if (base && lines.fields.empty() && lines.methods.empty()) return names_[&object] = object.class_name;
  return names_[&object] = class_for(object, base, lines);
}

// The type that the class says, with the name that the object's class has in the archive.
std::string ClassWriter::written_type(const Object& object, const Object::Attribute& attribute, int depth) {
  std::string type;
  if (object.declared) {
    for (const auto& field : object.declared->fields) {
      if (field.name == attribute.name && field.type) type = field.type->annotation_str();
    }
  }
  if (type.empty()) type = attribute.value.type()->annotation_str();
  if (!attribute.value.isObject()) {
    check_kept(attribute.value, depth + 1);
    return type;
  }
  const auto held = attribute.value.toObject();
  return with_class_renamed(type, held->class_name, name_of(*held, depth + 1));
}

// The types of lists and dicts are pickled by the names of the objects' own classes.
void ClassWriter::check_kept(const IValue& value, int depth) {
  if (depth > kMaxDepth) too_deep();
  if (value.isObject() && name_of(*value.toObject(), depth) != value.toObject()->class_name) {
    io::io_fail(kWhere, "two objects of ", value.toObject()->class_name,
                " have other attributes or methods, and one of them is in a list, tuple or dict: give their classes "
                "names of their own");
  }
  for_each_item(value, [&](const IValue& item) { check_kept(item, depth + 1); });
}

// What the object has that its class in the archive does not declare: all for a class that is not from there.
ClassLines ClassWriter::lines_for(const Object& object, const ScriptClass* base, int depth) {
  ClassLines lines;
  std::set<std::string> declared;
  if (base) {
    for (const auto& [name, type] : base->syntax->fields) {
      declared.insert(name);
      if (!object.find(name)) {
        io::io_fail(kWhere, object.class_name, " has no attribute '", name, "', which its class declares",
                    object.find("__state__") ? ": what its __setstate__ would set is not known" : "");
      }
    }
  }
  for (const auto& attribute : object.attributes) {
    const bool known = declared.count(attribute.name) != 0;
    const std::string type = written_type(object, attribute, depth);
    // What the code declares stays as it is written there, unless it names a class that has another name now.
    if (known && !attribute.value.isObject()) continue;
    if (known && name_of(*attribute.value.toObject(), depth + 1) == attribute.value.toObject()->class_name) continue;
    lines.fields.push_back({attribute.name, type, attribute.role, known});
  }
  const ClassCode* code = code_of(object);
  if (!code) return lines;
  for (const std::string& name : object.declared->methods) {
    const auto added = code->added.find(name);
    if (added != code->added.end()) lines.methods.emplace_back(name, source_of(object, added->second->syntax()));
  }
  return lines;
}

std::string ClassWriter::class_for(const Object& object, const ScriptClass* base, const ClassLines& lines) {
  std::string own;
  if (base) {
    const std::string label = file_of(object.class_name);
    const std::string& file = archive_->file_text(module_of(object.class_name));
    const auto [from, to] = place_of_class(file, label, last_of(object.class_name));
    own = lines_of(file, from, to);
  }
  const std::string simple = last_of(object.class_name);
  const std::string text = base ? extended_class(own, simple, lines) : new_class(simple, lines);
  std::string& name = by_content_[object.class_name + "\n" + text];
  if (!name.empty()) return name;
  name = free_name(object.class_name, base != nullptr);
  texts_[name] = text;
  order_.push_back(name);
  for (const auto& method : lines.methods) added_ += method.second;
  return name;
}

std::string ClassWriter::free_name(const std::string& class_name, bool in_place) {
  const auto is_free = [&](const std::string& name) {
    return texts_.count(name) == 0 && !(archive_ && archive_->find_class(name));
  };
  if (is_free(class_name)) return class_name;
  if (in_place && texts_.count(class_name) == 0 && unchanged_.count(class_name) == 0) return class_name;
  std::string module = module_of(class_name);
  const std::string mangle = ".___torch_mangle_";
  if (const size_t last = module.rfind('.');
      last != std::string::npos && module.compare(last, mangle.size(), mangle) == 0)
    module.resize(last);
  for (int number = 0;; ++number) {
    const std::string name = module + mangle + std::to_string(number) + "." + last_of(class_name);
    if (is_free(name)) return name;
  }
}

ClassWriter::Files ClassWriter::files() const {
  std::map<std::string, std::string> texts;
  if (archive_) {
    for (auto& [label, text] : archive_->files()) texts[label] = text;
  }
  for (const std::string& name : order_) {
    const std::string label = file_of(name);
    std::string& file = texts[label];
    const auto [from, to] = place_of_class(file, label, last_of(name));
    const std::string& text = texts_.at(name);
    if (from == 0) {
      if (!file.empty() && file.back() != '\n') file += '\n';
      file += text;
    } else {
      file = lines_of(file, 1, from) + text + (to == 0 ? "" : lines_of(file, to, 0));
    }
  }
  return Files(texts.begin(), texts.end());
}

}  // namespace hb::bridge::script
