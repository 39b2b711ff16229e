#pragma once

#include <halfbridge/bridge/nn/module.h>

namespace hb::bridge::nn {
inline namespace modules {

/// Gives a module class clone(): copies it, calls its reset() to make fresh parameters, and fills in their values.
template <typename Derived>
class HB_API Cloneable : public Module {
 public:
  using Module::Module;
  Cloneable();
  Cloneable(const Cloneable&) = default;
  Cloneable(Cloneable&&) = default;
  Cloneable& operator=(const Cloneable&) = default;
  Cloneable& operator=(Cloneable&&) = default;
  ~Cloneable() override;
  /// Registers parameters, buffers and submodules, and initialises them.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;

 private:
  void clone_(Module& other, const std::optional<Device>& device) final;
};

template <typename Derived>
Cloneable<Derived>::Cloneable() = default;
template <typename Derived>
Cloneable<Derived>::~Cloneable() = default;

template <typename Derived>
std::shared_ptr<Module> Cloneable<Derived>::clone(const std::optional<Device>& device) const {
  NoGradGuard no_grad;
  auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
  copy->prepare_copy();
  copy->reset();
  copy_state_to(*copy, device);
  return copy;
}

template <typename Derived>
void Cloneable<Derived>::clone_(Module& other, const std::optional<Device>& device) {
  auto clone = std::dynamic_pointer_cast<Derived>(other.clone(device));
  HB_CHECK(clone != nullptr,
           "Attempted to clone submodule, but it is of a different type than the submodule it was to be cloned into");
  static_cast<Derived&>(*this) = *clone;
}

}  // namespace modules
}  // namespace hb::bridge::nn

// Holder of one of the library's own modules: a name, not a class of its own, so that a program's compiler meets only
// the holders that the program uses. What Cloneable is made of for them is compiled once, in the library.
#ifdef HB_INSTANTIATE_MODULES
#define HB_LIBRARY_CLONEABLE(Name) template class Cloneable<Name##Impl>
#else
#define HB_LIBRARY_CLONEABLE(Name) extern template class Cloneable<Name##Impl>
#endif
#define HB_LIBRARY_MODULE(Name)                               \
  template <>                                                 \
  inline constexpr bool is_library_module<Name##Impl> = true; \
  using Name = ModuleHolder<Name##Impl>;                      \
  HB_LIBRARY_CLONEABLE(Name)
