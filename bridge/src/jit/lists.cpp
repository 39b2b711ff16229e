// What a module holds, as lists.
#include <halfbridge/bridge/jit.h>

#include "io/io_error.h"

namespace hb::bridge::jit {
namespace {

using Attribute = ivalue::ObjectData::Attribute;
using Role = ivalue::ObjectData::Role;

// A module may stand in several places: a small file could name more of them than fit into memory.
constexpr size_t kMaxSlots = size_t{1} << 22;
constexpr size_t kMaxDepth = 600;

bool is_module(const Attribute& slot) { return slot.value.isModule(); }
bool is_anything(const Attribute&) { return true; }
bool is_parameter(const Attribute& slot) { return slot.role == Role::Parameter && slot.value.isTensor(); }
bool is_buffer(const Attribute& slot) { return slot.role == Role::Buffer && slot.value.isTensor(); }

/// Goes through the attributes of a module and, with `recurse`, through those of each submodule right behind it.
template <typename T>
class Walk {
 public:
  Walk(bool (*fits)(const Attribute&), bool recurse) : fits_(fits), recurse_(recurse) {}

  void add(const std::string& name, const IValue& value) { found_.push_back({name, convert(value)}); }

  std::vector<Named<T>> run(const Object& root) {
    go(*root._ivalue(), "", 0);
    return std::move(found_);
  }

 private:
  static T convert(const IValue& value) {
    if constexpr (std::is_same_v<T, Module>) {
      return value.toModule();
    } else {
      return value.to<T>();
    }
  }

  void go(const ivalue::Object& object, const std::string& prefix, size_t depth) {
    if (depth > kMaxDepth) io::io_fail("jit.Module", "expected at most ", kMaxDepth, " levels of submodules, got more");
    for (const Attribute& slot : object.attributes) {
      if (++visited_ > kMaxSlots) {
        io::io_fail("jit.Module", "expected at most ", kMaxSlots, " attributes in all submodules, got more");
      }
      if (fits_(slot)) add(prefix + slot.name, slot.value);
      if (recurse_ && slot.value.isModule()) go(*slot.value.toObject(), prefix + slot.name + ".", depth + 1);
    }
  }

  bool (*fits_)(const Attribute&);
  bool recurse_;
  size_t visited_ = 0;
  std::vector<Named<T>> found_;
};

template <typename T>
slot_list_impl<Named<T>> named(const Object& root, bool (*fits)(const Attribute&), bool recurse) {
  return slot_list_impl<Named<T>>(Walk<T>(fits, recurse).run(root));
}

template <typename T>
slot_list_impl<T> without_names(const slot_list_impl<Named<T>>& list) {
  std::vector<T> values;
  values.reserve(list.size());
  for (const Named<T>& item : list) values.push_back(item.value);
  return slot_list_impl<T>(std::move(values));
}

}  // namespace

named_parameter_list Module::named_parameters(bool recurse) const {
  return named<Tensor>(*this, is_parameter, recurse);
}
named_buffer_list Module::named_buffers(bool recurse) const { return named<Tensor>(*this, is_buffer, recurse); }
named_attribute_list Module::named_attributes(bool recurse) const { return named<IValue>(*this, is_anything, recurse); }
named_module_list Module::named_children() const { return named<Module>(*this, is_module, false); }

named_module_list Module::named_modules() const {
  Walk<Module> walk(is_module, true);
  walk.add("", IValue(_ivalue()));
  return named_module_list(walk.run(*this));
}

parameter_list Module::parameters(bool recurse) const { return without_names(named_parameters(recurse)); }
buffer_list Module::buffers(bool recurse) const { return without_names(named_buffers(recurse)); }
attribute_list Module::attributes(bool recurse) const { return without_names(named_attributes(recurse)); }
module_list Module::children() const { return without_names(named_children()); }
module_list Module::modules() const { return without_names(named_modules()); }

}  // namespace hb::bridge::jit
