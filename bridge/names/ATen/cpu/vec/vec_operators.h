#pragma once
// Operators and functions of at::vec::Vectorized. Included by vec_base.h.

namespace at::vec {
inline namespace CPU_CAPABILITY {

/// Either operand may be a number.
#define HB_VEC_WITH_NUMBERS(name)                   \
  template <class T>                                \
  Vectorized<T> name(const Vectorized<T>& a, T b) { \
    return name(a, Vectorized<T>(b));               \
  }                                                 \
  template <class T>                                \
  Vectorized<T> name(T a, const Vectorized<T>& b) { \
    return name(Vectorized<T>(a), b);               \
  }
#define HB_VEC_BINARY(name, expression)                                                          \
  template <class T>                                                                             \
  Vectorized<T> name(const Vectorized<T>& a, const Vectorized<T>& b) {                           \
    return Vectorized<T>::pairs(a, b, [](T x, T y) -> T { return static_cast<T>(expression); }); \
  }                                                                                              \
  HB_VEC_WITH_NUMBERS(name)
HB_VEC_BINARY(operator+, x + y)
HB_VEC_BINARY(operator-, x - y)
HB_VEC_BINARY(operator*, x* y)
HB_VEC_BINARY(operator/, x / y)
HB_VEC_BINARY(operator%, x % y)
HB_VEC_BINARY(operator||, x || y)
HB_VEC_BINARY(operator&&, x&& y)
#undef HB_VEC_BINARY

template <class T>
Vectorized<T> operator-(const Vectorized<T>& a) {
  return a.neg();
}

/// Of all bits, whatever the elements are.
#define HB_VEC_BITS(op)                                                       \
  template <class T>                                                          \
  Vectorized<T> operator op(const Vectorized<T>& a, const Vectorized<T>& b) { \
    uint64_t x[VECTOR_WIDTH / 8], y[VECTOR_WIDTH / 8];                        \
    std::memcpy(x, a.as_bytes(), VECTOR_WIDTH);                               \
    std::memcpy(y, b.as_bytes(), VECTOR_WIDTH);                               \
    for (int i = 0; i < VECTOR_WIDTH / 8; ++i) x[i] = x[i] op y[i];           \
    Vectorized<T> result;                                                     \
    std::memcpy(static_cast<void*>(&result), x, VECTOR_WIDTH);                \
    return result;                                                            \
  }                                                                           \
  HB_VEC_WITH_NUMBERS(operator op)
HB_VEC_BITS(&)
HB_VEC_BITS(|)
HB_VEC_BITS(^)
#undef HB_VEC_BITS
template <class T>
Vectorized<T> operator~(const Vectorized<T>& a) {
  Vectorized<T> ones;
  std::memset(static_cast<void*>(&ones), 0xFF, VECTOR_WIDTH);
  return a ^ ones;
}

/// Shifts by less than nothing or by all bits leave none, of negative numbers to the right the sign.
template <class T>
Vectorized<T> operator<<(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::pairs(a, b, [](T x, T shift) -> T {
    const bool leaves_none = static_cast<std::make_unsigned_t<T>>(shift) >= sizeof(T) * 8;
    return leaves_none ? T(0) : static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << shift);
  });
}
template <class T>
Vectorized<T> operator>>(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::pairs(a, b, [](T x, T shift) -> T {
    constexpr T most = sizeof(T) * 8 - std::is_signed_v<T>;
    const bool too_far = static_cast<std::make_unsigned_t<T>>(shift) >= static_cast<std::make_unsigned_t<T>>(most);
    if (too_far && !std::is_signed_v<T>) return T(0);
    return static_cast<T>(x >> (too_far ? most : shift));
  });
}

#define HB_VEC_ASSIGNMENT(op)                                               \
  template <class T>                                                        \
  Vectorized<T>& operator op##=(Vectorized<T>& a, const Vectorized<T>& b) { \
    return a = a op b;                                                      \
  }
HB_VEC_ASSIGNMENT(+)
HB_VEC_ASSIGNMENT(-)
HB_VEC_ASSIGNMENT(*)
HB_VEC_ASSIGNMENT(/)
HB_VEC_ASSIGNMENT(%)
HB_VEC_ASSIGNMENT(<<)
HB_VEC_ASSIGNMENT(>>)
#undef HB_VEC_ASSIGNMENT

/// The larger element, of complex numbers that of the larger magnitude. NaN if one of them is.
template <class T>
Vectorized<T> maximum(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::pairs(a, b, [](T x, T y) -> T {
    if constexpr (c10::is_complex<T>::value)
      return at::_isnan(x) || std::abs(x) > std::abs(y) ? x : y;
    else
      return at::_isnan(x) || x > y ? x : y;
  });
}
template <class T>
Vectorized<T> minimum(const Vectorized<T>& a, const Vectorized<T>& b) {
  return Vectorized<T>::pairs(a, b, [](T x, T y) -> T {
    if constexpr (c10::is_complex<T>::value)
      return at::_isnan(x) || std::abs(x) < std::abs(y) ? x : y;
    else
      return at::_isnan(x) || x < y ? x : y;
  });
}
HB_VEC_WITH_NUMBERS(maximum)
HB_VEC_WITH_NUMBERS(minimum)

template <class T>
Vectorized<T> clamp_max(const Vectorized<T>& a, const Vectorized<T>& most) {
  return Vectorized<T>::pairs(a, most, [](T x, T y) -> T { return x > y ? y : x; });
}
template <class T>
Vectorized<T> clamp_min(const Vectorized<T>& a, const Vectorized<T>& least) {
  return Vectorized<T>::pairs(a, least, [](T x, T y) -> T { return x < y ? y : x; });
}
template <class T>
Vectorized<T> clamp(const Vectorized<T>& a, const Vectorized<T>& least, const Vectorized<T>& most) {
  return clamp_max(clamp_min(a, least), most);
}
HB_VEC_WITH_NUMBERS(clamp_max)
HB_VEC_WITH_NUMBERS(clamp_min)

#define HB_VEC_TERNARY(name, expression)                                                       \
  template <class T>                                                                           \
  Vectorized<T> name(const Vectorized<T>& a, const Vectorized<T>& b, const Vectorized<T>& c) { \
    return expression;                                                                         \
  }
HB_VEC_TERNARY(fmadd, a* b + c)
HB_VEC_TERNARY(fmsub, a* b - c)
HB_VEC_TERNARY(fnmadd, -(a* b) + c)
HB_VEC_TERNARY(fnmsub, -(a* b) - c)
#undef HB_VEC_TERNARY

/// {a0, b0, a1, b1, …} and what follows it; deinterleave2 undoes it.
template <class T>
std::pair<Vectorized<T>, Vectorized<T>> interleave2(const Vectorized<T>& a, const Vectorized<T>& b) {
  constexpr int n = Vectorized<T>::size();
  T x[n], y[n], result[2 * n];
  a.store(x);
  b.store(y);
  for (int i = 0; i < n; ++i) result[2 * i] = x[i], result[2 * i + 1] = y[i];
  return {Vectorized<T>::loadu(result), Vectorized<T>::loadu(result + n)};
}
template <class T>
std::pair<Vectorized<T>, Vectorized<T>> deinterleave2(const Vectorized<T>& a, const Vectorized<T>& b) {
  constexpr int n = Vectorized<T>::size();
  T both[2 * n], even[n], odd[n];
  a.store(both);
  b.store(both + n);
  for (int i = 0; i < n; ++i) even[i] = both[2 * i], odd[i] = both[2 * i + 1];
  return {Vectorized<T>::loadu(even), Vectorized<T>::loadu(odd)};
}
template <class T>
Vectorized<T> flip(const Vectorized<T>& a) {
  T values[Vectorized<T>::size()];
  a.store(values);
  std::reverse(values, values + Vectorized<T>::size());
  return Vectorized<T>::loadu(values);
}

/// The numbers at base + index * scale bytes; with a mask those of `otherwise` where it is not set.
template <int64_t scale = 1, class T = void>
Vectorized<T> mask_gather(const Vectorized<T>& otherwise, const T* base, const Vectorized<int_same_size_t<T>>& index,
                          Vectorized<T>& mask) {
  T values[Vectorized<T>::size()];
  int_same_size_t<T> places[Vectorized<T>::size()];
  otherwise.store(values);
  index.store(places);
  for (int i = 0; i < Vectorized<T>::size(); ++i)
    if (mask.as_bytes()[i * sizeof(T)] & 1) values[i] = base[places[i] * scale / static_cast<int64_t>(sizeof(T))];
  mask = Vectorized<T>();
  return Vectorized<T>::loadu(values);
}
template <int64_t scale = 1, class T = void>
Vectorized<T> gather(const T* base, const Vectorized<int_same_size_t<T>>& index) {
  auto all = ~Vectorized<T>();
  return mask_gather<scale>(Vectorized<T>(), base, index, all);
}

/// Rows are columns of the result.
template <class T>
void transpose_mxn(const T* src, int64_t ld_src, T* dst, int64_t ld_dst, int m, int n) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) dst[j * ld_dst + i] = src[i * ld_src + j];
}
template <class T, int m, int n>
void transpose_mxn(const T* src, int64_t ld_src, T* dst, int64_t ld_dst) {
  transpose_mxn<T>(src, ld_src, dst, ld_dst, m, n);
}
#undef HB_VEC_WITH_NUMBERS

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
