// Classes of the program's that values can hold objects of.
#include <halfbridge/ivalue.h>

#include <algorithm>
#include <mutex>
#include <typeindex>

#include <halfbridge/class_type.h>

#include "core/demangled.h"

namespace hb {
namespace ivalue {
namespace {

struct Classes {
  std::mutex mutex;
  std::unordered_map<std::type_index, std::shared_ptr<CustomClass>> by_type;
  std::unordered_map<std::string, std::shared_ptr<CustomClass>> by_name;
};

// Never destroyed: libraries register and programs hold objects until the very end.
Classes& classes() {
  static auto* const all = new Classes;
  return *all;
}

template <class Map, class Key>
std::shared_ptr<CustomClass> find(const Map& map, const Key& key) {
  const std::lock_guard lock(classes().mutex);
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

std::shared_ptr<CustomClass> class_of(const std::type_info& type) {
  auto found = find_custom_class(type);
  HB_CHECK(found, "Can't find class id in custom class type map for ", hb::detail::demangled(type.name()),
           ": expected a class that torch::class_ registered");
  return found;
}

}  // namespace

void register_custom_class(const std::type_info& type, std::shared_ptr<CustomClass> custom_class) {
  Classes& all = classes();
  const std::lock_guard lock(all.mutex);
  HB_CHECK(all.by_name.count(custom_class->name) == 0, "Custom class with name ", custom_class->name,
           " is already registered. Ensure that registration with torch::class_ is only called once.");
  HB_CHECK(all.by_type.count(type) == 0, "Custom class ", custom_class->name,
           ": its C++ type is already registered as ", all.by_type.at(type)->name);
  all.by_type[type] = custom_class;
  all.by_name[custom_class->name] = std::move(custom_class);
}

std::shared_ptr<CustomClass> find_custom_class(const std::type_info& type) {
  return find(classes().by_type, std::type_index(type));
}
std::shared_ptr<CustomClass> find_custom_class(const std::string& name) { return find(classes().by_name, name); }

std::vector<std::string> custom_class_names() {
  Classes& all = classes();
  const std::lock_guard lock(all.mutex);
  std::vector<std::string> names;
  for (const auto& entry : all.by_name) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  return names;
}

std::shared_ptr<ObjectData> object_of_class(const std::type_info& type, intrusive_ptr<intrusive_ptr_target> capsule) {
  const auto custom_class = class_of(type);
  auto object = std::make_shared<ObjectData>();
  object->class_name = custom_class->name;
  object->registered_class = custom_class->type;
  object->capsule = std::move(capsule);
  return object;
}

intrusive_ptr_target* capsule_of(const IValue& value, const std::type_info& type) {
  const auto expected = class_of(type);
  HB_CHECK(
      value.isCustomClass(),
      "[IValue.toCustomClass] Tried to cast IValue to custom class but it did not contain a custom class! expected ",
      expected->name, ", got ", value.tagKind());
  const auto object = value.toObject();
  HB_CHECK(object->class_name == expected->name, "Tried to convert an IValue of type ", object->class_name,
           " to custom class type ", expected->name);
  return object->capsule.get();
}

}  // namespace ivalue

TypePtr registered_type(const std::type_info& type) {
  const auto found = ivalue::class_of(type);
  return found->type ? TypePtr(found->type) : make_type(found->name);
}
bool IValue::isCustomClass() const { return isObject() && toObject()->registered_class != nullptr; }

}  // namespace hb
