#include <halfbridge/class_type.h>

#include <algorithm>
#include <mutex>

#include "io/types/type_maker.h"

namespace hb {

ivalue::ClassMethods::~ClassMethods() = default;

namespace {

template <class Methods>
bridge::jit::Function* found(const Methods& methods, const std::string& name) {
  for (const auto& [known, method] : methods) {
    if (known == name) return method.get();
  }
  return nullptr;
}

std::optional<size_t> place_of(const std::vector<std::string>& names, const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<size_t>(at - names.begin());
}

const char* kind_name(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::PARAMETER:
      return "parameter";
    case AttributeKind::BUFFER:
      return "buffer";
    default:
      return "attribute";
  }
}

}  // namespace

ClassTypePtr ClassType::create(std::optional<QualifiedName> name, std::weak_ptr<bridge::jit::CompilationUnit> unit,
                               bool is_module, std::string doc_string) {
  auto type = detail::TypeMaker::make<ClassType>(Kind, std::move(name), std::vector<TypePtr>());
  type->unit_ = std::move(unit);
  type->is_module_ = is_module;
  type->doc_ = std::move(doc_string);
  return type;
}

// --- attributes

std::optional<size_t> ClassType::findAttributeSlot(const std::string& name) const {
  for (size_t i = 0; i < attributes_.size(); ++i) {
    if (attributes_[i].getName() == name) return i;
  }
  return std::nullopt;
}
size_t ClassType::getAttributeSlot(const std::string& name) const {
  const auto slot = findAttributeSlot(name);
  HB_CHECK(slot, repr_str(), " does not have an attribute with name '", name, "'");
  return *slot;
}
TypePtr ClassType::findAttribute(const std::string& name) const {
  const auto slot = findAttributeSlot(name);
  return slot ? attributes_[*slot].getType() : nullptr;
}
const TypePtr& ClassType::getAttribute(const std::string& name) const { return getAttribute(getAttributeSlot(name)); }
const TypePtr& ClassType::getAttribute(size_t slot) const {
  HB_CHECK(slot < attributes_.size(), "[ClassType::getAttribute] expected one of ", attributes_.size(),
           " attributes of ", repr_str(), ", got number ", slot);
  return attributes_[slot].getType();
}
std::string ClassType::getAttributeName(size_t slot) const {
  getAttribute(slot);
  return attributes_[slot].getName();
}
bool ClassType::has_kind(size_t slot, AttributeKind kind) const {
  HB_CHECK(is_module_, "asking for ", kind_name(kind), "s of a class that is no module, ", repr_str());
  return attributes_.at(slot).getKind() == kind;
}

size_t ClassType::addAttribute(const std::string& name, TypePtr type, bool is_parameter, bool is_buffer) {
  HB_CHECK(!(is_parameter && is_buffer), "Attribute cannot be both a parameter and a buffer!");
  const AttributeKind kind = is_parameter ? AttributeKind::PARAMETER
                             : is_buffer  ? AttributeKind::BUFFER
                                          : AttributeKind::REGULAR_ATTRIBUTE;
  const auto taken = findAttributeSlot(name);
  HB_CHECK(!taken, "attempting to add ", kind_name(kind), " '", name, "' to ", repr_str(),
           " but an attribute field of the same name already exists with type ",
           taken ? attributes_[*taken].getType()->repr_str() : "");
  HB_CHECK(!hasConstant(name), "attempting to add ", kind_name(kind), " '", name, "' to ", repr_str(),
           " but a constant field of the same name already exists");
  const bool tensor =
      kind == AttributeKind::REGULAR_ATTRIBUTE || type->kind() == TypeKind::TensorType ||
      type->kind() == TypeKind::NoneType ||
      (type->kind() == TypeKind::OptionalType && type->containedType(0)->kind() == TypeKind::TensorType);
  HB_CHECK(tensor, "Expecting parameter or buffer to have either None, Tensor or Optional[Tensor] type, but got: ",
           type->repr_str());
  contained_.push_back(type);
  attributes_.emplace_back(kind, std::move(type), name);
  return attributes_.size() - 1;
}

size_t ClassType::addOrCheckAttribute(const std::string& name, TypePtr type, bool is_parameter, bool is_buffer) {
  const auto slot = findAttributeSlot(name);
  if (!slot) return addAttribute(name, std::move(type), is_parameter, is_buffer);
  HB_CHECK(is_parameter == (attributes_[*slot].getKind() == AttributeKind::PARAMETER),
           "Parameter field mismatch for the field '", name, "'");
  const TypePtr& known = getAttribute(*slot);
  HB_CHECK(type->isSubtypeOf(*known), type->repr_str(), " is not compatible with the type ", known->repr_str(),
           " for the field '", name, "'");
  return *slot;
}

void ClassType::unsafeRemoveAttribute(const std::string& name) {
  const auto slot = static_cast<std::ptrdiff_t>(getAttributeSlot(name));
  attributes_.erase(attributes_.begin() + slot);
  contained_.erase(contained_.begin() + slot);
}
void ClassType::unsafeChangeAttributeType(const std::string& name, const TypePtr& type) {
  const size_t slot = getAttributeSlot(name);
  attributes_[slot] = ClassAttribute(attributes_[slot].getKind(), type, name);
  contained_[slot] = type;
}

// --- constants

std::optional<size_t> ClassType::findConstantSlot(const std::string& name) const {
  return place_of(constant_names_, name);
}
size_t ClassType::getConstantSlot(const std::string& name) const {
  const auto slot = findConstantSlot(name);
  HB_CHECK(slot, repr_str(), " does not have constant field with the name '", name, "'");
  return *slot;
}
const std::string& ClassType::getConstantName(size_t slot) const {
  HB_CHECK(slot < constant_names_.size(), repr_str(), " does not have a constant slot of index ", slot);
  return constant_names_[slot];
}
IValue ClassType::getConstant(size_t slot) const {
  getConstantName(slot);
  return constant_values_[slot];
}
std::optional<IValue> ClassType::findConstant(const std::string& name) const {
  const auto slot = findConstantSlot(name);
  if (!slot) return std::nullopt;
  return constant_values_[*slot];
}
size_t ClassType::addConstant(const std::string& name, const IValue& value) {
  HB_CHECK(!hasAttribute(name) && !hasConstant(name), "attempting to add constant '", name, "' to ", repr_str(),
           " but a field of the same name already exists");
  constant_names_.push_back(name);
  constant_values_.push_back(value);
  return constant_names_.size() - 1;
}
void ClassType::unsafeRemoveConstant(const std::string& name) {
  const auto slot = static_cast<std::ptrdiff_t>(getConstantSlot(name));
  constant_names_.erase(constant_names_.begin() + slot);
  constant_values_.erase(constant_values_.begin() + slot);
}

// --- methods

std::vector<ClassType::Function*> ClassType::methods() const {
  std::vector<Function*> all;
  for (const auto& method : methods_) all.push_back(method.second.get());
  if (code_) {
    const auto of_code = code_->all();
    all.insert(all.end(), of_code.begin(), of_code.end());
  }
  return all;
}
ClassType::Function* ClassType::findMethod(const std::string& name) const {
  Function* method = found(methods_, name);
  return method || !code_ ? method : code_->find(name);
}
ClassType::Function* ClassType::findStaticMethod(const std::string& name) const { return found(static_methods_, name); }
ClassType::Function& ClassType::getMethod(const std::string& name) const {
  Function* method = findMethod(name);
  HB_CHECK(method, "Couldn't find method: '", name, "' on class: '", repr_str(), "'");
  return *method;
}
std::optional<ClassType::Property> ClassType::getProperty(const std::string& name) const {
  for (const Property& property : properties_) {
    if (property.name == name) return property;
  }
  return std::nullopt;
}

ClassType::Function* ClassType::addMethod(const std::string& name, std::shared_ptr<Function> method) {
  HB_CHECK(!findMethod(name), "Can't redefine method: ", name, " on class: ", repr_str());
  return methods_.emplace_back(name, std::move(method)).second.get();
}
ClassType::Function* ClassType::addStaticMethod(const std::string& name, std::shared_ptr<Function> method) {
  HB_CHECK(!findStaticMethod(name), "Can't redefine method: ", name, " on class: ", repr_str());
  return static_methods_.emplace_back(name, std::move(method)).second.get();
}
void ClassType::addProperty(const std::string& name, Function* getter, Function* setter) {
  HB_CHECK(!getProperty(name), "Property named ", name, " already exists!");
  properties_.push_back({name, getter, setter});
}

// --- of objects

namespace ivalue {
namespace {

std::mutex& types_mutex() {
  static std::mutex mutex;
  return mutex;
}

AttributeKind kind_of(ObjectData::Role role) {
  switch (role) {
    case ObjectData::Role::Parameter:
      return AttributeKind::PARAMETER;
    case ObjectData::Role::Buffer:
      return AttributeKind::BUFFER;
    default:
      return AttributeKind::REGULAR_ATTRIBUTE;
  }
}

}  // namespace

namespace {

// The code says only the names of its attributes' classes: what the object holds has their types.
TypePtr with_class(TypePtr written, const ObjectData::Attribute* held) {
  if (!held || !held->value.isObject() || written->kind() != TypeKind::ClassType) return written;
  const auto object = held->value.toObject();
  if (!object->declared && !object->registered_class) return written;
  TypePtr own = object->type();
  return *own == *written ? own : written;
}

// Objects of no known class: what each holds is not followed, for shared parts would be followed again and again.
TypePtr shallow_type(const IValue& value) {
  if (value.isObject()) return ClassType::create(value.toObject()->class_name);
  if (value.isTuple()) return AnyTupleType::get();
  return value.type();
}

// Objects that refer to each other know the class by its name.
thread_local std::vector<const ClassData*> in_progress;

}  // namespace

// Made when it is first asked for.
std::shared_ptr<ClassType> ObjectData::type() const {
  if (registered_class) return registered_class;
  auto type = ClassType::create(class_name, {}, declared && declared->is_module);
  const auto add = [&](const std::string& name, TypePtr written, Role role) {
    type->contained_.push_back(written);
    type->attributes_.emplace_back(kind_of(role), std::move(written), name);
  };
  if (!declared) {
    for (const Attribute& attribute : attributes) add(attribute.name, shallow_type(attribute.value), attribute.role);
    return type;
  }
  {
    const std::lock_guard lock(types_mutex());
    if (declared->made.type) return declared->made.type;
  }
  if (std::find(in_progress.begin(), in_progress.end(), declared.get()) != in_progress.end()) return type;
  in_progress.push_back(declared.get());
  for (const ClassData::Field& field : declared->fields)
    add(field.name, with_class(field.type, find(field.name)), field.role);
  in_progress.pop_back();
  type->code_ = declared->code;
  const std::lock_guard lock(types_mutex());
  if (!declared->made.type) declared->made.type = std::move(type);
  return declared->made.type;
}

}  // namespace ivalue
}  // namespace hb
