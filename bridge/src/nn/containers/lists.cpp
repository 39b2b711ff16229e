#include <halfbridge/bridge/nn/containers/lists.h>

#include <ostream>

namespace hb::bridge::nn {
inline namespace modules {

// --- ModuleList

std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleListImpl>();
  for (const auto& module : modules_) copy->push_back(module->clone(device));
  return copy;
}

void ModuleListImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleList"; }

void ModuleListImpl::push_back(std::shared_ptr<Module> module) {
  register_module(std::to_string(modules_.size()), module);
  modules_.push_back(std::move(module));
}

void ModuleListImpl::insert(size_t index, std::shared_ptr<Module> module) {
  HB_CHECK(index <= size(), "Index out of range");
  if (index == size()) return push_back(std::move(module));
  modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(index), std::move(module));
  for (size_t i = index; i + 1 < size(); ++i) replace_module(std::to_string(i), modules_[i]);
  register_module(std::to_string(size() - 1), modules_.back());
}

// --- ModuleDict

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleDictImpl>();
  for (const auto& module : modules_) copy->insert(module.key(), module.value()->clone(device));
  return copy;
}

void ModuleDictImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleDict"; }

void ModuleDictImpl::insert(const std::string& key, std::shared_ptr<Module> module) {
  if (contains(key)) {
    modules_[key] = module;
    replace_module(key, std::move(module));
  } else {
    register_module(key, module);
    modules_.insert(key, std::move(module));
  }
}

void ModuleDictImpl::update(const Pairs& modules) {
  for (const auto& [key, module] : modules) insert(key, module);
}

std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  auto module = modules_[key];
  modules_.erase(key);
  unregister_module(key);
  return module;
}

void ModuleDictImpl::clear() {
  for (const auto& key : keys()) pop(key);
}

// --- ParameterList, ParameterDict

namespace {
void print(std::ostream& stream, const char* name, const OrderedDict<std::string, Tensor>& parameters) {
  stream << "torch::nn::" << name << "(\n";
  for (const auto& p : parameters)
    stream << "(" << p.key() << "): Parameter containing: [" << p.value().scalar_type() << " of size "
           << p.value().sizes() << "]\n";
  stream << ")";
}
Tensor copy_of(const Tensor& t, const std::optional<Device>& device) {
  Tensor copy = device && t.device() != *device ? t.detach().to(*device) : t.detach().clone();
  return copy.set_requires_grad(t.requires_grad());
}
}  // namespace

std::shared_ptr<Module> ParameterListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterListImpl>();
  for (const auto& p : parameters_) copy->append(copy_of(p.value(), device));
  return copy;
}
void ParameterListImpl::pretty_print(std::ostream& stream) const { print(stream, "ParameterList", parameters_); }
void ParameterListImpl::append(const Tensor& param) {
  register_parameter(std::to_string(parameters_.size()), param, param.requires_grad());
}

std::shared_ptr<Module> ParameterDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterDictImpl>();
  for (const auto& p : parameters_) copy->insert(p.key(), copy_of(p.value(), device));
  return copy;
}
void ParameterDictImpl::pretty_print(std::ostream& stream) const { print(stream, "ParameterDict", parameters_); }
Tensor& ParameterDictImpl::insert(const std::string& key, const Tensor& param) {
  return register_parameter(key, param, param.requires_grad());
}
Tensor ParameterDictImpl::pop(const std::string& key) {
  Tensor value = parameters_[key];
  parameters_.erase(key);
  return value;
}
void ParameterDictImpl::put(const std::string& key, const Tensor& param) {
  if (contains(key))
    parameters_[key] = param;
  else
    insert(key, param);
}

}  // namespace modules
}  // namespace hb::bridge::nn
