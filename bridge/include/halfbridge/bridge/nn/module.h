#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/bridge/arg.h>
#include <halfbridge/bridge/nn/any_value.h>
#include <halfbridge/bridge/nn/hooks.h>
#include <halfbridge/bridge/nn/pimpl.h>
#include <halfbridge/bridge/ordered_dict.h>
#include <halfbridge/ops.h>

namespace hb::bridge::nn {

/// Keys of load_state_dict that did not fit.
struct StateDictMismatch {
  std::vector<std::string> missing_keys;     // the module's, not in the dictionary
  std::vector<std::string> unexpected_keys;  // the dictionary's, not in the module
};

inline namespace modules {

/// Base of every network and layer: named parameters, buffers and submodules. As torch::nn::Module, with the hooks and
/// state dictionaries of PyTorch's besides.
class HB_API Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction = std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction = std::function<void(const std::string&, const std::shared_ptr<Module>&)>;

  explicit Module(std::string name);
  Module();
  Module(const Module&);
  Module& operator=(const Module&);
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  virtual ~Module();

  /// The given name, or that of the class.
  const std::string& name() const noexcept;
  /// A deep copy; throws for a class that does not derive from Cloneable.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const;

  // Calls a function for this module and all below it. Those with pointers need the module to be held by a shared_ptr.
  void apply(const ModuleApplyFunction& function);
  void apply(const ConstModuleApplyFunction& function) const;
  void apply(const NamedModuleApplyFunction& function, const std::string& name_prefix = std::string());
  void apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix = std::string()) const;
  void apply(const ModulePointerApplyFunction& function) const;
  void apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix = std::string()) const;

  /// The defined parameters; names are dotted paths.
  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(const std::string& name_prefix = std::string(),
                                                                  bool include_self = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;

  virtual void train(bool on = true);
  void eval();
  virtual bool is_training() const noexcept;
  virtual void to(Device device, Dtype dtype, bool non_blocking = false);
  virtual void to(Dtype dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  virtual void zero_grad(bool set_to_none = true);

  /// This module as another class, or nullptr. Takes the class or its holder: as<Linear>(), as<LinearImpl>().
  template <typename ModuleType>
  typename ModuleType::ContainedType* as() noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <typename ModuleType>
  const typename ModuleType::ContainedType* as() const noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <typename ModuleType, typename = detail::disable_if_module_holder_t<ModuleType>>
  ModuleType* as() noexcept {
    return dynamic_cast<ModuleType*>(this);
  }
  template <typename ModuleType, typename = detail::disable_if_module_holder_t<ModuleType>>
  const ModuleType* as() const noexcept {
    return dynamic_cast<const ModuleType*>(this);
  }

  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);
  virtual void pretty_print(std::ostream& stream) const;
  virtual bool is_serializable() const;

  /// Parameters and buffers by dotted path, in PyTorch's order; they share memory with the module.
  OrderedDict<std::string, Tensor> state_dict() const;
  /// Copies values into the parameters and buffers. With `strict`, and for shapes that differ in any case, throws one
  /// error that lists every key that does not fit; nothing is copied then.
  StateDictMismatch load_state_dict(const OrderedDict<std::string, Tensor>& state, bool strict = true);

  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor);
  template <typename ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, std::shared_ptr<ModuleType> module) {
    add_child(std::move(name), module);
    return module;
  }
  template <typename ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, ModuleHolder<ModuleType> module_holder) {
    return register_module(std::move(name), module_holder.ptr());
  }
  template <typename ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name, std::shared_ptr<ModuleType> module) {
    children_[name] = module;
    return module;
  }
  template <typename ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name, ModuleHolder<ModuleType> module_holder) {
    return replace_module(name, module_holder.ptr());
  }
  void unregister_module(const std::string& name);

  // Hooks, see hooks.h for when they run. A hook may return nothing, one tensor or a list. The result is for
  // remove_hook.
  /// hook(module, inputs)
  template <class Hook>
  unsigned register_forward_pre_hook(Hook hook) {
    return add_pre_hook(detail::adapt_hook(std::move(hook)));
  }
  /// hook(module, inputs, outputs)
  template <class Hook>
  unsigned register_forward_hook(Hook hook) {
    return add_forward_hook(detail::adapt_hook(std::move(hook)));
  }
  /// hook(module, gradients of the inputs, gradients of the outputs)
  template <class Hook>
  unsigned register_full_backward_hook(Hook hook) {
    return add_backward_hook(detail::adapt_hook(std::move(hook)));
  }
  /// scope(module): what it returns is held while forward runs, also when that throws. Later ones lie inside.
  unsigned register_forward_scope(ForwardScope scope) { return add_scope(std::move(scope)); }
  /// False where there is no such hook.
  bool remove_hook(unsigned handle);

  // Overridden by FORWARD_HAS_DEFAULT_ARGS.
  virtual bool _forward_has_default_args() { return false; }
  virtual unsigned int _forward_num_required_args();
  virtual std::vector<AnyValue> _forward_populate_default_args(std::vector<AnyValue>&& arguments);

  // Code that calls `forward` on behalf of the program runs the hooks around it with this.
  template <class F, class... Args>
  auto call_hooked(F&& forward, Args&&... args) -> decltype(forward(std::forward<Args>(args)...)) {
    detail::ModuleHooks* hooks = hooks_.get();
    if (HB_LIKELY(!hooks || detail::no_hooks(*hooks))) return forward(std::forward<Args>(args)...);
    if (enters(*hooks)) return forward(std::forward<Args>(args)...);
    return detail::run_hooked(true, *this, *hooks, forward, std::forward<Args>(args)...);
  }
  // For `forward` of the library's own modules.
  template <class F, class... Args>
  auto hooked(F&& forward, Args&&... args) const {
    detail::ModuleHooks* hooks = hooks_.get();
    if (HB_LIKELY(!hooks || detail::no_hooks(*hooks))) return forward(std::forward<Args>(args)...);
    if (enters(*hooks)) return forward(std::forward<Args>(args)...);
    return detail::run_hooked(false, const_cast<Module&>(*this), *hooks, forward, std::forward<Args>(args)...);
  }

 protected:
  OrderedDict<std::string, Tensor> parameters_;

 private:
  template <typename Derived>
  friend class Cloneable;
  friend HB_API std::ostream& operator<<(std::ostream& stream, const Module& module);

  // Whether a caller runs these hooks already; asked once by each forward.
  static bool enters(const detail::ModuleHooks& hooks) {
    return detail::entered_hooks() == &hooks && std::exchange(detail::entered_hooks(), nullptr);
  }
  virtual void clone_(Module& other, const std::optional<Device>& device);
  void add_child(std::string name, std::shared_ptr<Module> module);
  unsigned add_pre_hook(ForwardPreHook hook);
  unsigned add_forward_hook(ForwardHook hook);
  unsigned add_backward_hook(FullBackwardHook hook);
  unsigned add_scope(ForwardScope scope);
  // Cloneable's work that does not depend on the class.
  void prepare_copy();
  void copy_state_to(Module& copy, const std::optional<Device>& device) const;
  void convert(const std::function<Tensor(const Tensor&)>& f);
  void pretty_print_recursive(std::ostream& stream, const std::string& indentation) const;
  void apply_to_submodules(const NamedModulePointerApplyFunction& function,
                           const std::string& name_prefix = std::string()) const;
  std::shared_ptr<Module> shared_from_this_checked() const;

  OrderedDict<std::string, Tensor> buffers_;
  OrderedDict<std::string, std::shared_ptr<Module>> children_;
  mutable std::optional<std::string> name_;
  detail::HookSlot hooks_;
  bool is_training_{true};
};

HB_API std::ostream& operator<<(std::ostream& stream, const Module& module);
HB_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const std::shared_ptr<Module>& module);
HB_API serialize::InputArchive& operator>>(serialize::InputArchive& archive, const std::shared_ptr<Module>& module);

}  // namespace modules
}  // namespace hb::bridge::nn

// Of the library's own modules, whose default arguments stand in default_arguments.cpp.
#define HB_LIBRARY_DEFAULT_ARGS                                           \
  bool _forward_has_default_args() override;                              \
  unsigned int _forward_num_required_args() override;                     \
  std::vector<::hb::bridge::nn::AnyValue> _forward_populate_default_args( \
      std::vector<::hb::bridge::nn::AnyValue>&& arguments) override

/// For modules that are put into AnyModule or Sequential and whose forward has default arguments: lists them as
/// {position, AnyValue(default)}.
#define HB_FORWARD_HAS_DEFAULT_ARGS(...)                                             \
  bool _forward_has_default_args() override { return true; }                         \
  unsigned int _forward_num_required_args() override {                               \
    std::pair<unsigned int, ::hb::bridge::nn::AnyValue> args_info[] = {__VA_ARGS__}; \
    return args_info[0].first;                                                       \
  }                                                                                  \
  std::vector<::hb::bridge::nn::AnyValue> _forward_populate_default_args(            \
      std::vector<::hb::bridge::nn::AnyValue>&& arguments) override {                \
    std::pair<unsigned int, ::hb::bridge::nn::AnyValue> args_info[] = {__VA_ARGS__}; \
    std::vector<::hb::bridge::nn::AnyValue> ret = std::move(arguments);              \
    for (auto& info : args_info)                                                     \
      if (info.first >= ret.size()) ret.push_back(std::move(info.second));           \
    return ret;                                                                      \
  }
