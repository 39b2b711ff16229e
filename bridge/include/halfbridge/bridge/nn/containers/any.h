#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/bridge/nn/module.h>
#include <halfbridge/owned.h>

namespace hb::bridge::nn {
inline namespace modules {

// What AnyModule holds: a module behind its class's forward.
struct HB_API AnyModulePlaceholder {
  explicit AnyModulePlaceholder(const std::type_info& t) : type_info(t) {}
  virtual ~AnyModulePlaceholder();
  virtual AnyValue forward(std::vector<AnyValue>&& arguments) = 0;
  /// The same for one tensor to one tensor, without boxing; false for other signatures.
  virtual bool forward_tensor(Tensor& value) = 0;
  virtual std::shared_ptr<Module> ptr() = 0;
  virtual hb::detail::Owned<AnyModulePlaceholder> copy() const = 0;
  virtual hb::detail::Owned<AnyModulePlaceholder> clone_module(std::optional<Device> device) const = 0;
  const std::type_info& type_info;
};

namespace detail_any {
// Fills in default arguments and throws where the number of arguments does not fit.
HB_API void prepare_arguments(Module& module, const std::type_info& type, size_t wanted,
                              std::vector<AnyValue>& arguments);
[[noreturn]] HB_API void wrong_argument(size_t index, const std::type_info& wanted, const std::type_info& got);
[[noreturn]] HB_API void wrong_cast(const std::type_info& from, const std::type_info& to);
[[noreturn]] HB_API void wrong_result(const std::type_info& is, const std::type_info& wanted);

template <class T>
std::decay_t<T>&& argument(std::vector<AnyValue>& arguments, size_t index) {
  if (auto* value = arguments[index].template try_get<std::decay_t<T>>()) return std::move(*value);
  wrong_argument(index, typeid(T), arguments[index].type_info());
}
}  // namespace detail_any

namespace detail_any {
/// A module's forward of one tensor to one tensor.
using TensorForward = Tensor (*)(Module& module, Tensor&& input);
/// A holder of such a module, which needs no code of the module's class but `forward`.
HB_API hb::detail::Owned<AnyModulePlaceholder> hold_tensor_module(const std::type_info& type,
                                                                  std::shared_ptr<Module> module,
                                                                  TensorForward forward);

template <class ModuleType, class = void>
struct Downcast {  // of a class that derives virtually
  static ModuleType& of(Module& module) { return dynamic_cast<ModuleType&>(module); }
};
template <class ModuleType>
struct Downcast<ModuleType, std::void_t<decltype(static_cast<ModuleType&>(std::declval<Module&>()))>> {
  static ModuleType& of(Module& module) { return static_cast<ModuleType&>(module); }
};
template <class ModuleType>
Tensor call_forward(Module& module, Tensor&& input) {
  return Downcast<ModuleType>::of(module).forward(std::move(input));
}

template <class Result, class... Arguments>
constexpr bool tensor_to_tensor = sizeof...(Arguments) == 1 && std::is_same_v<std::decay_t<Result>, Tensor> &&
                                  (std::is_same_v<std::decay_t<Arguments>, Tensor> && ...);
}  // namespace detail_any

/// Holds a module whose forward takes or gives anything else.
template <typename ModuleType, typename Result, typename... ArgumentTypes>
struct AnyModuleHolder final : AnyModulePlaceholder {
  explicit AnyModuleHolder(std::shared_ptr<ModuleType> m)
      : AnyModulePlaceholder(typeid(ModuleType)), module(std::move(m)) {}

  AnyValue forward(std::vector<AnyValue>&& arguments) override {
    detail_any::prepare_arguments(*module, type_info, sizeof...(ArgumentTypes), arguments);
    return call(arguments, std::index_sequence_for<ArgumentTypes...>());
  }
  bool forward_tensor(Tensor&) override { return false; }
  std::shared_ptr<Module> ptr() override { return module; }
  hb::detail::Owned<AnyModulePlaceholder> copy() const override { return own(module); }
  hb::detail::Owned<AnyModulePlaceholder> clone_module(std::optional<Device> device) const override {
    return own(std::dynamic_pointer_cast<ModuleType>(module->clone(device)));
  }

  std::shared_ptr<ModuleType> module;

 private:
  static hb::detail::Owned<AnyModulePlaceholder> own(std::shared_ptr<ModuleType> module) {
    return hb::detail::Owned<AnyModulePlaceholder>(new AnyModuleHolder(std::move(module)));
  }
  template <class... Args>
  Result run(Args&&... args) {
    auto forward = [this](auto&&... a) -> Result { return module->forward(std::forward<decltype(a)>(a)...); };
    return static_cast<Module&>(*module).call_hooked(forward, std::forward<Args>(args)...);
  }
  template <size_t... I>
  AnyValue call(std::vector<AnyValue>& arguments, std::index_sequence<I...>) {
    return AnyValue(run(detail_any::argument<ArgumentTypes>(arguments, I)...));
  }
};

/// A module of any class with a forward that is not a template.
class HB_API AnyModule {
 public:
  AnyModule();
  template <typename ModuleType>
  explicit AnyModule(std::shared_ptr<ModuleType> module) {
    static_assert(detail::is_module<ModuleType>::value, "Can only store object derived from nn::Module into AnyModule");
    static_assert(
        detail::has_plain_forward<ModuleType>::value,
        "Can only store module with a forward() method that has a non-templatized argument type and return type "
        "into AnyModule (e.g. we cannot store nn::Sequential into AnyModule)");
    content_ = make_holder(std::move(module), &ModuleType::forward);
  }
  template <typename ModuleType, typename = detail::enable_if_module_t<ModuleType>>
  explicit AnyModule(ModuleType&& module)
      : AnyModule(std::make_shared<std::decay_t<ModuleType>>(std::forward<ModuleType>(module))) {}
  template <typename ModuleType>
  explicit AnyModule(const ModuleHolder<ModuleType>& module_holder) : AnyModule(module_holder.ptr()) {}
  AnyModule(AnyModule&&) noexcept;
  AnyModule& operator=(AnyModule&&) noexcept;
  /// Copies share the module; clone() does not.
  AnyModule(const AnyModule& other);
  AnyModule& operator=(const AnyModule& other);
  ~AnyModule();
  AnyModule clone(std::optional<Device> device = std::nullopt) const;
  template <typename ModuleType>
  AnyModule& operator=(std::shared_ptr<ModuleType> module) {
    return *this = AnyModule(std::move(module));
  }

  template <typename... ArgumentTypes>
  AnyValue any_forward(ArgumentTypes&&... arguments) {
    check("forward");
    std::vector<AnyValue> values;
    values.reserve(sizeof...(ArgumentTypes));
    (add_value(values, std::forward<ArgumentTypes>(arguments)), ...);
    return content_->forward(std::move(values));
  }
  template <typename ReturnType = Tensor, typename... ArgumentTypes>
  ReturnType forward(ArgumentTypes&&... arguments) {
    return std::move(any_forward(std::forward<ArgumentTypes>(arguments)...).template get<ReturnType>());
  }
  bool forward_tensor(Tensor& value) {
    check("forward");
    return content_->forward_tensor(value);
  }

  template <typename T, typename = detail::enable_if_module_t<T>>
  T& get() {
    return get_<T>();
  }
  template <typename T, typename = detail::enable_if_module_t<T>>
  const T& get() const {
    return get_<T>();
  }
  template <typename T, typename ContainedType = typename T::ContainedType>
  T get() const {
    return T(ptr<ContainedType>());
  }
  std::shared_ptr<Module> ptr() const {
    check("ptr");
    return content_->ptr();
  }
  template <typename T, typename = detail::enable_if_module_t<T>>
  std::shared_ptr<T> ptr() const {
    check("ptr");
    get_<T>();
    return std::dynamic_pointer_cast<T>(ptr());
  }
  const std::type_info& type_info() const {
    check("type_info");
    return content_->type_info;
  }
  bool is_empty() const noexcept { return !content_; }

 private:
  void check(const char* call) const { HB_CHECK(content_, "Cannot call ", call, "() on an empty AnyModule"); }
  static void add_value(std::vector<AnyValue>& values, AnyValue&& value);
  template <typename T, typename = std::enable_if_t<!std::is_same_v<std::decay_t<T>, AnyValue>>>
  static void add_value(std::vector<AnyValue>& values, T&& value) {
    values.emplace_back(std::forward<T>(value));
  }
  template <typename ModuleType, typename Class, typename Result, typename... Args>
  static hb::detail::Owned<AnyModulePlaceholder> make_holder(std::shared_ptr<ModuleType> module,
                                                             Result (Class::*)(Args...)) {
    static_assert(((!std::is_lvalue_reference_v<Args> || std::is_const_v<std::remove_reference_t<Args>>)&&...),
                  "Modules stored inside AnyModule must not take references. Use pointers instead.");
    static_assert(!std::is_void_v<Result>,
                  "AnyModule cannot store modules that return void (you can return a dummy value).");
    if constexpr (detail_any::tensor_to_tensor<Result, Args...>)
      return detail_any::hold_tensor_module(typeid(ModuleType), std::move(module),
                                            &detail_any::call_forward<ModuleType>);
    else
      return hb::detail::Owned<AnyModulePlaceholder>(
          new AnyModuleHolder<ModuleType, Result, Args...>(std::move(module)));
  }
  template <typename ModuleType, typename Class, typename Result, typename... Args>
  static hb::detail::Owned<AnyModulePlaceholder> make_holder(std::shared_ptr<ModuleType> module,
                                                             Result (Class::*)(Args...) const) {
    return make_holder(std::move(module), static_cast<Result (Class::*)(Args...)>(nullptr));
  }
  template <typename T>
  T& get_() const {
    check("get");
    if (typeid(T) != type_info()) detail_any::wrong_cast(type_info(), typeid(T));
    return static_cast<T&>(*content_->ptr());
  }

  hb::detail::Owned<AnyModulePlaceholder> content_;
};

/// An AnyModule and the name under which a container registers it.
class NamedAnyModule {
 public:
  template <typename ModuleType>
  NamedAnyModule(std::string name, std::shared_ptr<ModuleType> module_ptr)
      : NamedAnyModule(std::move(name), AnyModule(std::move(module_ptr))) {}
  template <typename M, typename = detail::enable_if_module_t<M>>
  NamedAnyModule(std::string name, M&& module)
      : NamedAnyModule(std::move(name), std::make_shared<std::decay_t<M>>(std::forward<M>(module))) {}
  template <typename M>
  NamedAnyModule(std::string name, const ModuleHolder<M>& module_holder)
      : NamedAnyModule(std::move(name), module_holder.ptr()) {}
  NamedAnyModule(std::string name, AnyModule any_module) : name_(std::move(name)), module_(std::move(any_module)) {}

  const std::string& name() const noexcept { return name_; }
  AnyModule& module() noexcept { return module_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace modules
}  // namespace hb::bridge::nn
