#pragma once
// Loops over arrays of functions of at::vec::Vectorized, which may take them by a reference that is not const. Elements
// of half types go through float where the function takes floats, and reductions of them are floats.

#include <ATen/cpu/vec/vec.h>

#include <tuple>
#include <utility>

namespace at::vec {

template <class T>
using vec_scalar_t = computed_t<T>;

namespace detail {
/// The type of the vectors that `op` is called with.
template <class Op, class T, class... In>
using operand_t = std::conditional_t<is_reduced_floating_point_v<T> &&
                                         !std::is_invocable_v<Op, std::enable_if_t<sizeof(In) != 0, Vectorized<T>&>...>,
                                     float, T>;

template <class V, class T>
Vectorized<V> load_as(const T* from, int64_t count) {
  if constexpr (std::is_same_v<V, T>) {
    return Vectorized<V>::loadu(from, count);
  } else {
    V values[Vectorized<V>::size()] = {};
    convert(from, values, count);
    return Vectorized<V>::loadu(values);
  }
}
template <class V, class T>
void store_as(const Vectorized<V>& from, T* to, int64_t count) {
  if constexpr (std::is_same_v<V, T>) {
    from.store(to, static_cast<int>(count));
  } else {
    V values[Vectorized<V>::size()];
    from.store(values);
    convert(values, to, count);
  }
}

template <class Out, class Op, class... In>
void map_all(const Op& op, Out* out, int64_t size, const In*... in) {
  constexpr bool mixed = !(std::is_same_v<Out, In> && ...);
  using V = std::conditional_t<mixed, float, operand_t<Op, Out, In...>>;
  for (int64_t i = 0; i < size; i += Vectorized<V>::size()) {
    const int64_t count = std::min<int64_t>(size - i, Vectorized<V>::size());
    std::tuple<Vectorized<std::enable_if_t<sizeof(In) != 0, V>>...> vectors(load_as<V>(in + i, count)...);
    store_as<V>(Vectorized<V>(std::apply(op, vectors)), out + i, count);
  }
}

/// The vectors' elements one after the other into the first.
template <class V, class Op>
V reduce_lanes(const Op& op, const Vectorized<V>& all, int64_t count) {
  V values[Vectorized<V>::size()];
  all.store(values);
  Vectorized<V> result = all;
  for (int64_t i = 1; i < count; ++i) {
    V lane[Vectorized<V>::size()] = {values[i]};
    auto next = Vectorized<V>::loadu(lane);
    result = op(result, next);
  }
  result.store(values);
  return values[0];
}

template <class Map, class Reduce, class T, class... Other>
computed_t<T> map_reduce(const Map& map, const Reduce& reduce, int64_t size, const T* in, const Other*... others) {
  using V = computed_t<T>;
  using Vec = Vectorized<V>;
  const auto mapped = [&](int64_t i, int64_t count) -> Vec {
    std::tuple<Vec, Vectorized<std::enable_if_t<sizeof(Other) != 0, V>>...> vectors(load_as<V>(in + i, count),
                                                                                    load_as<V>(others + i, count)...);
    return std::apply(map, vectors);
  };
  const int64_t first = std::min<int64_t>(size, Vec::size());
  Vec result = mapped(0, first);
  for (int64_t i = Vec::size(); i < size; i += Vec::size()) {
    const int64_t count = std::min<int64_t>(size - i, Vec::size());
    Vec next = mapped(i, count);
    result = Vec::set(result, reduce(result, next), count);
  }
  return reduce_lanes<V>(reduce, result, first);
}
}  // namespace detail

template <class T, class Op>
T vec_reduce_all(const Op& op, Vectorized<T> all, int64_t size = Vectorized<T>::size()) {
  return detail::reduce_lanes<T>(op, all, size);
}
template <class T, class Op>
computed_t<T> reduce_all(const Op& op, const T* data, int64_t size) {
  return detail::map_reduce([](const auto& x) { return x; }, op, size, data);
}
template <class T, class Op1, class Op2>
std::pair<computed_t<T>, computed_t<T>> reduce2_all(const Op1& op1, const Op2& op2, const T* data, int64_t size) {
  return {reduce_all(op1, data, size), reduce_all(op2, data, size)};
}
template <class T, class Map, class Reduce>
computed_t<T> map_reduce_all(const Map& map, const Reduce& reduce, const T* data, int64_t size) {
  return detail::map_reduce(map, reduce, size, data);
}
template <class T, class Map, class Reduce>
computed_t<T> map2_reduce_all(const Map& map, const Reduce& reduce, const T* data, const T* data2, int64_t size) {
  return detail::map_reduce(map, reduce, size, data, data2);
}
template <class T, class Map, class Reduce>
computed_t<T> map3_reduce_all(const Map& map, const Reduce& reduce, const T* data, const T* data2, const T* data3,
                              int64_t size) {
  return detail::map_reduce(map, reduce, size, data, data2, data3);
}

/// out[i] = op(in[i]), for as many inputs as the name says.
template <class Out, class In, class Op>
void map(const Op& op, Out* out, const In* in, int64_t size) {
  detail::map_all(op, out, size, in);
}
template <class T, class Op>
void map2(const Op& op, T* out, const T* in, const T* in2, int64_t size) {
  detail::map_all(op, out, size, in, in2);
}
template <class T, class Op>
void map3(const Op& op, T* out, const T* in, const T* in2, const T* in3, int64_t size) {
  detail::map_all(op, out, size, in, in2, in3);
}
template <class T, class Op>
void map4(const Op& op, T* out, const T* in, const T* in2, const T* in3, const T* in4, int64_t size) {
  detail::map_all(op, out, size, in, in2, in3, in4);
}

}  // namespace at::vec
