#pragma once
// Several Vectorized, for instance the floats that one Vectorized<BFloat16> holds.

#include <ATen/cpu/vec/vec_base.h>

#include <array>

namespace at::vec {
inline namespace CPU_CAPABILITY {

template <class T, int N>
class VectorizedN {
 public:
  using value_type = T;
  using size_type = int;
  static constexpr size_type size() { return Vectorized<T>::size() * N; }

  VectorizedN() = default;
  explicit VectorizedN(T value) { parts_.fill(Vectorized<T>(value)); }
  template <class... Part,
            typename = std::enable_if_t<sizeof...(Part) == N && (std::is_same_v<Part, Vectorized<T>> && ...)>>
  VectorizedN(const Part&... parts) : parts_{parts...} {}
  template <int L = N, typename = std::enable_if_t<L == 1>>
  operator Vectorized<T>() const {
    return parts_[0];
  }
  const Vectorized<T>& operator[](int i) const { return parts_[i]; }
  Vectorized<T>& operator[](int i) { return parts_[i]; }

  static VectorizedN loadu(const void* from) { return loadu(from, size()); }
  static VectorizedN loadu(const void* from, int64_t count) {
    alignas(VECTOR_WIDTH) T values[size()] = {};
    std::memcpy(static_cast<void*>(values), from, static_cast<size_t>(count) * sizeof(T));
    VectorizedN result;
    for (int i = 0; i < N; ++i) result[i] = Vectorized<T>::loadu(values + i * Vectorized<T>::size());
    return result;
  }
  void store(void* to, int count = size()) const {
    T values[size()];
    for (int i = 0; i < N; ++i) parts_[i].store(values + i * Vectorized<T>::size());
    std::memcpy(to, static_cast<const void*>(values), static_cast<size_t>(count) * sizeof(T));
  }

  /// f of each part, and of the parts of the others at the same place.
  template <class F, class... Other>
  VectorizedN each(F f, const Other&... other) const {
    VectorizedN result;
    for (int i = 0; i < N; ++i) result[i] = f(parts_[i], other[i]...);
    return result;
  }
#define HB_VEC_FUNCTION(name)                                     \
  VectorizedN name() const {                                      \
    return each([](const Vectorized<T>& x) { return x.name(); }); \
  }
  HB_VEC_FUNCTION(abs)
  HB_VEC_FUNCTION(ceil)
  HB_VEC_FUNCTION(cos)
  HB_VEC_FUNCTION(erf)
  HB_VEC_FUNCTION(exp)
  HB_VEC_FUNCTION(exp_u20)
  HB_VEC_FUNCTION(expm1)
  HB_VEC_FUNCTION(floor)
  HB_VEC_FUNCTION(log)
  HB_VEC_FUNCTION(log1p)
  HB_VEC_FUNCTION(neg)
  HB_VEC_FUNCTION(reciprocal)
  HB_VEC_FUNCTION(round)
  HB_VEC_FUNCTION(rsqrt)
  HB_VEC_FUNCTION(sin)
  HB_VEC_FUNCTION(sqrt)
  HB_VEC_FUNCTION(tanh)
  HB_VEC_FUNCTION(trunc)
#undef HB_VEC_FUNCTION

 private:
  std::array<Vectorized<T>, N> parts_;
};

#define HB_VEC_BINARY(op)                                                                    \
  template <class T, int N>                                                                  \
  VectorizedN<T, N> operator op(const VectorizedN<T, N>& a, const VectorizedN<T, N>& b) {    \
    return a.each([](const Vectorized<T>& x, const Vectorized<T>& y) { return x op y; }, b); \
  }
HB_VEC_BINARY(+)
HB_VEC_BINARY(-)
HB_VEC_BINARY(*)
HB_VEC_BINARY(/)
#undef HB_VEC_BINARY
template <class T, int N>
VectorizedN<T, N> maximum(const VectorizedN<T, N>& a, const VectorizedN<T, N>& b) {
  return a.each([](const Vectorized<T>& x, const Vectorized<T>& y) { return maximum(x, y); }, b);
}
template <class T, int N>
VectorizedN<T, N> minimum(const VectorizedN<T, N>& a, const VectorizedN<T, N>& b) {
  return a.each([](const Vectorized<T>& x, const Vectorized<T>& y) { return minimum(x, y); }, b);
}
template <class T, int N>
VectorizedN<T, N> fmadd(const VectorizedN<T, N>& a, const VectorizedN<T, N>& b, const VectorizedN<T, N>& c) {
  return a * b + c;
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
