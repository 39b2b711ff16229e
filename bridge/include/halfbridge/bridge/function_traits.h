#pragma once
// <c10/util/Metaprogramming.h>: the types in a function's signature.

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace hb::bridge::signatures {

template <class... Types>
struct typelist {};

template <class List>
struct size;
template <class... Types>
struct size<typelist<Types...>> : std::integral_constant<size_t, sizeof...(Types)> {};

template <class List>
struct to_tuple;
template <class... Types>
struct to_tuple<typelist<Types...>> {
  using type = std::tuple<Types...>;
};
template <class List>
using to_tuple_t = typename to_tuple<List>::type;

template <size_t N, class List>
struct element;
template <size_t N, class... Types>
struct element<N, typelist<Types...>> : std::tuple_element<N, std::tuple<Types...>> {};
template <size_t N, class List>
using element_t = typename element<N, List>::type;
template <class List>
using head_t = element_t<0, List>;

/// Of a plain function type: R(Args...).
template <class Function>
struct function_traits {
  static_assert(std::is_function_v<Function>, "function_traits expects a function type, as int(float)");
};
template <class R, class... Args>
struct function_traits<R(Args...)> {
  using func_type = R(Args...);
  using return_type = R;
  using parameter_types = typelist<Args...>;
  static constexpr size_t number_of_parameters = sizeof...(Args);
};

/// Of whatever can be called: a function, a pointer to one, a lambda.
template <class Callable>
struct infer_function_traits : infer_function_traits<decltype(&Callable::operator())> {};
template <class R, class... Args>
struct infer_function_traits<R(Args...)> {
  using type = function_traits<R(Args...)>;
};
template <class R, class... Args>
struct infer_function_traits<R (*)(Args...)> : infer_function_traits<R(Args...)> {};
template <class C, class R, class... Args>
struct infer_function_traits<R (C::*)(Args...)> : infer_function_traits<R(Args...)> {};
template <class C, class R, class... Args>
struct infer_function_traits<R (C::*)(Args...) const> : infer_function_traits<R(Args...)> {};
template <class Callable>
using infer_function_traits_t = typename infer_function_traits<Callable>::type;

template <class R, class Args>
struct make_function_traits;
template <class R, class... Args>
struct make_function_traits<R, typelist<Args...>> {
  using type = function_traits<R(Args...)>;
};
template <class R, class Args>
using make_function_traits_t = typename make_function_traits<R, Args>::type;

template <class T>
using is_function_type = std::is_function<T>;

template <class T, class = void>
struct is_functor : std::false_type {};
template <class T>
struct is_functor<T, std::void_t<decltype(&T::operator())>> : std::true_type {};

}  // namespace hb::bridge::signatures
