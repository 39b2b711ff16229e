#include <halfbridge/bridge/nn/module.h>

#include <ostream>
#include <typeinfo>

#include "core/recorder.h"
#include "core/remains.h"
#include "core/stack.h"
#include "live_modules.h"
#include "module_watch.h"

namespace hb::bridge::nn {
inline namespace modules {

namespace {
std::string join_name(const std::string& prefix, const std::string& name) {
  if (prefix.empty() || name.empty()) return prefix + name;
  return prefix + "." + name;
}

void check_name(const char* what, const std::string& name) {
  HB_CHECK(!name.empty(), what, " name must not be empty");
  HB_CHECK(name.find('.') == std::string::npos, what, " name must not contain a dot (got '", name, "')");
}
}  // namespace

Module::Module() : parameters_("Parameter"), buffers_("Buffer"), children_("Submodule") {
  LiveModules::begins(*this);
  ModuleWatchers::each([&](ModuleWatcher& w) { w.made(*this, false); });
}
Module::Module(std::string name) : Module() { name_ = std::move(name); }
Module::Module(const Module& o)
    : std::enable_shared_from_this<Module>(o),
      parameters_(o.parameters_),
      buffers_(o.buffers_),
      children_(o.children_),
      name_(o.name_),
      hooks_(o.hooks_),
      is_training_(o.is_training_) {
  LiveModules::begins(*this);
  ModuleWatchers::each([&](ModuleWatcher& w) { w.made(*this, true); });
}
Module& Module::operator=(const Module&) = default;
Module::Module(Module&& o) noexcept
    : std::enable_shared_from_this<Module>(o),
      parameters_(std::move(o.parameters_)),
      buffers_(std::move(o.buffers_)),
      children_(std::move(o.children_)),
      name_(std::move(o.name_)),
      hooks_(std::move(o.hooks_)),
      is_training_(o.is_training_) {
  LiveModules::begins(*this);
  ModuleWatchers::each([&](ModuleWatcher& w) { w.made(*this, true); });
}
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() {
  LiveModules::ends(*this);
  ModuleWatchers::each([&](ModuleWatcher& w) { w.gone(*this); });
  for (auto& child : children_) {
    if (child.value().use_count() == 1) hb::detail::free_in_turn(std::move(child.value()));
    child.value().reset();
  }
}

const std::string& Module::name() const noexcept {
  if (!name_) name_ = demangle(typeid(*this).name());
  return *name_;
}

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  HB_CHECK(false, "clone() has not been implemented for ", name(), ". Subclass torch::nn::Cloneable<", name(),
           "> instead of torch::nn::Module to inherit the ability to clone.");
  return nullptr;
}

void Module::clone_(Module&, const std::optional<Device>&) {}

void Module::prepare_copy() {
  parameters_.clear();
  buffers_.clear();
  children_.clear();
}

namespace {
void copy_tensors(const char* kind, const char* call, const OrderedDict<std::string, Tensor>& from,
                  OrderedDict<std::string, Tensor>& to, const std::optional<Device>& device) {
  HB_CHECK(from.size() == to.size(), "The cloned module does not have the same number of ", kind,
           " as the original module after calling reset(). Are you sure you called ", call,
           "() inside reset() and not the constructor?");
  for (const auto& item : from) {
    const Tensor& t = item.value();
    if (!t.defined()) continue;
    Tensor data = device && t.device() != *device ? t.to(*device) : t.clone();
    to[item.key()].set_data(data);
  }
}
}  // namespace

void Module::copy_state_to(Module& copy, const std::optional<Device>& device) const {
  copy_tensors("parameters", "register_parameter", parameters_, copy.parameters_, device);
  copy_tensors("buffers", "register_buffer", buffers_, copy.buffers_, device);
  HB_CHECK(
      copy.children_.size() == children_.size(),
      "The cloned module does not have the same number of child modules as the original module after calling reset(). "
      "Are you sure you called register_module() inside reset() and not the constructor?");
  for (const auto& child : children_)
    hb::detail::with_stack([&] { copy.children_[child.key()]->clone_(*child.value(), device); });
}

// --- walking the tree

std::shared_ptr<Module> Module::shared_from_this_checked() const {
  std::shared_ptr<const Module> ptr = weak_from_this().lock();
  HB_CHECK(ptr,
           "It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is not stored in a "
           "shared_ptr. Use std::make_shared<",
           name(),
           "> instead of creating your module on the stack, or alternatively "
           "do not try to access your top-level module at all by passing /*include_self=*/false to modules() or "
           "named_modules()");
  return std::const_pointer_cast<Module>(ptr);
}

void Module::apply_to_submodules(const NamedModulePointerApplyFunction& function,
                                 const std::string& name_prefix) const {
  for (const auto& child : children_) {
    const std::string qualified = join_name(name_prefix, child.key());
    function(qualified, child.value());
    hb::detail::with_stack([&] { child.value()->apply_to_submodules(function, qualified); });
  }
}

void Module::apply(const ModuleApplyFunction& function) {
  function(*this);
  apply_to_submodules([&](const std::string&, const std::shared_ptr<Module>& m) { function(*m); });
}
void Module::apply(const ConstModuleApplyFunction& function) const {
  function(*this);
  apply_to_submodules([&](const std::string&, const std::shared_ptr<Module>& m) { function(*m); });
}
void Module::apply(const NamedModuleApplyFunction& function, const std::string& name_prefix) {
  function(name_prefix, *this);
  apply_to_submodules([&](const std::string& name, const std::shared_ptr<Module>& m) { function(name, *m); },
                      name_prefix);
}
void Module::apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix) const {
  function(name_prefix, *this);
  apply_to_submodules([&](const std::string& name, const std::shared_ptr<Module>& m) { function(name, *m); },
                      name_prefix);
}
void Module::apply(const ModulePointerApplyFunction& function) const {
  function(shared_from_this_checked());
  apply_to_submodules([&](const std::string&, const std::shared_ptr<Module>& m) { function(m); });
}
void Module::apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix) const {
  function(name_prefix, shared_from_this_checked());
  apply_to_submodules(function, name_prefix);
}

// --- what it holds

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  OrderedDict<std::string, Tensor> result;
  auto add = [&result](const std::string& prefix, const Module& module) {
    for (const auto& p : module.parameters_)
      if (p.value().defined()) result.insert(join_name(prefix, p.key()), p.value());
  };
  if (recurse)
    apply(ConstNamedModuleApplyFunction(add));
  else
    add("", *this);
  return result;
}

OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  OrderedDict<std::string, Tensor> result;
  auto add = [&result](const std::string& prefix, const Module& module) {
    for (const auto& b : module.buffers_)
      if (b.value().defined()) result.insert(join_name(prefix, b.key()), b.value());
  };
  if (recurse)
    apply(ConstNamedModuleApplyFunction(add));
  else
    add("", *this);
  return result;
}

std::vector<Tensor> Module::parameters(bool recurse) const {
  std::vector<Tensor> result;
  auto add = [&result](const Module& module) {
    for (const auto& p : module.parameters_)
      if (p.value().defined()) result.push_back(p.value());
  };
  if (recurse)
    apply(ConstModuleApplyFunction(add));
  else
    add(*this);
  return result;
}

std::vector<Tensor> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  std::vector<std::shared_ptr<Module>> result;
  if (include_self) result.push_back(shared_from_this_checked());
  apply_to_submodules([&](const std::string&, const std::shared_ptr<Module>& m) { result.push_back(m); });
  return result;
}

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(const std::string& name_prefix,
                                                                        bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> result;
  auto add = [&](const std::string& name, const std::shared_ptr<Module>& m) { result.insert(name, m); };
  if (include_self) add(name_prefix, shared_from_this_checked());
  apply_to_submodules(add, name_prefix);
  return result;
}

std::vector<std::shared_ptr<Module>> Module::children() const { return children_.values(); }
OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const { return children_; }

// --- registration

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name("Parameter", name);
  if (tensor.defined())
    tensor.unsafeGetTensorImpl()->set_requires_grad(requires_grad);
  else if (requires_grad)
    hb::detail::warn("An undefined tensor cannot require grad. Ignoring the `requires_grad=true` function parameter.");
  return parameters_.insert(std::move(name), std::move(tensor));
}

Tensor& Module::register_buffer(std::string name, Tensor tensor) {
  check_name("Buffer", name);
  return buffers_.insert(std::move(name), std::move(tensor));
}

void Module::add_child(std::string name, std::shared_ptr<Module> module) {
  check_name("Submodule", name);
  children_.insert(std::move(name), std::move(module));
  ModuleWatchers::each([](ModuleWatcher& w) { w.children_changed(); });
}

void Module::unregister_module(const std::string& name) {
  HB_CHECK(children_.contains(name), "No Module with name `", name, "` is registered");
  children_.erase(name);
  ModuleWatchers::each([](ModuleWatcher& w) { w.children_changed(); });
}

// --- changing it

void Module::train(bool on) {
  for (auto& child : children_) hb::detail::with_stack([&] { child.value()->train(on); });
  if (is_training_ != on) hb::capture::flip_mode(this);
  is_training_ = on;
}
void Module::eval() { train(false); }
bool Module::is_training() const noexcept { return is_training_; }

void Module::convert(const std::function<Tensor(const Tensor&)>& f) {
  for (auto* dict : {&parameters_, &buffers_})
    for (auto& item : *dict)
      if (item->defined()) item->set_data(f(*item));
}

void Module::to(Device device, Dtype dtype, bool non_blocking) {
  for (auto& child : children_) hb::detail::with_stack([&] { child.value()->to(device, dtype, non_blocking); });
  convert([&](const Tensor& t) { return t.to(device, dtype, non_blocking); });
}
void Module::to(Dtype dtype, bool non_blocking) {
  for (auto& child : children_) hb::detail::with_stack([&] { child.value()->to(dtype, non_blocking); });
  convert([&](const Tensor& t) { return t.to(dtype, non_blocking); });
}
void Module::to(Device device, bool non_blocking) {
  for (auto& child : children_) hb::detail::with_stack([&] { child.value()->to(device, non_blocking); });
  convert([&](const Tensor& t) { return t.to(device, non_blocking); });
}

void Module::zero_grad(bool set_to_none) {
  for (auto& child : children_) hb::detail::with_stack([&] { child.value()->zero_grad(set_to_none); });
  for (auto& parameter : parameters_) {
    if (!parameter->defined()) continue;
    Tensor& grad = parameter->mutable_grad();
    if (!grad.defined()) continue;
    if (set_to_none) {
      grad.reset();
    } else {
      if (grad.requires_grad()) grad = grad.detach();
      grad.zero_();
    }
  }
}

// --- printing, default arguments

void Module::pretty_print(std::ostream& stream) const { stream << name(); }
bool Module::is_serializable() const { return true; }

void Module::pretty_print_recursive(std::ostream& stream, const std::string& indentation) const {
  pretty_print(stream);
  if (children_.is_empty()) return;
  stream << "(\n";
  const std::string inner = indentation + "  ";
  for (const auto& child : children_) {
    stream << inner << "(" << child.key() << "): ";
    hb::detail::with_stack([&] { child.value()->pretty_print_recursive(stream, inner); });
    stream << '\n';
  }
  stream << indentation << ")";
}

std::ostream& operator<<(std::ostream& stream, const Module& module) {
  module.pretty_print_recursive(stream, "");
  return stream;
}

unsigned int Module::_forward_num_required_args() {
  HB_CHECK(false,
           "torch::nn::Module subclass that has default arguments in `forward` method must override "
           "`_forward_num_required_args` method. Please use `FORWARD_HAS_DEFAULT_ARGS` macro to do so.");
  return 0;
}
std::vector<AnyValue> Module::_forward_populate_default_args(std::vector<AnyValue>&&) {
  HB_CHECK(false,
           "torch::nn::Module subclass that has default arguments in `forward` method must override "
           "`_forward_populate_default_args` method. Please use `FORWARD_HAS_DEFAULT_ARGS` macro to do so.");
  return {};
}

}  // namespace modules
}  // namespace hb::bridge::nn
