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

ModuleDictImpl::ModuleDictImpl() = default;
ModuleDictImpl::ModuleDictImpl(const Pairs& modules) { update(modules); }
ModuleDictImpl::ModuleDictImpl(const Dict& modules) { update(modules); }
ModuleDictImpl::Pairs ModuleDictImpl::items() const { return modules_.pairs(); }
std::vector<std::string> ModuleDictImpl::keys() const { return modules_.keys(); }
std::vector<std::shared_ptr<Module>> ModuleDictImpl::values() const { return modules_.values(); }
ModuleDictImpl::Iterator ModuleDictImpl::begin() { return modules_.begin(); }
ModuleDictImpl::ConstIterator ModuleDictImpl::begin() const { return modules_.begin(); }
ModuleDictImpl::Iterator ModuleDictImpl::end() { return modules_.end(); }
ModuleDictImpl::ConstIterator ModuleDictImpl::end() const { return modules_.end(); }
size_t ModuleDictImpl::size() const noexcept { return modules_.size(); }
bool ModuleDictImpl::empty() const noexcept { return modules_.is_empty(); }
bool ModuleDictImpl::contains(const std::string& key) const noexcept { return modules_.contains(key); }
std::shared_ptr<Module> ModuleDictImpl::operator[](const std::string& key) const { return modules_[key]; }

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

void ParameterListImpl::append(const Item& pair) { append(pair.value()); }
ParameterListImpl::ParameterListImpl() = default;
ParameterListImpl::Iterator ParameterListImpl::begin() { return parameters_.begin(); }
ParameterListImpl::ConstIterator ParameterListImpl::begin() const { return parameters_.begin(); }
ParameterListImpl::Iterator ParameterListImpl::end() { return parameters_.end(); }
ParameterListImpl::ConstIterator ParameterListImpl::end() const { return parameters_.end(); }
size_t ParameterListImpl::size() const noexcept { return parameters_.size(); }

Tensor& ParameterListImpl::at(size_t idx) {
  HB_CHECK(idx < size(), "Index out of range");
  return parameters_[std::to_string(idx)];
}
std::shared_ptr<Module> ParameterListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterListImpl>();
  for (const auto& p : parameters_) copy->append(copy_of(p.value(), device));
  return copy;
}
void ParameterListImpl::pretty_print(std::ostream& stream) const { print(stream, "ParameterList", parameters_); }
void ParameterListImpl::append(const Tensor& param) {
  register_parameter(std::to_string(parameters_.size()), param, param.requires_grad());
}

ParameterDictImpl::ParameterDictImpl() = default;
ParameterDictImpl::ParameterDictImpl(const OrderedDict<std::string, Tensor>& params) { parameters_ = params; }
std::vector<std::string> ParameterDictImpl::keys() const { return parameters_.keys(); }
std::vector<Tensor> ParameterDictImpl::values() const { return parameters_.values(); }
ParameterDictImpl::Iterator ParameterDictImpl::begin() { return parameters_.begin(); }
ParameterDictImpl::ConstIterator ParameterDictImpl::begin() const { return parameters_.begin(); }
ParameterDictImpl::Iterator ParameterDictImpl::end() { return parameters_.end(); }
ParameterDictImpl::ConstIterator ParameterDictImpl::end() const { return parameters_.end(); }
size_t ParameterDictImpl::size() const noexcept { return parameters_.size(); }
bool ParameterDictImpl::empty() const noexcept { return parameters_.is_empty(); }
void ParameterDictImpl::clear() { parameters_.clear(); }
bool ParameterDictImpl::contains(const std::string& key) const noexcept { return parameters_.contains(key); }
const Tensor& ParameterDictImpl::get(const std::string& key) const { return parameters_[key]; }
Tensor& ParameterDictImpl::get(const std::string& key) { return parameters_[key]; }
Tensor& ParameterDictImpl::operator[](const std::string& key) { return parameters_[key]; }
const Tensor& ParameterDictImpl::operator[](const std::string& key) const { return parameters_[key]; }

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
