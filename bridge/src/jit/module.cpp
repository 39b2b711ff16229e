// What changes a module.
#include <unordered_map>

#include <halfbridge/bridge/jit.h>
#include <halfbridge/class_type.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>
#include <halfbridge/tensor_type.h>

#include "io/io_error.h"

namespace hb::bridge::jit {
namespace {

using Data = ivalue::ObjectData;
using Role = Data::Role;

constexpr int kMaxDepth = 600;

void convert(const Tensor& tensor, std::optional<Device> device, std::optional<ScalarType> dtype, bool non_blocking) {
  NoGradGuard no_grad;
  tensor.set_data(tensor.to(device.value_or(tensor.device()), dtype.value_or(tensor.scalar_type()), non_blocking));
}

void convert_all(const Module& module, std::optional<Device> device, std::optional<ScalarType> dtype,
                 bool non_blocking) {
  for (const Tensor& parameter : module.parameters()) convert(parameter, device, dtype, non_blocking);
  for (const Tensor& buffer : module.buffers()) convert(buffer, device, dtype, non_blocking);
}

// Copies each thing once: what was shared is shared again.
class DeepCopy {
 public:
  /// With `modules_only` what is not a module stays the same.
  explicit DeepCopy(std::optional<Device> device, bool modules_only = false)
      : device_(device), modules_only_(modules_only) {}

  IValue copy(const IValue& value) {
    if (++depth_ > kMaxDepth) io::io_fail("jit.Module.deepcopy", "expected at most ", kMaxDepth, " levels, got more");
    IValue result = copy_new(value);
    --depth_;
    return result;
  }

 private:
  IValue copy_new(const IValue& value) {
    if (modules_only_ && !value.isModule()) return value;
    if (value.isTensor()) return tensor(value.toTensor());
    if (value.isObject()) return once(value.toObject(), [&](const Data& from, Data& to) { attributes(from, to); });
    if (value.isList()) {
      return once(value.toList().data(), [&](const auto& from, auto& to) { to.items = items(from.items); });
    }
    if (value.isGenericDict()) {
      return once(value.toGenericDict().data(), [&](const auto& from, auto& to) {
        to.clear();
        for (const auto& [key, item] : from.entries) to.set(copy(key), copy(item));
      });
    }
    if (value.isTuple()) return IValue(ivalue::TupleData::create(items(value.toTupleRef().elements())));
    return value;
  }

  template <typename T, typename Fill>
  IValue once(const std::shared_ptr<T>& from, Fill fill) {
    const auto known = copies_.find(from.get());
    if (known != copies_.end()) return known->second;
    auto to = std::make_shared<T>(*from);
    copies_.emplace(from.get(), IValue(to));
    fill(*from, *to);
    return IValue(to);
  }

  void attributes(const Data& from, Data& to) {
    for (const auto& attribute : from.attributes) to.setAttr(attribute.name, copy(attribute.value));
  }

  std::vector<IValue> items(const std::vector<IValue>& from) {
    std::vector<IValue> to;
    to.reserve(from.size());
    for (const IValue& item : from) to.push_back(copy(item));
    return to;
  }

  IValue tensor(const Tensor& from) {
    if (!from.defined()) return from;
    const auto known = copies_.find(from.unsafeGetTensorImpl());
    if (known != copies_.end()) return known->second;
    NoGradGuard no_grad;
    Tensor to = device_ && *device_ != from.device() ? from.to(*device_) : from.clone();
    to.requires_grad_(from.requires_grad());
    copies_.emplace(from.unsafeGetTensorImpl(), IValue(to));
    return to;
  }

  std::optional<Device> device_;
  bool modules_only_;
  std::unordered_map<const void*, IValue> copies_;
  int depth_ = 0;
};

}  // namespace

Module::Module(const std::string& class_name) : Object(std::make_shared<Data>()) {
  auto declared = std::make_shared<ivalue::ClassData>();
  const std::string root = "__torch__";
  declared->name = class_name.compare(0, root.size(), root) == 0 ? class_name : root + "." + class_name;
  declared->is_module = true;
  _ivalue()->class_name = declared->name;
  _ivalue()->declared = std::move(declared);
}

void Module::register_attribute(const std::string& name, const TypePtr& type, IValue value, bool is_param,
                                bool is_buffer) {
  const Role role = is_param ? Role::Parameter : is_buffer ? Role::Buffer : Role::Attribute;
  const ObjectPtr object = _ivalue();
  if (!object->find(name)) {  // other objects of the class keep theirs
    auto declared = object->declared ? std::make_shared<ivalue::ClassData>(*object->declared)
                                     : std::make_shared<ivalue::ClassData>();
    declared->fields.push_back({name, type, role});
    object->declared = std::move(declared);
  }
  object->set(name, std::move(value), role);
}

void Module::register_parameter(const std::string& name, Tensor value, bool is_buffer) {
  register_attribute(name, TensorType::get(), std::move(value), !is_buffer, is_buffer);
}
void Module::register_buffer(const std::string& name, Tensor value) {
  register_parameter(name, std::move(value), true);
}
void Module::register_module(const std::string& name, const Module& module) {
  register_attribute(name, module.type(), IValue(module._ivalue()));
}

void Module::apply(const std::function<void(Module&)>& function) {
  for (const Module& child : children()) Module(child).apply(function);
  function(*this);
}

void Module::train(bool on) {
  for (const Module& module : modules()) {
    if (module._ivalue()->find("training")) module._ivalue()->setAttr("training", on);
  }
}

void Module::to(Device device, ScalarType dtype, bool non_blocking) { convert_all(*this, device, dtype, non_blocking); }
void Module::to(ScalarType dtype, bool non_blocking) { convert_all(*this, std::nullopt, dtype, non_blocking); }
void Module::to(Device device, bool non_blocking) { convert_all(*this, device, std::nullopt, non_blocking); }

Module Module::copy() const { return Module(std::make_shared<Data>(*_ivalue())); }
Module Module::deepcopy(std::optional<Device> device) const {
  return DeepCopy(device).copy(IValue(_ivalue())).toModule();
}
Module Module::clone(bool inplace) const { return DeepCopy(std::nullopt, inplace).copy(IValue(_ivalue())).toModule(); }

bool Module::operator==(const Module& other) const noexcept { return IValue(_ivalue()).is(IValue(other._ivalue())); }

}  // namespace hb::bridge::jit

namespace hb {

bridge::jit::Module IValue::toModule() const { return bridge::jit::Module(toObject()); }

}  // namespace hb
