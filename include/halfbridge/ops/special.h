#pragma once
// Special functions: torch::special_* and torch::special::*. Integers are computed in the default floating dtype.

#include <halfbridge/ops/combine.h>

namespace hb {

// --- modified Bessel functions of the first kind; e: times exp(-|x|)
inline Tensor special_i0(const Tensor& self) { return i0(self); }
HB_API Tensor special_i0e(const Tensor& self);
HB_API Tensor special_i1(const Tensor& self);
HB_API Tensor special_i1e(const Tensor& self);
/// -x log(x); 0 at 0, -inf below.
HB_API Tensor special_entr(const Tensor& self);
/// exp(x^2) erfc(x).
HB_API Tensor special_erfcx(const Tensor& self);
/// The distribution function of the standard normal distribution, its logarithm and its inverse.
HB_API Tensor special_ndtr(const Tensor& self);
HB_API Tensor special_log_ndtr(const Tensor& self);
HB_API Tensor special_ndtri(const Tensor& self);
/// Hurwitz's zeta(self, other) = sum over k >= 0 of (k + other)^-self; the gradient is that of `other` alone.
HB_API Tensor special_zeta(const Tensor& self, const Tensor& other);
HB_API Tensor special_zeta(const Scalar& self, const Tensor& other);
HB_API Tensor special_zeta(const Tensor& self, const Scalar& other);
/// self log(1 + other); 0 where self is 0.
HB_API Tensor special_xlog1py(const Tensor& self, const Tensor& other);
HB_API Tensor special_xlog1py(const Scalar& self, const Tensor& other);
HB_API Tensor special_xlog1py(const Tensor& self, const Scalar& other);
/// x^(a-1) exp(-x) / Gamma(a): the derivative of igamma(a, x) in x.
HB_API Tensor gamma_density(const Tensor& a, const Tensor& x);
inline Tensor polygamma(int64_t n, const Tensor& self) { return polygamma(self, n); }
HB_API Tensor xlogy(const Scalar& self, const Tensor& other);

// --- torch::special's names of functions that exist
#define HB_SPECIAL_1(name, function) \
  inline Tensor special_##name(const Tensor& self) { return function(self); }
#define HB_SPECIAL_2(name, function) \
  inline Tensor special_##name(const Tensor& self, const Tensor& other) { return function(self, other); }
HB_SPECIAL_1(digamma, digamma)
HB_SPECIAL_1(psi, digamma)
HB_SPECIAL_1(erf, erf)
HB_SPECIAL_1(erfc, erfc)
HB_SPECIAL_1(erfinv, erfinv)
HB_SPECIAL_1(exp2, exp2)
HB_SPECIAL_1(expit, sigmoid)
HB_SPECIAL_1(expm1, expm1)
HB_SPECIAL_1(gammaln, lgamma)
HB_SPECIAL_1(log1p, log1p)
HB_SPECIAL_1(sinc, sinc)
HB_SPECIAL_2(gammainc, igamma)
HB_SPECIAL_2(gammaincc, igammac)
HB_SPECIAL_2(xlogy, xlogy)
#undef HB_SPECIAL_1
#undef HB_SPECIAL_2
inline Tensor special_xlogy(const Scalar& self, const Tensor& other) { return xlogy(self, other); }
inline Tensor special_xlogy(const Tensor& self, const Scalar& other) { return xlogy(self, other); }
inline Tensor special_logit(const Tensor& self, std::optional<double> eps = std::nullopt) { return logit(self, eps); }
inline Tensor special_round(const Tensor& self, int64_t decimals = 0) { return round(self, decimals); }
inline Tensor special_polygamma(int64_t n, const Tensor& self) { return polygamma(self, n); }
inline Tensor special_multigammaln(const Tensor& self, int64_t p) { return mvlgamma(self, p); }
inline Tensor special_logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  return logsumexp(self, dim, keepdim);
}
inline Tensor special_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt) {
  return softmax(self, dim, dtype);
}
inline Tensor special_log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt) {
  return log_softmax(self, dim, dtype);
}

}  // namespace hb

namespace hb::special_functions {

using hb::digamma;
using hb::erf;
using hb::erfc;
using hb::erfinv;
using hb::exp2;
using hb::expm1;
using hb::i0;
using hb::log1p;
using hb::log_softmax;
using hb::logit;
using hb::logsumexp;
using hb::polygamma;
using hb::round;
using hb::sinc;
using hb::softmax;
using hb::xlogy;
#define HB_SPECIAL(name)             \
  template <class... Args>           \
  Tensor name(const Args&... args) { \
    return special_##name(args...);  \
  }
HB_SPECIAL(entr)
HB_SPECIAL(erfcx)
HB_SPECIAL(expit)
HB_SPECIAL(gammainc)
HB_SPECIAL(gammaincc)
HB_SPECIAL(gammaln)
HB_SPECIAL(i0e)
HB_SPECIAL(i1)
HB_SPECIAL(i1e)
HB_SPECIAL(log_ndtr)
HB_SPECIAL(multigammaln)
HB_SPECIAL(ndtr)
HB_SPECIAL(ndtri)
HB_SPECIAL(psi)
HB_SPECIAL(xlog1py)
HB_SPECIAL(zeta)
#undef HB_SPECIAL

}  // namespace hb::special_functions
