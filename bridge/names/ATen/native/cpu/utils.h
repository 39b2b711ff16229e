#pragma once
// What kernels of extensions take from LibTorch's own: counters of several dimensions, vectors of any floating-point
// dtype as floats, transposition.

#include <ATen/Parallel.h>
#include <ATen/cpu/vec/vec.h>

#include <tuple>
#include <utility>

namespace at::native {

/// Counters of nested loops for the offset-th turn: data_index_init(offset, n, N, c, C).
template <typename T>
T data_index_init(T offset) {
  return offset;
}
template <typename T, typename... Args>
T data_index_init(T offset, T& x, const T& X, Args&&... args) {
  offset = data_index_init(offset, std::forward<Args>(args)...);
  x = offset % X;
  return offset / X;
}
/// The next turn; true after the last one.
inline bool data_index_step() { return true; }
template <typename T, typename... Args>
bool data_index_step(T& x, const T& X, Args&&... args) {
  if (!data_index_step(std::forward<Args>(args)...)) return false;
  x = x + 1 == X ? T(0) : static_cast<T>(x + 1);
  return x == 0;
}

/// Floats in two vectors: as many as a vector of a half type has elements. `count` of them, if it is given.
template <typename T>
std::tuple<vec::Vectorized<float>, vec::Vectorized<float>> load2f(const T* from,
                                                                  int64_t count = 2 * vec::Vectorized<float>::size()) {
  float values[2 * vec::Vectorized<float>::size()] = {};
  vec::convert(from, values, count);
  return {vec::Vectorized<float>::loadu(values),
          vec::Vectorized<float>::loadu(values + vec::Vectorized<float>::size())};
}

struct Vec2 {
  vec::Vectorized<float> val0, val1;
  Vec2(vec::Vectorized<float> a, vec::Vectorized<float> b) : val0(a), val1(b) {}
  Vec2(float value) : val0(value), val1(value) {}
  template <typename T>
  static Vec2 loadu(const T* from) {
    const auto [a, b] = load2f(from);
    return {a, b};
  }
  template <typename T>
  void store(T* to) const {
    float values[2 * vec::Vectorized<float>::size()];
    val0.store(values);
    val1.store(values + vec::Vectorized<float>::size());
    vec::convert(values, to, 2 * vec::Vectorized<float>::size());
  }
};
inline Vec2 operator+(const Vec2& a, const Vec2& b) { return {a.val0 + b.val0, a.val1 + b.val1}; }
inline Vec2 operator-(const Vec2& a, const Vec2& b) { return {a.val0 - b.val0, a.val1 - b.val1}; }
inline Vec2 operator*(const Vec2& a, const Vec2& b) { return {a.val0 * b.val0, a.val1 * b.val1}; }
inline Vec2 operator/(const Vec2& a, const Vec2& b) { return {a.val0 / b.val0, a.val1 / b.val1}; }
inline Vec2 maximum(const Vec2& a, const Vec2& b) {
  return {vec::maximum(a.val0, b.val0), vec::maximum(a.val1, b.val1)};
}
inline Vec2 minimum(const Vec2& a, const Vec2& b) {
  return {vec::minimum(a.val0, b.val0), vec::minimum(a.val1, b.val1)};
}
template <typename T>
using VecType = std::conditional_t<vec::is_reduced_floating_point_v<T>, Vec2, vec::Vectorized<T>>;

namespace utils {
template <typename T>
T CeilLog2(const T& x) {
  T result = 1;
  while (result < T(sizeof(T) * 8) && (static_cast<uint64_t>(1) << result) < static_cast<uint64_t>(x)) ++result;
  return result;
}
template <typename T>
void transpose(int64_t m, int64_t n, const T* src, int64_t ld_src, T* dst, int64_t ld_dst) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i) dst[j * ld_dst + i] = src[i * ld_src + j];
}
}  // namespace utils
}  // namespace at::native
