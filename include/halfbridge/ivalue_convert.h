// How an IValue becomes a T.
#pragma once

#include <halfbridge/ivalue.h>

namespace hb::ivalue {

template <typename T>
struct Convert;
template <>
struct Convert<IValue> {
  static IValue from(const IValue& value) { return value; }
};
template <>
struct Convert<Tensor> {
  static Tensor from(const IValue& value) { return value.toTensor(); }
};
template <>
struct Convert<double> {
  static double from(const IValue& value) { return value.toDouble(); }
};
template <>
struct Convert<Complex<double>> {
  static Complex<double> from(const IValue& value) { return value.toComplexDouble(); }
};
template <typename T>
struct ConvertInteger {
  static T from(const IValue& value) { return static_cast<T>(value.toInt()); }
};
template <>
struct Convert<int64_t> : ConvertInteger<int64_t> {};
template <>
struct Convert<int32_t> : ConvertInteger<int32_t> {};
template <>
struct Convert<int16_t> : ConvertInteger<int16_t> {};
template <>
struct Convert<int8_t> : ConvertInteger<int8_t> {};
template <>
struct Convert<uint64_t> : ConvertInteger<uint64_t> {};
template <>
struct Convert<uint32_t> : ConvertInteger<uint32_t> {};
template <>
struct Convert<uint16_t> : ConvertInteger<uint16_t> {};
template <>
struct Convert<uint8_t> : ConvertInteger<uint8_t> {};
template <>
struct Convert<SymInt> : ConvertInteger<SymInt> {};
template <>
struct Convert<bool> {
  static bool from(const IValue& value) { return value.toBool(); }
};
template <>
struct Convert<std::string> {
  static std::string from(const IValue& value) { return value.toStringRef(); }
};
template <>
struct Convert<std::string_view> {
  static std::string_view from(const IValue& value) { return value.toStringView(); }
};
template <>
struct Convert<float> {
  static float from(const IValue& value) { return static_cast<float>(value.toDouble()); }
};
template <>
struct Convert<Scalar> {
  static Scalar from(const IValue& value) { return value.toScalar(); }
};
template <>
struct Convert<std::shared_ptr<ConstantString>> {
  static std::shared_ptr<ConstantString> from(const IValue& value) { return value.toString(); }
};
template <>
struct Convert<Generator> {
  static Generator from(const IValue& value) { return value.toGenerator(); }
};
template <>
struct Convert<Storage> {
  static Storage from(const IValue& value) { return value.toStorage(); }
};
template <>
struct Convert<ScalarType> {
  static ScalarType from(const IValue& value) { return value.toScalarType(); }
};
template <>
struct Convert<Layout> {
  static Layout from(const IValue& value) { return value.toLayout(); }
};
template <>
struct Convert<MemoryFormat> {
  static MemoryFormat from(const IValue& value) { return value.toMemoryFormat(); }
};
template <typename T>
struct Convert<intrusive_ptr<T>> {
  static intrusive_ptr<T> from(const IValue& value) { return value.toCustomClass<T>(); }
};
template <>
struct Convert<Device> {
  static Device from(const IValue& value) { return value.toDevice(); }
};
template <typename T>
struct Convert<List<T>> {
  static List<T> from(const IValue& value) { return List<T>(list_of(value)); }
};
template <typename T>
struct Convert<std::vector<T>> {
  static std::vector<T> from(const IValue& value) { return List<T>(list_of(value)).vec(); }
};
template <typename T, size_t N>
struct Convert<std::array<T, N>> {
  static std::array<T, N> from(const IValue& value) {
    const std::vector<T> items = List<T>(list_of(value)).vec();
    HB_CHECK(items.size() == N, "[IValue::to] Tried to convert a List with ", items.size(),
             " elements to a fixed-size array of size ", N);
    std::array<T, N> result;
    for (size_t i = 0; i < N; ++i) result[i] = items[i];
    return result;
  }
};
template <typename Key, typename Value>
struct Convert<Dict<Key, Value>> {
  static Dict<Key, Value> from(const IValue& value) { return Dict<Key, Value>(dict_of(value)); }
};
template <typename T>
struct Convert<std::optional<T>> {
  static std::optional<T> from(const IValue& value) {
    if (value.isNone()) return std::nullopt;
    return Convert<T>::from(value);
  }
};
template <typename Key, typename Value>
struct Convert<std::unordered_map<Key, Value>> {
  static std::unordered_map<Key, Value> from(const IValue& value) {
    std::unordered_map<Key, Value> map;
    for (const auto& entry : Dict<Key, Value>(dict_of(value))) map[entry.key()] = entry.value();
    return map;
  }
};
template <typename... Ts>
struct Convert<std::tuple<Ts...>> {
  static std::tuple<Ts...> from(const IValue& value) { return from(value, std::index_sequence_for<Ts...>()); }

 private:
  template <size_t... at>
  static std::tuple<Ts...> from(const IValue& value, std::index_sequence<at...>) {
    const auto& elements = value.toTupleRef().elements();
    HB_CHECK(elements.size() == sizeof...(Ts), "[IValue::to] expected a tuple of ", sizeof...(Ts), " values, got ",
             elements.size());
    return {Convert<Ts>::from(elements[at])...};
  }
};

}  // namespace hb::ivalue
