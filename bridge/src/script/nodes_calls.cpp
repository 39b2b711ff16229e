// Calls of functions, methods and classes.
#include <algorithm>

#include <halfbridge/error.h>

#include "script/nodes.h"

namespace hb::bridge::script {

namespace {
constexpr size_t kMostKept = 64, kMostRoom = 64;
thread_local std::vector<Values> kept;
}  // namespace

Scratch::Scratch() {
  if (kept.empty()) {
    values.reserve(16);
  } else {
    values.swap(kept.back());
    kept.pop_back();
  }
}
Scratch::~Scratch() {
  if (kept.size() >= kMostKept || values.capacity() > kMostRoom) return;
  values.clear();
  kept.push_back(std::move(values));
}

IValue call_of_two(const OperatorCall& call, IValue a, IValue b) {
  IValue result;
  if (call.of_numbers(a, b, result)) return result;
  Scratch scratch;
  scratch.values.push_back(std::move(a));
  scratch.values.push_back(std::move(b));
  return call.call(scratch.values);
}

// --- functions of the unit

FunctionCall::FunctionCall(int line, const ScriptFunction& function, const Names& names, Nodes arguments)
    : Node(line),
      function_(function),
      binding_(function.bind(arguments.size(), names)),
      arguments_(std::move(arguments)) {}

IValue FunctionCall::eval(Frame& frame) const {
  Frame inner = function_.frame();
  for (size_t i = 0; i < arguments_.size(); ++i) inner.slots[binding_.parameter_of[i]] = arguments_[i]->eval(frame);
  function_.set_defaults(inner, binding_);
  return function_.run(std::move(inner));
}

// --- methods

MethodCall::MethodCall(int line, NodePtr value, std::string name, Names names, Nodes arguments)
    : Node(line),
      value_(std::move(value)),
      name_(std::move(name)),
      names_(std::move(names)),
      arguments_(std::move(arguments)),
      call_("aten::" + name_, names_) {}
MethodCall::~MethodCall() = default;

std::shared_ptr<const MethodCall::Entry> MethodCall::new_entry(const ivalue::ObjectData& object) const {
  // What one place of the code calls is of few classes; those beyond are looked up in each call.
  constexpr size_t kMostEntries = 16;
  const ScriptFunction* function = find_method(object, name_);
  HB_CHECK(function, "[TorchScript] ", object.class_name, " has no method '", name_, "'",
           object.declared ? "" : ": the archive has no code of this class");
  auto entry = std::make_shared<Entry>();
  entry->code = class_code(*object.declared)->id;
  entry->function = function;
  entry->binding = function->bind(arguments_.size() + 1, names_);
  const std::lock_guard lock(mutex_);
  if (owned_.size() >= kMostEntries) return entry;
  entry->next = entries_.load();
  entries_.store(entry.get(), std::memory_order_release);
  owned_.push_back(entry);
  return entry;
}

const MethodCall::Entry* MethodCall::known_entry(const ivalue::ObjectData& object) const {
  if (!object.declared || !object.declared->code) return nullptr;
  const uint64_t code = class_code(*object.declared)->id;
  for (const Entry* entry = entries_.load(std::memory_order_acquire); entry; entry = entry->next) {
    if (entry->code == code) return entry;
  }
  return nullptr;
}

IValue MethodCall::call_object(const IValue& object, Frame& frame) const {
  const ivalue::ObjectData& data = *object.toObject();
  if (data.registered_class) return call_registered(object, frame);
  std::shared_ptr<const Entry> made;
  const Entry* entry = known_entry(data);
  if (!entry) {
    made = new_entry(data);
    entry = made.get();
  }
  const ScriptFunction& function = *entry->function;
  Frame inner = function.frame();
  inner.slots[0] = object;
  const auto& places = entry->binding.parameter_of;
  for (size_t i = 0; i < arguments_.size(); ++i) inner.slots[places[i + 1]] = arguments_[i]->eval(frame);
  function.set_defaults(inner, entry->binding);
  return function.run(std::move(inner));
}

IValue MethodCall::call_registered(const IValue& object, Frame& frame) const {
  jit::Function& method = object.toObject()->registered_class->getMethod(name_);
  jit::Stack stack{object};
  const size_t by_place = arguments_.size() - names_.size();
  for (size_t i = 0; i < by_place; ++i) stack.push_back(arguments_[i]->eval(frame));
  std::unordered_map<std::string, IValue> by_name;
  for (size_t i = by_place; i < arguments_.size(); ++i) by_name[names_[i - by_place]] = arguments_[i]->eval(frame);
  return method(std::move(stack), by_name);
}

IValue MethodCall::eval(Frame& frame) const {
  IValue value = value_->eval(frame);
  if (value.isObject()) return call_object(value, frame);
  Scratch scratch;
  scratch.values.push_back(std::move(value));
  for (const NodePtr& argument : arguments_) scratch.values.push_back(argument->eval(frame));
  return call_.call(scratch.values);
}

// --- classes

IValue NewObject::named_tuple(Frame& frame) const {
  const auto& fields = class_.syntax->fields;
  std::vector<IValue> items(fields.size());
  std::vector<bool> given(fields.size());
  const size_t by_place = arguments_.size() - names_.size();
  HB_CHECK(by_place <= fields.size(), "[TorchScript] ", class_.name, "() expected at most ", fields.size(),
           " values, got ", by_place);
  for (size_t i = 0; i < arguments_.size(); ++i) {
    size_t at = i;
    if (i >= by_place) {
      const auto named =
          std::find_if(fields.begin(), fields.end(), [&](auto& f) { return f.first == names_[i - by_place]; });
      HB_CHECK(named != fields.end(), "[TorchScript] ", class_.name, "() has no field '", names_[i - by_place], "'");
      at = static_cast<size_t>(named - fields.begin());
    }
    items[at] = arguments_[i]->eval(frame);
    given[at] = true;
  }
  for (size_t i = 0; i < fields.size(); ++i)
    HB_CHECK(given[i], "[TorchScript] ", class_.name, "() is missing a value for '", fields[i].first, "'");
  return IValue(ivalue::TupleData::create(std::move(items)));
}

IValue NewObject::eval(Frame& frame) const {
  if (class_.syntax->kind == ClassSyntax::Kind::NamedTuple) return named_tuple(frame);
  auto object = std::make_shared<ivalue::ObjectData>();
  object->class_name = class_.name;
  object->declared = unit_.declared(class_);
  IValue made(object);
  if (!initialise_) return made;
  const auto found = class_.methods.find("__init__");
  HB_CHECK(found != class_.methods.end() || arguments_.empty(), "[TorchScript] ", class_.name, "() takes no arguments");
  if (found == class_.methods.end()) return made;
  const ScriptFunction& function = *found->second;
  const Binding binding = function.bind(arguments_.size() + 1, names_);
  Frame inner = function.frame();
  inner.slots[0] = made;
  for (size_t i = 0; i < arguments_.size(); ++i) inner.slots[binding.parameter_of[i + 1]] = arguments_[i]->eval(frame);
  function.set_defaults(inner, binding);
  function.run(std::move(inner));
  return made;
}

}  // namespace hb::bridge::script
