#pragma once
// How C++ types, values on a stack and types of the schema language turn into each other.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/bridge/dispatch/function_schema.h>
#include <halfbridge/bridge/dispatch/stack.h>
#include <halfbridge/dispatch_key_set.h>
#include <halfbridge/sym_int.h>

namespace hb::bridge::boxing {

// --- the schema language's name of a C++ type

template <class T>
struct TypeText {
  static_assert(
      sizeof(T) == 0,
      "an operator's arguments and results are Tensor, int64_t, double, bool, std::string, at::Scalar, at::ScalarType, "
      "at::Device, at::Layout, at::MemoryFormat, at::Generator, c10::SymInt, registered classes, and optionals, lists, "
      "dicts and tuples of them: use int64_t for other integers and double for float");
};
#define HB_TYPE_TEXT(Type, words)               \
  template <>                                   \
  struct TypeText<Type> {                       \
    static std::string text() { return words; } \
  };
HB_TYPE_TEXT(Tensor, "Tensor")
HB_TYPE_TEXT(int64_t, "int")
HB_TYPE_TEXT(SymInt, "SymInt")
HB_TYPE_TEXT(double, "float")
HB_TYPE_TEXT(bool, "bool")
HB_TYPE_TEXT(std::string, "str")
HB_TYPE_TEXT(std::string_view, "str")
HB_TYPE_TEXT(Scalar, "Scalar")
HB_TYPE_TEXT(Complex<double>, "complex")
HB_TYPE_TEXT(ScalarType, "ScalarType")
HB_TYPE_TEXT(Layout, "Layout")
HB_TYPE_TEXT(MemoryFormat, "MemoryFormat")
HB_TYPE_TEXT(Device, "Device")
HB_TYPE_TEXT(Generator, "Generator")
HB_TYPE_TEXT(IValue, "Any")
#undef HB_TYPE_TEXT
template <class T>
struct TypeText<std::optional<T>> {
  static std::string text() { return TypeText<T>::text() + "?"; }
};
template <class T>
struct TypeText<OptionalArrayRef<T>> {
  static std::string text() { return TypeText<T>::text() + "[]?"; }
};
template <class T>
struct TypeText<ArrayRef<T>> {
  static std::string text() { return TypeText<T>::text() + "[]"; }
};
template <class T>
struct TypeText<std::vector<T>> : TypeText<ArrayRef<T>> {};
template <class T>
struct TypeText<List<T>> : TypeText<ArrayRef<T>> {};
template <class T, size_t N>
struct TypeText<std::array<T, N>> : TypeText<ArrayRef<T>> {};
template <class Key, class Value>
struct TypeText<Dict<Key, Value>> {
  static std::string text() { return "Dict(" + TypeText<Key>::text() + ", " + TypeText<Value>::text() + ")"; }
};
template <class Key, class Value>
struct TypeText<std::unordered_map<Key, Value>> : TypeText<Dict<Key, Value>> {};
template <class T>
struct TypeText<intrusive_ptr<T>> {
  static std::string text() { return registered_type(typeid(T))->str(); }
};
template <class... Ts>
struct TypeText<std::tuple<Ts...>> {
  static std::string text() {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + TypeText<std::decay_t<Ts>>::text()), ...);
    return "(" + text + ")";
  }
};

/// The results of a function, one type each.
template <class R>
struct ResultTexts {
  static std::vector<std::string> texts() { return {TypeText<std::decay_t<R>>::text()}; }
};
template <>
struct ResultTexts<void> {
  static std::vector<std::string> texts() { return {}; }
};
template <class... Ts>
struct ResultTexts<std::tuple<Ts...>> {
  static std::vector<std::string> texts() { return {TypeText<std::decay_t<Ts>>::text()...}; }
};
/// Arguments and results are called _0, _1 and so on.
HB_API FunctionSchema schema_of_types(const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& results);

// --- a C++ value as an IValue

template <class T>
IValue value_of(const T& value) {
  return IValue(value);
}
template <class T>
IValue value_of(const ArrayRef<T>& values) {
  return IValue(values.vec());
}
template <class T>
IValue value_of(const OptionalArrayRef<T>& values) {
  return values.has_value() ? IValue(values->vec()) : IValue();
}
template <class T>
IValue value_of(const std::optional<ArrayRef<T>>& values) {
  return values ? IValue(values->vec()) : IValue();
}
template <class T, size_t N>
IValue value_of(const std::array<T, N>& values) {
  return IValue(std::vector<T>(values.begin(), values.end()));
}
inline IValue value_of(const SymInt& value) { return IValue(value.expect_int()); }
inline IValue value_of(const std::optional<SymInt>& value) { return value ? IValue(value->expect_int()) : IValue(); }

// --- an argument on the stack as what a function takes; the holder owns what the argument only refers to

template <class T>
struct Held {
  T value;
  explicit Held(const IValue& from) : value(from.to<T>()) {}
  T& get() { return value; }
};
template <>
struct Held<Tensor> {
  Tensor& value;  // the stack's own, which a function may change
  explicit Held(const IValue& from) : value(const_cast<Tensor&>(from.toTensor())) {}
  Tensor& get() { return value; }
};
template <class T>
struct Held<ArrayRef<T>> {
  std::vector<T> values;
  explicit Held(const IValue& from) : values(from.to<std::vector<T>>()) {}
  ArrayRef<T> get() { return values; }
};
template <class T>
struct Held<std::optional<ArrayRef<T>>> {
  std::optional<std::vector<T>> values;
  explicit Held(const IValue& from) : values(from.to<std::optional<std::vector<T>>>()) {}
  std::optional<ArrayRef<T>> get() { return values ? std::optional<ArrayRef<T>>(*values) : std::nullopt; }
};
template <class T>
struct Held<OptionalArrayRef<T>> : Held<std::optional<ArrayRef<T>>> {
  using Held<std::optional<ArrayRef<T>>>::Held;
  OptionalArrayRef<T> get() {
    if (this->values) return OptionalArrayRef<T>(ArrayRef<T>(*this->values));
    return std::nullopt;
  }
};
template <class T, size_t N>
struct Held<std::array<T, N>> {
  std::array<T, N> values{};
  explicit Held(const IValue& from) {
    const auto& items = from.toListRef();
    HB_CHECK(items.size() == N, "expected a list of ", N, " values, got ", items.size());
    for (size_t i = 0; i < N; ++i) values[i] = items[i].to<T>();
  }
  std::array<T, N>& get() { return values; }
};
template <class Key, class Value>
struct Held<std::unordered_map<Key, Value>> {
  std::unordered_map<Key, Value> values;
  explicit Held(const IValue& from) {
    for (const auto& entry : from.to<Dict<Key, Value>>()) values.emplace(entry.key(), entry.value());
  }
  std::unordered_map<Key, Value>& get() { return values; }
};

// --- results

template <class T>
void push_result(jit::Stack& stack, const T& result) {
  stack.push_back(value_of(result));
}
template <class... Ts>
void push_result(jit::Stack& stack, const std::tuple<Ts...>& results) {
  std::apply([&](const auto&... each) { (stack.push_back(value_of(each)), ...); }, results);
}
// References among results refer to arguments: the values themselves outlive those.
template <class T>
struct Owned {
  using type = std::decay_t<T>;
};
template <class... Ts>
struct Owned<std::tuple<Ts...>> {
  using type = std::tuple<std::decay_t<Ts>...>;
};

/// The results that a boxed function left on the stack, as a caller of C++ types expects them. `changed` are the
/// arguments of type Tensor&, which results of that type refer to.
template <class R>
struct Results {
  static R from(jit::Stack& stack, Tensor* const*, size_t, bool) {
    HB_CHECK(stack.size() == 1, "expected one result, got ", stack.size());
    return stack[0].to<std::decay_t<R>>();
  }
};
template <>
struct Results<void> {
  static void from(jit::Stack&, Tensor* const*, size_t, bool) {}
};
template <>
struct Results<Tensor&> {
  static Tensor& from(jit::Stack&, Tensor* const* changed, size_t count, bool first) {
    HB_CHECK(count > 0, "expected an argument of type Tensor& for a result of that type");
    return *changed[first ? 0 : count - 1];
  }
};
template <>
struct Results<const Tensor&> : Results<Tensor&> {};
template <class... Ts>
struct Results<std::tuple<Ts...>> {
  static std::tuple<Ts...> from(jit::Stack& stack, Tensor* const* changed, size_t count, bool) {
    return from(stack, changed, count, std::index_sequence_for<Ts...>());
  }

 private:
  template <size_t... at>
  static std::tuple<Ts...> from(jit::Stack& stack, Tensor* const* changed, size_t count, std::index_sequence<at...>) {
    constexpr size_t N = sizeof...(Ts);
    HB_CHECK(stack.size() == N, "expected ", N, " results, got ", stack.size());
    if constexpr ((std::is_same_v<Ts, Tensor&> && ...)) {
      HB_CHECK(count >= N, "expected an argument of type Tensor& for each result of that type");
      return std::tuple<Ts...>(*changed[count - N + at]...);
    } else {
      return std::tuple<Ts...>(stack[at].template to<std::decay_t<Ts>>()...);
    }
  }
};

// --- function types without symbolic integers: kernels and callers may differ in them

template <class T>
struct WithoutSym {
  using type = T;
};
template <>
struct WithoutSym<SymInt> {
  using type = int64_t;
};
template <>
struct WithoutSym<const SymInt&> {
  using type = int64_t;
};
template <>
struct WithoutSym<ArrayRef<SymInt>> {
  using type = ArrayRef<int64_t>;
};
template <>
struct WithoutSym<OptionalArrayRef<SymInt>> {
  using type = OptionalArrayRef<int64_t>;
};
template <>
struct WithoutSym<std::optional<SymInt>> {
  using type = std::optional<int64_t>;
};
template <class R, class... Args>
struct WithoutSym<R(Args...)> {
  using type = typename WithoutSym<R>::type(typename WithoutSym<Args>::type...);
};

// --- what a callable takes and returns; a leading DispatchKeySet is not an argument of the operator

template <class F>
struct SignatureOf : SignatureOf<decltype(&F::operator())> {};
template <class R, class... Args>
struct SignatureOf<R(Args...)> {
  using type = R(Args...);
  static constexpr bool takes_keys = false;
};
template <class R, class... Args>
struct SignatureOf<R(DispatchKeySet, Args...)> {
  using type = R(Args...);
  static constexpr bool takes_keys = true;
};
template <class R, class... Args>
struct SignatureOf<R (*)(Args...)> : SignatureOf<R(Args...)> {};
template <class R, class... Args>
struct SignatureOf<R (*)(Args...) noexcept> : SignatureOf<R(Args...)> {};
template <class C, class R, class... Args>
struct SignatureOf<R (C::*)(Args...)> : SignatureOf<R(Args...)> {};
template <class C, class R, class... Args>
struct SignatureOf<R (C::*)(Args...) const> : SignatureOf<R(Args...)> {};

template <class Signature>
struct SchemaOf;
template <class R, class... Args>
struct SchemaOf<R(Args...)> {
  static FunctionSchema schema() {
    return schema_of_types({TypeText<std::decay_t<Args>>::text()...}, ResultTexts<R>::texts());
  }
};

}  // namespace hb::bridge::boxing
