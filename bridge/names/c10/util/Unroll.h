#pragma once
// A loop of n turns that is written out: ForcedUnroll<n>{}(f, args...) calls f(i, args...), where i is an integral
// constant.

#include <type_traits>
#include <utility>

#include <c10/macros/Macros.h>

namespace c10 {
template <int n>
struct ForcedUnroll {
  template <typename Func, typename... Args>
  C10_ALWAYS_INLINE void operator()(const Func& f, Args... args) const {
    turns(std::make_integer_sequence<int, n>{}, f, args...);
  }

 private:
  template <int... i, typename Func, typename... Args>
  C10_ALWAYS_INLINE static void turns(std::integer_sequence<int, i...>, const Func& f, Args... args) {
    (f(std::integral_constant<int, i>{}, args...), ...);
  }
};
}  // namespace c10
