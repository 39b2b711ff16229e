#include "io/module_layout.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>

#include "io/io_error.h"
#include "io/optimizer_layout.h"

namespace hb::io {
namespace {

using Object = ivalue::ObjectData;
using Role = Object::Role;

constexpr int kMaxDepth = 200;
constexpr uint64_t kMostEmpty = 16;  // per numbered child that is there

using Visitor = std::function<void(const std::string& name, const Object& owner, const Object::Attribute& attribute)>;

// Calls `visit` with each attribute that is not a module; does not go into archives of optimizers.
void walk(const Object& object, const std::string& prefix, int depth, const Visitor& visit) {
  if (depth > kMaxDepth) io_fail("load", "expected at most ", kMaxDepth, " levels of nested archives, got more");
  for (const auto& attribute : object.attributes) {
    const std::string name = prefix + attribute.name;
    if (attribute.value.isObject() && !is_optimizer_archive(*attribute.value.toObject())) {
      walk(*attribute.value.toObject(), name + ".", depth + 1, visit);
    } else {
      visit(name, object, attribute);
    }
  }
}

void insert_once(Dict<std::string, IValue>& dict, const std::string& name, IValue value) {
  if (!dict.insert(name, std::move(value)).second) {
    io_fail("load", "expected each dotted name once, got '", name, "' twice");
  }
}

// Which tensors a module keeps beside its parameters; the file that is converted may not say.
bool is_buffer(std::string_view name, const Tensor& tensor) {
  constexpr std::string_view kBuffers[] = {"running_mean", "running_var", "num_batches_tracked"};
  return !tensor.is_floating_point() || std::find(std::begin(kBuffers), std::end(kBuffers), name) != std::end(kBuffers);
}

class TreeBuilder {
 public:
  void add(const IValue& value, Object& into, int depth) {
    if (depth > kMaxDepth) io_fail("save", "expected at most ", kMaxDepth, " levels of nesting, got more");
    for (const auto& [key, item] : value.toGenericDict().data()->entries) {
      if (!key.isString()) {
        io_fail("save", "LibTorch's archives have texts as names, got a key of type ", key.tagKind(),
                ": choose the format torch or safetensors, or convert a part of the file alone");
      }
      const auto [parent, last] = place(into, key.toStringRef());
      set(*parent, last, item, depth);
    }
  }

  // The archive that a dotted name stands in, and its last part.
  std::pair<Object*, std::string> place(Object& root, const std::string& name) {
    Object* at = &root;
    size_t start = 0;
    int depth = 0;
    for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', start)) {
      if (++depth > kMaxDepth) io_fail("save", "expected at most ", kMaxDepth, " dots in a name, got more");
      at = &module(*at, name.substr(start, dot - start), name);
      start = dot + 1;
    }
    return {at, name.substr(start)};
  }

  Object& module(Object& parent, const std::string& key, const std::string& name) {
    if (const auto* known = parent.find(key)) {
      if (!known->value.isObject()) {
        io_fail("save", "LibTorch's archives cannot hold both '", name, "' and something else named '", key, "'");
      }
      return *known->value.toObject();
    }
    auto fresh = std::make_shared<Object>();
    Object& result = *fresh;
    parent.set(key, IValue(std::move(fresh)), Role::Attribute);
    return result;
  }

 private:
  void set(Object& parent, const std::string& key, const IValue& item, int depth) {
    if (is_optimizer_dict(item)) {
      parent.set(key, IValue(optimizer_archive_of(item, key)), Role::Attribute);
    } else if (item.isGenericDict()) {
      add(item, module(parent, key, key), depth + 1);
    } else if (parent.find(key)) {
      io_fail("save", "expected each name once, got '", key, "' twice");
    } else if (item.isTensor()) {
      parent.set(key, item, is_buffer(key, item.toTensor()) ? Role::Buffer : Role::Parameter);
    } else {
      parent.set(key, item, Role::Attribute);
    }
  }
};

// The number that a child of a Sequential has as its name, or -1.
int64_t number_of(const std::string& name) {
  const bool number = !name.empty() && name.size() < 5 && name.find_first_not_of("0123456789") == std::string::npos;
  return number ? std::stol(name) : -1;
}

// A Sequential asks for each of its children, also for those without tensors.
void fill_gaps(Object& object) {
  int64_t most = -1;
  size_t modules = 0, numbers = 0;
  for (const auto& attribute : object.attributes) {
    if (!attribute.value.isObject()) continue;
    fill_gaps(*attribute.value.toObject());
    ++modules;
    if (number_of(attribute.name) < 0) continue;
    ++numbers;
    most = std::max(most, number_of(attribute.name));
  }
  if (numbers != modules || static_cast<uint64_t>(most + 1) > kMostEmpty * (numbers + 1)) return;
  for (int64_t i = 0; i < most; ++i) {
    const std::string name = std::to_string(i);
    if (!object.find(name)) object.set(name, IValue(std::make_shared<Object>()), Role::Attribute);
  }
}

}  // namespace

IValue dict_of_archive(const Object& root) {
  if (is_optimizer_archive(root)) return optimizer_dict_of(root, "0");
  Dict<std::string, IValue> dict(StringType::get(), AnyType::get());
  walk(root, "", 0, [&](const std::string& name, const Object&, const Object::Attribute& attribute) {
    const IValue& value = attribute.value;
    insert_once(dict, name, value.isObject() ? optimizer_dict_of(*value.toObject(), name) : value);
  });
  return dict;
}

IValue state_of_script(const Object& root, std::vector<std::pair<std::string, IValue>>& others) {
  Dict<std::string, IValue> dict(StringType::get(), AnyType::get());
  walk(root, "", 0, [&](const std::string& name, const Object& owner, const Object::Attribute& attribute) {
    const bool state = attribute.value.isTensor() && (!owner.declared || attribute.role != Role::Attribute);
    if (state) {
      insert_once(dict, name, attribute.value);
    } else {
      others.emplace_back(name, attribute.value);
    }
  });
  return dict;
}

std::shared_ptr<Object> archive_of_value(const IValue& value, const std::vector<std::string>& modules) {
  if (is_optimizer_dict(value)) return optimizer_archive_of(value, "0");
  auto root = std::make_shared<Object>();
  TreeBuilder builder;
  if (value.isTensor()) {
    root->set("0", value, Role::Parameter);
  } else if (value.isGenericDict()) {
    builder.add(value, *root, 0);
  } else {
    io_fail("save", "LibTorch's archives hold tensors by name, got a ", value.tagKind());
  }
  for (const std::string& name : modules) {
    const auto [parent, last] = builder.place(*root, name);
    builder.module(*parent, last, name);
  }
  fill_gaps(*root);
  return root;
}

}  // namespace hb::io
