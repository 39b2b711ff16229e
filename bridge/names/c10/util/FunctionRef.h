#pragma once
// A function that someone else keeps, for arguments of calls: c10::function_ref<int(int)>.

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace c10 {
template <typename Fn>
class function_ref;

template <typename R, typename... Params>
class function_ref<R(Params...)> {
 public:
  function_ref() = default;
  function_ref(std::nullptr_t) {}
  template <typename F, typename = std::enable_if_t<!std::is_same_v<std::decay_t<F>, function_ref> &&
                                                    std::is_invocable_r_v<R, F, Params...>>>
  function_ref(F&& f)
      : call_([](const void* callable, Params... params) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(const_cast<void*>(callable)))(
              std::forward<Params>(params)...);
        }),
        callable_(std::addressof(f)) {}
  R operator()(Params... params) const { return call_(callable_, std::forward<Params>(params)...); }
  operator bool() const { return call_ != nullptr; }

 private:
  R (*call_)(const void*, Params...) = nullptr;
  const void* callable_ = nullptr;
};
}  // namespace c10
