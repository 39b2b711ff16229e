#pragma once
// Recursion as deep as memory allows. What calls itself through a program's functions, a backward pass within a
// backward pass say, asks at each level whether the stack has room and goes on with another one if not. It stays on its
// thread: modes, locks and thread-local variables are what they were.

#include <optional>
#include <type_traits>
#include <utility>

namespace hb::detail {

/// Whether this thread's stack has room for another level: kernels, and what a program calls until it asks again.
bool stack_has_room() noexcept;
/// Calls f(argument) on a fresh stack. Throws what it throws, and hb::Error where there is no memory for a stack.
void call_on_fresh_stack(void (*f)(void*), void* argument);

/// f(), on a fresh stack if this one is nearly used up.
template <class F>
auto with_stack(F&& f) -> std::invoke_result_t<F&> {
  if (stack_has_room()) return f();
  using Result = std::invoke_result_t<F&>;
  if constexpr (std::is_void_v<Result>) {
    call_on_fresh_stack([](void* g) { (*static_cast<std::remove_reference_t<F>*>(g))(); }, &f);
  } else {
    std::optional<Result> result;
    auto call = [&] { result.emplace(f()); };
    call_on_fresh_stack([](void* g) { (*static_cast<decltype(call)*>(g))(); }, &call);
    return std::move(*result);
  }
}

}  // namespace hb::detail
