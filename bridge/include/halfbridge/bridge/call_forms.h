#pragma once
// The other forms in which LibTorch has functions: name_outf(…, out) with the out tensors last, name_symint(…) with
// sizes as SymInt. They are templates of one line each, which cost a program nothing that does not call them; so lists
// in braces need a type in such a call: IntArrayRef({2, 3}).

#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/bridge/inner_functions.h>
#include <halfbridge/bridge/nn/embedding.h>
#include <halfbridge/bridge/nn/fractional_pool.h>
#include <halfbridge/bridge/underscored.h>
#include <halfbridge/bridge/underscored_gradients.h>
#include <halfbridge/bridge/utility.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/gradient_out_forms.h>
#include <halfbridge/ops/rare_forms.h>
#include <halfbridge/sym_int.h>

namespace hb::bridge {
namespace call_forms {

// f(outs…, inputs…) from (inputs…, outs…), where the last `n` are outs. Inputs are const, so that no function takes one
// for an out tensor.
template <size_t n, class F, class All, size_t... in, size_t... out>
auto call(const F& f, All& all, std::index_sequence<in...>, std::index_sequence<out...>)
    -> decltype(f(std::get<sizeof...(in) + out>(all)..., std::as_const(std::get<in>(all))...)) {
  return f(std::get<sizeof...(in) + out>(all)..., std::as_const(std::get<in>(all))...);
}
template <size_t n, class F, class... Args>
auto call(const F& f, std::tuple<Args&...>& all)
    -> decltype(call<n>(f, all, std::make_index_sequence<sizeof...(Args) - n>(), std::make_index_sequence<n>())) {
  return call<n>(f, all, std::make_index_sequence<sizeof...(Args) - n>(), std::make_index_sequence<n>());
}
template <class Void, size_t n, class F, class... Args>
inline constexpr bool callable = false;
template <size_t n, class F, class... Args>
inline constexpr bool callable<
    std::void_t<decltype(call<n>(std::declval<const F&>(), std::declval<std::tuple<Args&...>&>()))>, n, F, Args...> =
    true;

/// With as few outs as there is a function for.
template <size_t n, class F, class... Args>
decltype(auto) outs_first(const F& f, Args&... args) {
  static_assert(n < sizeof...(Args), "expected the arguments of a name_out, its out tensors last");
  if constexpr (callable<void, n, F, Args...>) {
    std::tuple<Args&...> all(args...);
    return call<n>(f, all);
  } else {
    return outs_first<n + 1>(f, args...);
  }
}

template <class Result>
inline constexpr size_t results = 1;
template <class... Results>
inline constexpr size_t results<std::tuple<Results...>> = sizeof...(Results);
template <size_t n, class F, class... Inputs>
using if_results = std::enable_if_t<results<decltype(std::declval<const F&>()(std::declval<const Inputs&>()...))> == n>;

// Writes what f(inputs…) gives to as many outs.
template <class F, class... Inputs, class = if_results<1, F, Inputs...>>
Tensor& write(const char* name, const F& f, Tensor& out, const Inputs&... inputs) {
  ops::OutScope scope;
  return ops::write_out(name, out, f(inputs...));
}
template <class F, class... Inputs, class = if_results<2, F, Inputs...>>
std::tuple<Tensor&, Tensor&> write(const char* name, const F& f, Tensor& out0, Tensor& out1, const Inputs&... inputs) {
  ops::OutScope scope;
  const auto r = f(inputs...);
  return {ops::write_out(name, out0, std::get<0>(r)), ops::write_out(name, out1, std::get<1>(r))};
}
template <class F, class... Inputs, class = if_results<3, F, Inputs...>>
std::tuple<Tensor&, Tensor&, Tensor&> write(const char* name, const F& f, Tensor& out0, Tensor& out1, Tensor& out2,
                                            const Inputs&... inputs) {
  ops::OutScope scope;
  const auto r = f(inputs...);
  return {ops::write_out(name, out0, std::get<0>(r)), ops::write_out(name, out1, std::get<1>(r)),
          ops::write_out(name, out2, std::get<2>(r))};
}
template <class F, class... Inputs, class = if_results<4, F, Inputs...>>
std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> write(const char* name, const F& f, Tensor& out0, Tensor& out1,
                                                     Tensor& out2, Tensor& out3, const Inputs&... inputs) {
  ops::OutScope scope;
  const auto r = f(inputs...);
  return {ops::write_out(name, out0, std::get<0>(r)), ops::write_out(name, out1, std::get<1>(r)),
          ops::write_out(name, out2, std::get<2>(r)), ops::write_out(name, out3, std::get<3>(r))};
}

/// Numbers of SymInts; anything else as it is.
template <class T>
T&& plain(T&& value) {
  return std::forward<T>(value);
}
inline int64_t plain(const SymInt& value) { return value.expect_int(); }
inline int64_t plain(SymInt& value) { return value.expect_int(); }
inline int64_t plain(SymInt&& value) { return value.expect_int(); }
inline IntArrayRef plain(const SymIntArrayRef& sizes) {
  return {reinterpret_cast<const int64_t*>(sizes.data()), sizes.size()};
}
inline IntArrayRef plain(SymIntArrayRef& sizes) { return plain(std::as_const(sizes)); }
inline IntArrayRef plain(SymIntArrayRef&& sizes) { return plain(std::as_const(sizes)); }
inline IntArrayRef plain(const std::vector<SymInt>& sizes) { return plain(SymIntArrayRef(sizes)); }
inline IntArrayRef plain(std::vector<SymInt>& sizes) { return plain(SymIntArrayRef(sizes)); }
inline std::optional<int64_t> plain(const std::optional<SymInt>& value) {
  return value ? std::optional<int64_t>(value->expect_int()) : std::nullopt;
}
inline std::optional<int64_t> plain(std::optional<SymInt>& value) { return plain(std::as_const(value)); }
inline std::optional<int64_t> plain(std::optional<SymInt>&& value) { return plain(std::as_const(value)); }

// The functions that HB_WRITTEN lists, as objects.
#define HB_OUT_LAST(name)
#define HB_WRITTEN(name)                                                    \
  struct name##_written {                                                   \
    template <class... Args>                                                \
    auto operator()(const Args&... args) const -> decltype(name(args...)) { \
      return name(args...);                                                 \
    }                                                                       \
  };
#define HB_SYMINT(name)
#define HB_SYMINT_OUT(name)
#include <halfbridge/bridge/call_forms.def>

}  // namespace call_forms

inline namespace api {

#define HB_OUT_LAST(name)                                                                              \
  template <class... Args>                                                                             \
  decltype(auto) name##_outf(Args&&... args) {                                                         \
    const auto out_first = [](auto&&... x) -> decltype(name##_out(x...)) { return name##_out(x...); }; \
    return call_forms::outs_first<1>(out_first, args...);                                              \
  }
#define HB_WRITTEN(name)                                                                 \
  template <class... Args>                                                               \
  auto name##_out(Tensor& out, Args&&... args)                                           \
      ->decltype(call_forms::write(#name, call_forms::name##_written(), out, args...)) { \
    return call_forms::write(#name, call_forms::name##_written(), out, args...);         \
  }                                                                                      \
  HB_OUT_LAST(name)
#define HB_SYMINT(name)                                          \
  template <class... Args>                                       \
  decltype(auto) name##_symint(Args&&... args) {                 \
    return name(call_forms::plain(std::forward<Args>(args))...); \
  }
#define HB_SYMINT_OUT(name)                                             \
  template <class... Args>                                              \
  decltype(auto) name##_symint_out(Args&&... args) {                    \
    return name##_out(call_forms::plain(std::forward<Args>(args))...);  \
  }                                                                     \
  template <class... Args>                                              \
  decltype(auto) name##_symint_outf(Args&&... args) {                   \
    return name##_outf(call_forms::plain(std::forward<Args>(args))...); \
  }
#include <halfbridge/bridge/call_forms.def>

// Sizes in braces, which fit no parameter of a template.
#define HB_SYMINT_BRACES(name)                                                         \
  template <class... Args>                                                             \
  Tensor name##_symint(std::initializer_list<SymInt> size, Args&&... args) {           \
    return name(call_forms::plain(SymIntArrayRef(size)), std::forward<Args>(args)...); \
  }
HB_SYMINT_BRACES(empty)
HB_SYMINT_BRACES(full)
HB_SYMINT_BRACES(ones)
HB_SYMINT_BRACES(rand)
HB_SYMINT_BRACES(randn)
HB_SYMINT_BRACES(zeros)
#undef HB_SYMINT_BRACES

}  // namespace api
}  // namespace hb::bridge
