#pragma once

#include <type_traits>
#include <utility>

#include <halfbridge/bridge/nn/fwd.h>

namespace hb::bridge::nn::detail {

struct ModuleHolderIndicator {};

template <class T>
using is_module = std::is_base_of<Module, std::decay_t<T>>;
template <class T>
using is_module_holder = std::is_base_of<ModuleHolderIndicator, std::decay_t<T>>;
template <class T, class U = void>
using enable_if_module_t = std::enable_if_t<is_module<T>::value, U>;
template <class T>
using disable_if_module_holder_t = std::enable_if_t<!is_module_holder<T>::value>;

template <class T, class Contained, class = void>
struct is_module_holder_of : std::false_type {};
template <class T, class Contained>
struct is_module_holder_of<T, Contained, std::enable_if_t<is_module_holder<T>::value>>
    : std::is_same<typename std::decay_t<T>::ContainedType, Contained> {};

// A struct, so that modules without a forward can be held too.
template <class M, class... Args>
struct return_type_of_forward {
  using type = decltype(std::declval<M&>().forward(std::declval<Args>()...));
};
template <class M, class... Args>
using return_type_of_forward_t = typename return_type_of_forward<M, Args...>::type;

template <class T, class = void>
struct has_plain_forward : std::false_type {};
template <class T>
struct has_plain_forward<T, std::void_t<decltype(&T::forward)>> : std::true_type {};

}  // namespace hb::bridge::nn::detail
