#pragma once

// The operators on tensors and numbers. tensor.h includes this at its end.
#include <halfbridge/tensor.h>

namespace hb {

#define HB_OPERATOR(op, name)                                                            \
  inline Tensor operator op(const Tensor& a, const Tensor& b) { return hb::name(a, b); } \
  inline Tensor operator op(const Tensor& a, const Scalar& b) { return hb::name(a, b); }
#define HB_COMMUTING_OPERATOR(op, name) \
  HB_OPERATOR(op, name)                 \
  inline Tensor operator op(const Scalar& a, const Tensor& b) { return hb::name(b, a); }
HB_COMMUTING_OPERATOR(+, add)
HB_COMMUTING_OPERATOR(*, mul)
HB_COMMUTING_OPERATOR(==, eq)
HB_COMMUTING_OPERATOR(!=, ne)
HB_COMMUTING_OPERATOR(&, bitwise_and)
HB_COMMUTING_OPERATOR(|, bitwise_or)
HB_COMMUTING_OPERATOR(^, bitwise_xor)
HB_OPERATOR(-, sub)
HB_OPERATOR(/, div)
HB_OPERATOR(%, remainder)
HB_OPERATOR(<, lt)
HB_OPERATOR(<=, le)
HB_OPERATOR(>, gt)
HB_OPERATOR(>=, ge)
#undef HB_OPERATOR
#undef HB_COMMUTING_OPERATOR
/// In b's dtype, as in LibTorch: 2.5 less integers is 2 less integers, and integers do not divide a number. rsub()
/// promotes.
HB_API Tensor operator-(const Scalar& a, const Tensor& b);
HB_API Tensor operator%(const Scalar& a, const Tensor& b);
HB_API Tensor operator/(const Scalar& a, const Tensor& b);
inline Tensor operator<(const Scalar& a, const Tensor& b) { return hb::gt(b, a); }
inline Tensor operator<=(const Scalar& a, const Tensor& b) { return hb::ge(b, a); }
inline Tensor operator>(const Scalar& a, const Tensor& b) { return hb::lt(b, a); }
inline Tensor operator>=(const Scalar& a, const Tensor& b) { return hb::le(b, a); }

}  // namespace hb
