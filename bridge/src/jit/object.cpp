// Attributes, constants and methods of an object.
#include <algorithm>

#include <halfbridge/bridge/jit.h>

#include "dispatch/schema_types.h"
#include "io/io_error.h"
#include "io/script_code.h"

namespace hb::bridge::jit {
namespace {

const std::string* constant_text(const ivalue::Object& object, const std::string& name) {
  if (!object.declared) return nullptr;
  for (const auto& [known, text] : object.declared->constants) {
    if (known == name) return &text;
  }
  return nullptr;
}

const TypePtr* declared_type(const ivalue::Object& object, const std::string& name) {
  if (!object.declared) return nullptr;
  for (const auto& field : object.declared->fields) {
    if (field.name == name) return &field.type;
  }
  return nullptr;
}

}  // namespace

ObjectPtr Object::_ivalue() const {
  if (!value_) io::io_fail("jit.Module", "expected a module that was loaded, got an empty one");
  return value_;
}

IValue Object::attr(const std::string& name) const {
  const ObjectPtr object = _ivalue();
  if (const auto* found = object->find(name)) return found->value;
  if (const std::string* text = constant_text(*object, name)) return io::value_of_literal(*text);
  if (object->find("__state__") && declared_type(*object, name)) {
    io::io_fail("jit.Module.attr", object->class_name, " has a __setstate__ of its own, which would set '", name,
                "' and is not run: what it was saved with is its attribute '__state__'");
  }
  throw ObjectAttributeError(object->class_name + " does not have a field with name '" + name + "'");
}

IValue Object::attr(const std::string& name, IValue missing) const {
  return hasattr(name) ? attr(name) : std::move(missing);
}

bool Object::hasattr(const std::string& name) const {
  const ObjectPtr object = _ivalue();
  return object->find(name) || constant_text(*object, name);
}

void Object::setattr(const std::string& name, IValue value) const {
  const ObjectPtr object = _ivalue();
  const auto* slot = object->find(name);
  if (!slot) {
    if (const std::string* constant = constant_text(*object, name)) {
      io::io_fail("jit.Module.setattr", "Can't set constant '", name, "' which has value:", *constant);
    }
    io::io_fail("jit.Module.setattr", "Module has no attribute '", name, "'");
  }
  const TypePtr* type = declared_type(*object, name);
  if (type && !value_fits(value, **type)) {
    io::io_fail("jit.Module.setattr", "Expected a value of type '", (*type)->annotation_str(), "' for field '", name,
                "', but found '", value.type()->annotation_str(), "'");
  }
  object->set(name, std::move(value), slot->role);
}

std::optional<Method> Object::find_method(const std::string& name) const {
  const ObjectPtr object = _ivalue();
  if (!object->declared) return std::nullopt;
  const auto& methods = object->declared->methods;
  if (std::find(methods.begin(), methods.end(), name) == methods.end()) return std::nullopt;
  return Method(object, name);
}

Method Object::get_method(const std::string& name) const {
  if (auto method = find_method(name)) return *method;
  io::io_fail("jit.Module.get_method", "Method '", name, "' is not defined.");
}

std::vector<Method> Object::get_methods() const {
  std::vector<Method> all;
  const ObjectPtr object = _ivalue();
  if (!object->declared) return all;
  for (const std::string& name : object->declared->methods) all.emplace_back(object, name);
  return all;
}

Module Method::owner() const { return Module(owner_); }

}  // namespace hb::bridge::jit
