#pragma once
// Halfbridge's functions as operators of the namespace aten. Tables of names (operators_*.def, written by
// tools/aten_operators.py) say what LibTorch calls each of them; types and schemas follow from the C++ types. An
// operator is registered when somebody first asks for it.

#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/bridge/dispatch/dispatcher.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/gradients.h>
#include <halfbridge/ops/special_polynomials.h>

namespace hb::bridge::aten {

/// What is registered.
struct Parts {
  KernelFunction function;
  std::optional<CppSignature> signature;
  std::vector<std::string> arguments, results;  // types in the schema language
};

struct Row {
  const char* name;
  const char* overload;
  const char* arguments;  // "self, dim[1], *, alpha=1"; the number: the length of a list that one value may stand for
  void (*describe)(Parts&);  // null where Halfbridge has no function of these types
};

/// Registers the operator if it is one of Halfbridge's and not registered yet.
void load(const OperatorName& name);
void load_overloads(const std::string& name);
void load_all();
/// Whether this thread is registering one of these now.
bool loading();

// --- from a row to what is registered

template <class Got, class Wanted>
constexpr bool gives() {
  if constexpr (std::is_same_v<Wanted, Tensor&>) return std::is_same_v<Got, Tensor&>;
  return std::is_same_v<std::decay_t<Got>, std::decay_t<Wanted>> &&
         !(std::is_reference_v<Wanted> && !std::is_reference_v<Got>);
}

template <class T>
std::string type_text(const char* changed) {
  return boxing::TypeText<std::decay_t<T>>::text() + (std::is_same_v<T, Tensor&> ? changed : "");
}

template <class Signature>
struct Made;
template <class R, class... A>
struct Made<R(A...)> {
  template <class F>
  static constexpr bool fits() {
    if constexpr (std::is_invocable_v<F, A...>) {
      return gives<std::invoke_result_t<F, A...>, R>();
    } else {
      return false;
    }
  }
  /// A function pointer, so that all operators of one signature share their code for calls on a stack.
  template <class F>
  static void describe(Parts& parts) {
    R (*const function)(A...) = [](A... a) -> R { return F{}(std::forward<A>(a)...); };
    parts.function = KernelFunction::wrap(function);
    parts.signature = CppSignature::make<R(A...)>();
    parts.arguments = {type_text<A>("(a!)")...};
    parts.results =
        std::is_same_v<R, Tensor&> ? std::vector<std::string>{"Tensor(a!)"} : boxing::ResultTexts<R>::texts();
  }
};

inline TensorOptions options_of(std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                std::optional<Device> device, std::optional<bool> pin_memory) {
  return TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory);
}

/// Calls F with TensorOptions in place of the last four arguments, which are their parts.
template <class F>
struct OfOptions {
  template <class... A>
  requires(sizeof...(A) >= 4) auto operator()(A&&... a) const {
    return call(std::make_index_sequence<sizeof...(A) - 4>(), std::forward_as_tuple(std::forward<A>(a)...));
  }
  template <size_t... I, class Args>
  static auto call(std::index_sequence<I...>, Args&& a) {
    constexpr size_t n = sizeof...(I);
    return F{}(std::get<I>(a)...,
               options_of(std::get<n>(a), std::get<n + 1>(a), std::get<n + 2>(a), std::get<n + 3>(a)));
  }
};
template <class Signature, class F>
struct TakesOptions : std::false_type {};
template <class R, class... A, class F>
requires(sizeof...(A) >= 4) struct TakesOptions<R(A...), F> {
  using Args = std::tuple<A...>;
  template <size_t N>
  using At = std::decay_t<std::tuple_element_t<sizeof...(A) - 4 + N, Args>>;
  template <size_t... I>
  static constexpr bool invocable(std::index_sequence<I...>) {
    return std::is_invocable_r_v<R, F, std::tuple_element_t<I, Args>..., TensorOptions>;
  }
  static constexpr bool find() {
    if constexpr (std::is_same_v<At<0>, std::optional<ScalarType>> && std::is_same_v<At<1>, std::optional<Layout>> &&
                  std::is_same_v<At<2>, std::optional<Device>> && std::is_same_v<At<3>, std::optional<bool>>)
      return invocable(std::make_index_sequence<sizeof...(A) - 4>());
    return false;
  }
  static constexpr bool value = find();
};

/// `Function` calls the function of the name, `Method` the method.
template <class Signature, class Function, class Method>
constexpr Row row(const char* name, const char* overload, const char* arguments, Function, Method) {
  using M = Made<Signature>;
  if constexpr (M::template fits<Function>()) {
    return {name, overload, arguments, &M::template describe<Function>};
  } else if constexpr (M::template fits<Method>()) {
    return {name, overload, arguments, &M::template describe<Method>};
  } else if constexpr (TakesOptions<Signature, Function>::value) {
    return {name, overload, arguments, &M::template describe<OfOptions<Function>>};
  } else if constexpr (TakesOptions<Signature, Method>::value) {
    return {name, overload, arguments, &M::template describe<OfOptions<Method>>};
  } else {
    return {name, overload, arguments, nullptr};
  }
}

}  // namespace hb::bridge::aten

#define HB_ATEN(name, overload, arguments, ...)                                              \
  bridge::aten::row<__VA_ARGS__>(                                                            \
      "aten::" #name, overload, arguments,                                                   \
      [](auto&&... a) -> decltype(name(std::forward<decltype(a)>(a)...)) {                   \
        return name(std::forward<decltype(a)>(a)...);                                        \
      },                                                                                     \
      [](auto&& self, auto&&... a) -> decltype(self.name(std::forward<decltype(a)>(a)...)) { \
        return self.name(std::forward<decltype(a)>(a)...);                                   \
      }),
