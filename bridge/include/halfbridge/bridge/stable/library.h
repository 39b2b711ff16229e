#pragma once
// STABLE_TORCH_LIBRARY and its siblings: registrations of operators whose functions take and give torch::stable's
// types.

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <halfbridge/bridge/library.h>
#include <halfbridge/bridge/stable/tensor.h>

namespace hb::bridge::stable::detail {

/// How an argument or a result of type T, a value, goes between such a function (`T`) and the dispatcher (`type`).
template <class T>
struct Exchange {
  using type = T;
  static T in(T value) { return value; }
  static T out(T value) { return value; }
};
template <class T, class Engine>
struct ExchangeWrapped {
  using type = Engine;
  static T in(Engine value) { return T(std::move(value)); }
  static Engine out(const T& value) { return static_cast<Engine>(value); }
};
template <>
struct Exchange<Device> : ExchangeWrapped<Device, hb::Device> {};
template <>
struct Exchange<Tensor> {
  using type = hb::Tensor;
  static Tensor in(hb::Tensor value) { return Tensor(std::move(value)); }
  static hb::Tensor out(const Tensor& value) { return value.of_engine(); }
};
template <class T>
struct Exchange<std::optional<T>> {
  using type = std::optional<typename Exchange<T>::type>;
  static std::optional<T> in(type value) {
    return value ? std::optional<T>(Exchange<T>::in(*std::move(value))) : std::nullopt;
  }
  static type out(std::optional<T> value) { return value ? type(Exchange<T>::out(*std::move(value))) : std::nullopt; }
};
template <>
struct Exchange<std::vector<Tensor>> {
  using type = std::vector<hb::Tensor>;
  static std::vector<Tensor> in(type value) { return {value.begin(), value.end()}; }
  static type out(const std::vector<Tensor>& value) {
    type result;
    for (const Tensor& tensor : value) result.push_back(tensor.of_engine());
    return result;
  }
};
template <class... T>
struct Exchange<std::tuple<T...>> {
  using type = std::tuple<typename Exchange<T>::type...>;
  static type out(std::tuple<T...> value) {
    return std::apply([](auto&&... part) { return type(Exchange<T>::out(std::move(part))...); }, std::move(value));
  }
};

/// Function `f` with the signature that the engine's types give it.
template <auto f, class Signature = std::remove_pointer_t<decltype(f)>>
struct OfEngine;
template <auto f, class Result, class... Args>
struct OfEngine<f, Result(Args...)> {
  template <class T>
  using exchange = Exchange<std::decay_t<T>>;
  static typename exchange<Result>::type call(typename exchange<Args>::type... args) {
    std::tuple<std::decay_t<Args>...> values(exchange<Args>::in(std::move(args))...);
    return exchange<Result>::out(std::apply(f, values));
  }
};
template <auto f, class... Args>
struct OfEngine<f, void(Args...)> {
  static void call(typename Exchange<std::decay_t<Args>>::type... args) {
    std::tuple<std::decay_t<Args>...> values(Exchange<std::decay_t<Args>>::in(std::move(args))...);
    std::apply(f, values);
  }
};
/// And for the dispatcher: by way of a stack, so that an operator may be called with other C++ types than f's.
template <auto f>
struct Boxed {
  static void call(const OperatorHandle& op, jit::Stack* stack) {
    static const KernelFunction function = KernelFunction::wrap(&OfEngine<f>::call);
    function.callBoxed(op, DispatchKeySet(), stack);
  }
};

/// What the body of STABLE_TORCH_LIBRARY gets.
class StableLibrary {
 public:
  explicit StableLibrary(Library& library) : library_(library) {}
  StableLibrary& def(const char* schema) {
    library_.def(schema);
    return *this;
  }
  template <auto f>
  StableLibrary& impl(const char* name, Boxed<f> /*function*/) {
    library_.impl(name, CppFunction::makeFromBoxedFunction<&Boxed<f>::call>());
    return *this;
  }

 private:
  Library& library_;
};

}  // namespace hb::bridge::stable::detail

#define HB_STABLE_LIBRARY_NUMBERED(number, kind, ns, key, m)                                          \
  static void HB_LIBRARY_JOIN(hb_stable_body_, number)(::hb::bridge::stable::detail::StableLibrary&); \
  HB_LIBRARY_BODY(kind, ns, key, hb_library) {                                                        \
    ::hb::bridge::stable::detail::StableLibrary hb_stable(hb_library);                                \
    HB_LIBRARY_JOIN(hb_stable_body_, number)(hb_stable);                                              \
  }                                                                                                   \
  static void HB_LIBRARY_JOIN(hb_stable_body_, number)([[maybe_unused]] ::hb::bridge::stable::detail::StableLibrary & m)
#define HB_STABLE_LIBRARY(kind, ns, key, m) HB_STABLE_LIBRARY_NUMBERED(__COUNTER__, kind, ns, key, m)
