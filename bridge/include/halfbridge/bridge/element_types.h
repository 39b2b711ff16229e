#pragma once
// What kernels written for ATen ask about types and dimensions.

#include <complex>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <type_traits>

#include <halfbridge/dtype.h>
#include <halfbridge/error.h>
#include <halfbridge/half.h>

namespace hb {
/// As floats; without these a half would print as any of the types that it converts to.
inline std::ostream& operator<<(std::ostream& out, const Half& value) { return out << static_cast<float>(value); }
inline std::ostream& operator<<(std::ostream& out, const BFloat16& value) { return out << static_cast<float>(value); }
}  // namespace hb

namespace hb::bridge {

namespace detail {
template <class T>
struct OpMath {
  using type = T;
};
template <>
struct OpMath<Half> {
  using type = float;
};
template <>
struct OpMath<BFloat16> {
  using type = float;
};
template <class T, bool is_cuda>
struct Accumulated {
  using type = std::conditional_t<std::is_integral_v<T>, int64_t, std::conditional_t<is_cuda, T, double>>;
};
template <bool is_cuda>
struct Accumulated<Half, is_cuda> {
  using type = float;
};
template <bool is_cuda>
struct Accumulated<BFloat16, is_cuda> {
  using type = float;
};
}  // namespace detail

inline namespace api {

/// The type in which values of T are computed.
template <class T>
using opmath_type = typename detail::OpMath<T>::type;
/// The type in which values of T are summed.
template <class T, bool is_cuda>
using acc_type = typename detail::Accumulated<T, is_cuda>::type;

/// The type of the parts of complex numbers; of other numbers their own.
template <class T>
struct scalar_value_type {
  using type = T;
};
template <class T>
struct scalar_value_type<std::complex<T>> {
  using type = T;
};
template <class T>
struct scalar_value_type<Complex<T>> {
  using type = T;
};

/// The dtype of the C++ type T: `value`, or an object of this type itself.
template <class T>
struct CppTypeToScalarType : std::integral_constant<ScalarType, dtype_of<T>::value> {};

/// `dim` counted from the front; throws IndexError if a tensor of `dim_post_expr` dimensions has none such.
inline int64_t maybe_wrap_dim(int64_t dim, int64_t dim_post_expr, bool wrap_scalar = true) {
  const int64_t n = dim_post_expr == 0 && wrap_scalar ? 1 : dim_post_expr;
  HB_CHECK_INDEX(dim >= -n && dim < n, "Dimension out of range (expected to be in range of [", -n, ", ", n - 1,
                 "], but got ", dim, ")");
  return dim < 0 ? dim + n : dim;
}

template <class Container>
int64_t multiply_integers(const Container& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{1},
                         [](int64_t a, int64_t b) { return a * static_cast<int64_t>(b); });
}

}  // namespace api
}  // namespace hb::bridge
