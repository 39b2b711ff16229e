#pragma once
// The stack on which boxed calls pass arguments and results.

#include <cstddef>
#include <utility>
#include <vector>

#include <halfbridge/ivalue.h>

namespace hb::bridge::jit {

using Stack = std::vector<IValue>;

/// Value i of the last N.
inline IValue& peek(Stack& stack, size_t i, size_t N) { return *(stack.end() - static_cast<std::ptrdiff_t>(N - i)); }
inline const IValue& peek(const Stack& stack, size_t i, size_t N) {
  return *(stack.end() - static_cast<std::ptrdiff_t>(N - i));
}
inline ArrayRef<IValue> peekSlice(const Stack& stack, size_t i, size_t length, size_t N) {
  return ArrayRef<IValue>(stack.data() + stack.size() - N + i, length);
}
inline ArrayRef<IValue> last(const Stack& stack, size_t N) { return peekSlice(stack, 0, N, N); }

inline void drop(Stack& stack, size_t n) { stack.erase(stack.end() - static_cast<std::ptrdiff_t>(n), stack.end()); }
inline void drop(Stack* stack, size_t n) { drop(*stack, n); }

inline IValue pop(Stack& stack) {
  HB_CHECK(!stack.empty(), "pop() called on empty stack");
  IValue top = std::move(stack.back());
  stack.pop_back();
  return top;
}
inline IValue pop(Stack* stack) { return pop(*stack); }
/// The last n values, in the order in which they were pushed.
inline std::vector<IValue> pop(Stack& stack, size_t n) {
  HB_CHECK(n <= stack.size(), "pop() expected ", n, " values on the stack, got ", stack.size());
  std::vector<IValue> values(stack.end() - static_cast<std::ptrdiff_t>(n), stack.end());
  drop(stack, n);
  return values;
}
template <class... Types>
void pop(Stack& stack, Types&... args) {
  constexpr size_t N = sizeof...(args);
  HB_CHECK(N <= stack.size(), "pop() expected ", N, " values on the stack, got ", stack.size());
  size_t i = 0;
  ((args = peek(stack, i++, N).template to<Types>()), ...);
  drop(stack, N);
}
template <class Type>
Type pop_as(Stack& stack) {
  return pop(stack).template to<Type>();
}

template <class... Types>
void push(Stack& stack, Types&&... args) {
  (stack.emplace_back(std::forward<Types>(args)), ...);
}
template <class... Types>
void push(Stack* stack, Types&&... args) {
  push(*stack, std::forward<Types>(args)...);
}
template <class T>
void push_one(Stack& stack, T&& value) {
  stack.emplace_back(std::forward<T>(value));
}
template <class T>
void push_list_elements(Stack& stack, const List<T>& elements) {
  for (T item : elements) stack.emplace_back(std::move(item));
}
template <class T>
void pack(Stack& stack, T&& value) {
  stack.emplace_back(std::forward<T>(value));
}

}  // namespace hb::bridge::jit

namespace hb::bridge {
inline namespace api {
using hb::bridge::jit::Stack;
}
}  // namespace hb::bridge
