#pragma once

#include <memory>
#include <ostream>

#include <halfbridge/bridge/nn/traits.h>
#include <halfbridge/error.h>

namespace hb::bridge::nn {
inline namespace modules {

/// Whether a class is a module of the library (HB_LIBRARY_MODULE). Their holders keep a pointer that forgets the class:
/// every program would pay for a shared_ptr type of each of them, whichever it uses.
template <typename Contained>
inline constexpr bool is_library_module = false;

/// A shared_ptr that knows its object's class only where it is used.
template <typename T>
class ErasedPointer {
 public:
  ErasedPointer(std::nullptr_t) noexcept {}                                          // NOLINT: as a shared_ptr
  ErasedPointer(std::shared_ptr<T> object) noexcept : object_(std::move(object)) {}  // NOLINT
  explicit ErasedPointer(T* object) : object_(object) {}
  T* get() const noexcept { return static_cast<T*>(object_.get()); }
  T* operator->() const noexcept { return get(); }
  T& operator*() const noexcept { return *get(); }
  operator std::shared_ptr<T>() const noexcept { return std::static_pointer_cast<T>(object_); }  // NOLINT
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const ErasedPointer& a, std::nullptr_t) noexcept { return !a.object_; }
  friend bool operator!=(const ErasedPointer& a, std::nullptr_t) noexcept { return static_cast<bool>(a.object_); }

 private:
  std::shared_ptr<void> object_;
};

/// A shared_ptr to a module that behaves as a value: `Linear fc(3, 4)` makes the module, copies share it.
template <typename Contained>
class ModuleHolder : detail::ModuleHolderIndicator {
  using Kept = std::conditional_t<is_library_module<Contained>, ErasedPointer<Contained>, std::shared_ptr<Contained>>;
  using Shown = std::conditional_t<is_library_module<Contained>, const std::shared_ptr<Contained>,
                                   const std::shared_ptr<Contained>&>;

 protected:
  Kept impl_;

 public:
  using ContainedType = Contained;
  using Impl = Contained;

  ModuleHolder() : impl_(default_construct()) {
    static_assert(
        std::is_default_constructible_v<Contained>,
        "You are trying to default construct a module which has no default constructor. Use = nullptr to give it "
        "the empty state (e.g. `Linear linear = nullptr;` instead of `Linear linear;`).");
  }
  ModuleHolder(std::nullptr_t) : impl_(nullptr) {}  // NOLINT: implicit as in LibTorch
  template <typename Head, typename... Tail,
            typename = std::enable_if_t<!(detail::is_module_holder_of<Head, Contained>::value && sizeof...(Tail) == 0)>>
  explicit ModuleHolder(Head&& head, Tail&&... tail)
      : impl_(new Contained(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}  // NOLINT

  explicit operator bool() const noexcept { return !is_empty(); }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  Shown ptr() const {
    check();
    return impl_;
  }
  Contained* get() {
    check();
    return impl_.get();
  }
  const Contained* get() const {
    check();
    return impl_.get();
  }
  /// forward(args...), with the module's hooks.
  template <typename... Args>
  auto operator()(Args&&... args) -> detail::return_type_of_forward_t<Contained, Args...> {
    Contained& module = *get();
    auto forward = [&module](auto&&... a) -> detail::return_type_of_forward_t<Contained, Args...> {
      return module.forward(std::forward<decltype(a)>(a)...);
    };
    return module.call_hooked(forward, std::forward<Args>(args)...);
  }
  template <typename Arg>
  auto operator[](Arg&& arg) {
    return (*get())[std::forward<Arg>(arg)];
  }
  bool is_empty() const noexcept { return impl_ == nullptr; }

 private:
  void check() const { HB_CHECK(impl_ != nullptr, "Accessing empty ModuleHolder"); }
  template <typename T = Contained>
  static std::shared_ptr<Contained> default_construct() {
    if constexpr (std::is_default_constructible_v<T>)
      return std::make_shared<Contained>();
    else
      return nullptr;
  }
};

template <typename ModuleType>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<ModuleType>& module) {
  return stream << *module;
}
template <typename ModuleType>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const ModuleHolder<ModuleType>& module) {
  return archive << module.ptr();
}
template <typename ModuleType>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, ModuleHolder<ModuleType>& module) {
  return archive >> module.ptr();
}

}  // namespace modules
}  // namespace hb::bridge::nn

/// Defines the holder `Name` of the module class `Impl`.
#define HB_MODULE_IMPL(Name, ImplType)                            \
  class Name : public ::hb::bridge::nn::ModuleHolder<ImplType> {  \
   public:                                                        \
    using ::hb::bridge::nn::ModuleHolder<ImplType>::ModuleHolder; \
  }
