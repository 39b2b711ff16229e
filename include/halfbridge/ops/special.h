#pragma once
// The names of torch::special for functions that exist under other names.

#include <halfbridge/ops/combine.h>

namespace hb::special {

using hb::digamma;
using hb::erf;
using hb::erfc;
using hb::erfinv;
using hb::exp2;
using hb::expm1;
using hb::log1p;
using hb::log_softmax;
using hb::logit;
using hb::logsumexp;
using hb::polygamma;
using hb::round;
using hb::sinc;
using hb::softmax;
using hb::xlogy;
inline Tensor expit(const Tensor& self) { return sigmoid(self); }
inline Tensor psi(const Tensor& self) { return digamma(self); }
inline Tensor gammaln(const Tensor& self) { return lgamma(self); }
inline Tensor xlog1py(const Tensor& self, const Tensor& other) { return xlogy(self, other + 1); }
inline Tensor xlog1py(const Tensor& self, const Scalar& other) { return xlogy(self, Scalar(other.toDouble() + 1)); }
inline Tensor ndtr(const Tensor& self) { return erfc(self * -0.70710678118654752440) * 0.5; }

}  // namespace hb::special
