#pragma once
// Undefined tensors at the front of functions.

#include <string_view>

#include <halfbridge/tensor.h>

namespace hb::detail {

/// What a function sees of a tensor that it may be called without. Any other undefined tensor is an error.
extern const Tensor absent __attribute__((visibility("hidden")));

inline bool is_missing(const Tensor& t) { return HB_UNLIKELY(!t.defined()) && &t != &absent; }
template <class T>
constexpr bool is_missing(const T&) {
  return false;
}
template <class... Args>
bool any_missing(const Args&... args) {
  return (is_missing(args) || ...);
}

/// The error of an undefined argument; `parameters`: names as the source has them, "self, dim, keepdim".
[[noreturn]] void fail_missing(const char* function, std::string_view parameters, size_t argument);

template <class... Args>
[[gnu::noinline, gnu::cold]] void fail_missing_of(const char* function, const char* parameters, const Args&... args) {
  size_t argument = 0;
  (void)((is_missing(args) || (++argument, false)) || ...);
  fail_missing(function, parameters, argument);
}

}  // namespace hb::detail
