#pragma once
// Conversions of Vectorized: to other dtypes, of the bits, of half types from and to float.

#include <ATen/cpu/vec/vec_base.h>
#include <ATen/cpu/vec/vec_n.h>

#include <tuple>

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// The same bits, as elements of another type.
template <class To, class From>
Vectorized<To> cast(const Vectorized<From>& from) {
  Vectorized<To> result;
  std::memcpy(static_cast<void*>(&result), from.as_bytes(), VECTOR_WIDTH);
  return result;
}

/// As many elements as both hold; the others are 0.
template <class To, int to_n, class From, int from_n, bool keep = false>
std::conditional_t<to_n == 1 && !keep, Vectorized<To>, VectorizedN<To, to_n>> convert(
    const VectorizedN<From, from_n>& from) {
  using Result = VectorizedN<To, to_n>;
  From source[VectorizedN<From, from_n>::size()];
  To values[Result::size()] = {};
  from.store(source);
  for (int i = 0; i < std::min(Result::size(), VectorizedN<From, from_n>::size()); ++i)
    values[i] = static_cast<To>(source[i]);
  return Result::loadu(values);
}
template <class To, class From>
Vectorized<To> convert(const Vectorized<From>& from) {
  return convert<To, 1, From, 1>(VectorizedN<From, 1>(from));
}
template <class From, class To>
void convert(const From* from, To* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
}
template <class T, class Int = int_same_size_t<T>>
Vectorized<Int> convert_to_int_of_same_size(const Vectorized<T>& from) {
  return convert<Int>(from);
}
template <class T, class Int = int_same_size_t<T>>
Vectorized<T> convert_to_fp_of_same_size(const Vectorized<Int>& from) {
  return convert<T>(from);
}

}  // namespace CPU_CAPABILITY

/// The floats of a vector of a half type, in two halves, and back.
template <class T, typename = std::enable_if_t<is_reduced_floating_point_v<T>>>
std::tuple<Vectorized<float>, Vectorized<float>> convert_to_float(const Vectorized<T>& from) {
  const auto both = convert<float, 2, T, 1>(VectorizedN<T, 1>(from));
  return {both[0], both[1]};
}
template <class T, typename = std::enable_if_t<is_reduced_floating_point_v<T>>>
Vectorized<T> convert_from_float(const Vectorized<float>& a, const Vectorized<float>& b) {
  return convert<T, 1, float, 2>(VectorizedN<float, 2>(a, b));
}
inline auto convert_bfloat16_float(const Vectorized<c10::BFloat16>& from) { return convert_to_float(from); }
inline auto convert_half_float(const Vectorized<c10::Half>& from) { return convert_to_float(from); }
inline Vectorized<c10::BFloat16> convert_float_bfloat16(const Vectorized<float>& a, const Vectorized<float>& b) {
  return convert_from_float<c10::BFloat16>(a, b);
}
inline Vectorized<c10::Half> convert_float_half(const Vectorized<float>& a, const Vectorized<float>& b) {
  return convert_from_float<c10::Half>(a, b);
}

template <class T, typename = std::enable_if_t<is_reduced_floating_point_v<T>>>
void load_to_float(const T* from, Vectorized<float>& out) {
  float values[Vectorized<float>::size()];
  convert(from, values, Vectorized<float>::size());
  out = Vectorized<float>::loadu(values);
}
template <class T, typename = std::enable_if_t<is_reduced_floating_point_v<T>>>
void load_to_float(const T* from, Vectorized<float>& out1, Vectorized<float>& out2) {
  load_to_float(from, out1);
  load_to_float(from + Vectorized<float>::size(), out2);
}
template <class... Out>
void load_fp32_from_bf16(const c10::BFloat16* from, Out&... out) {
  load_to_float(from, out...);
}
template <class... Out>
void load_fp32_from_fp16(const c10::Half* from, Out&... out) {
  load_to_float(from, out...);
}

}  // namespace at::vec
