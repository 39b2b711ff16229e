#pragma once
// Hooks of modules. They see the tensors among the inputs and outputs of forward, in order.
//
// They run when a module is called as `holder(x)`, by Sequential or AnyModule, and for the library's own modules also
// as `holder->forward(x)`. A call of `forward` on a module of the program's own is a plain member call that nothing can
// see.

#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/autograd.h>
#include <halfbridge/bridge/nn/traits.h>
#include <halfbridge/owned.h>

namespace hb::bridge::nn {

using TensorPointers = std::vector<Tensor*>;
/// (module, inputs): what is returned replaces the inputs, unless it is empty.
using ForwardPreHook = std::function<variable_list(Module&, const variable_list&)>;
/// (module, inputs, outputs): what is returned replaces the outputs, unless it is empty.
using ForwardHook = std::function<variable_list(Module&, const variable_list&, const variable_list&)>;
/// (module, gradients of the inputs, gradients of the outputs): what is returned replaces the first, unless it is
/// empty.
using FullBackwardHook = std::function<variable_list(Module&, const variable_list&, const variable_list&)>;
/// (module): what is returned lives as long as this call of forward, however it ends: a guard, say.
using ForwardScope = std::function<std::shared_ptr<void>(Module&)>;

namespace detail {

using hb::detail::Owned;

// Lets a hook return nothing, one tensor or a list.
template <class Hook>
auto adapt_hook(Hook hook) {
  return [hook = std::move(hook)](Module& m, const auto&... tensors) mutable -> variable_list {
    using Result = std::invoke_result_t<Hook&, Module&, decltype(tensors)...>;
    if constexpr (std::is_void_v<Result>) {
      hook(m, tensors...);
      return {};
    } else if constexpr (std::is_convertible_v<Result, Tensor>) {
      Tensor t = hook(m, tensors...);
      return t.defined() ? variable_list{t} : variable_list{};
    } else {
      return hook(m, tensors...);
    }
  };
}

/// A module's hooks.
struct ModuleHooks;
HB_API bool no_hooks(const ModuleHooks& hooks);

/// Deep copies with its module.
class HB_API HookSlot {
 public:
  HookSlot() noexcept;
  HookSlot(const HookSlot& o);
  HookSlot(HookSlot&&) noexcept;
  HookSlot& operator=(HookSlot o) noexcept;
  ~HookSlot();
  ModuleHooks* get() const { return hooks_.get(); }
  ModuleHooks& make();

 private:
  Owned<ModuleHooks> hooks_;
};

/// Whose forward this thread is about to enter on behalf of someone who already runs the hooks.
HB_API const ModuleHooks*& entered_hooks();

/// One call of forward under hooks. `before` runs the pre-hooks on the inputs and enters the scopes, `after` leaves
/// them and runs the hooks on the outputs.
class HB_API HookedCall {
 public:
  HookedCall(Module& module, ModuleHooks& hooks);
  HookedCall(const HookedCall&) = delete;
  HookedCall& operator=(const HookedCall&) = delete;
  ~HookedCall();
  void before(const TensorPointers& inputs);
  void after(const TensorPointers& outputs);
  // The same for one.
  void before(Tensor& input);
  void after(Tensor& output);

 private:
  struct BackwardState;
  void leave_scopes();
  Module& module_;
  ModuleHooks& hooks_;
  const ModuleHooks* outer_;
  variable_list inputs_;
  std::shared_ptr<BackwardState> backward_;
  std::vector<std::shared_ptr<void>> scopes_;
};

template <class T>
void collect_tensors(T& value, TensorPointers& found) {
  if constexpr (std::is_same_v<T, Tensor>) found.push_back(&value);
}
template <class T>
void collect_tensors(std::vector<T>& values, TensorPointers& found) {
  if constexpr (!std::is_same_v<T, bool>)
    for (auto& v : values) collect_tensors(v, found);
}
template <class A, class B>
void collect_tensors(std::pair<A, B>& value, TensorPointers& found) {
  collect_tensors(value.first, found);
  collect_tensors(value.second, found);
}
template <class... Ts>
void collect_tensors(std::tuple<Ts...>& values, TensorPointers& found) {
  std::apply([&](auto&... v) { (collect_tensors(v, found), ...); }, values);
}

// A stored argument in the form in which it was passed.
template <class Arg, class Stored>
decltype(auto) as_passed(Stored& stored) {
  if constexpr (std::is_same_v<std::remove_cv_t<std::remove_reference_t<Arg>>, Stored>)
    return static_cast<Arg&&>(stored);
  else
    return std::move(stored);
}

template <class T>
constexpr bool is_tensor = std::is_same_v<std::decay_t<T>, Tensor>;

template <class Result, class F, class... Args>
Result run_hooked_tuple(bool enters, HookedCall& call, const ModuleHooks& hooks, F& forward, Args&&... args) {
  std::tuple<std::decay_t<Args>...> inputs(std::forward<Args>(args)...);
  TensorPointers found;
  collect_tensors(inputs, found);
  call.before(found);
  if (enters) entered_hooks() = &hooks;
  auto run = [&](auto&... stored) { return forward(as_passed<Args>(stored)...); };
  if constexpr (std::is_void_v<Result>) {
    std::apply(run, inputs);
    call.after({});
  } else {
    auto result = std::apply(run, inputs);
    found.clear();
    collect_tensors(result, found);
    call.after(found);
    return result;
  }
}

// `enters`: `forward` may be the library's own, which would run the hooks too.
template <class F, class... Args>
auto run_hooked(bool enters, Module& module, ModuleHooks& hooks, F& forward, Args&&... args) {
  using Result = std::decay_t<decltype(forward(std::forward<Args>(args)...))>;
  HookedCall call(module, hooks);
  if constexpr (std::is_same_v<Result, Tensor> && sizeof...(Args) == 1 && (is_tensor<Args> && ...)) {
    // The commonest call: without tuples it compiles far faster.
    Tensor input(std::forward<Args>(args)...);
    call.before(input);
    if (enters) entered_hooks() = &hooks;
    Tensor result = forward(as_passed<Args>(input)...);
    call.after(result);
    return result;
  } else {
    return run_hooked_tuple<Result>(enters, call, hooks, forward, std::forward<Args>(args)...);
  }
}

}  // namespace detail
}  // namespace hb::bridge::nn
