// torch::special and the special functions that are methods.
#include <cmath>

#include "parity/case.h"

using torch::Tensor;

namespace {
const parity::Dtypes kSingleDouble{torch::kFloat, torch::kDouble};

using Fn = std::function<Tensor(const Tensor&)>;
// Values, gradients, second gradients by differences, integers, layouts; NaN. LibTorch gives NaN at infinities where
// the limits exist, so that they are no part of this.
void sweep(parity::Case& c, const std::string& name, const Fn& fn, double low, double high,
           const parity::Dtypes& dtypes, const parity::Dtypes& differentiable) {
  c.scope(name, [&] {
    c.for_dtypes(dtypes, [&](torch::Dtype dtype) { c.out("y", fn(c.rand({4, 9}, dtype, low, high))); });
    c.for_dtypes(differentiable, [&](torch::Dtype dtype) {
      auto x = c.leaf_in(low, high, {4, 9}, dtype);
      c.gradients("gradient", {x}, [&] { return fn(x); });
      c.out("nan", fn(c.values({NAN}, dtype)));
      c.out("empty", fn(c.randn({0, 3}, dtype)));
    });
    c.for_layouts_of(c.rand({4, 6}, torch::kFloat, low, high), [&](const Tensor& x) { c.out("y", fn(x)); });
    c.out("integers", fn(c.randint(1, 5, {6})));
    auto x = c.leaf_in(low, high, {7}, torch::kDouble);
    c.gradcheck([&] { return fn(x); }, {x});
    c.gradgradcheck([&] { return fn(x); }, {x});
  });
}
}  // namespace

PARITY_CASE(special_functions, bessel) {
  // LibTorch computes half types from coefficients that it rounds to float.
  sweep(
      c, "i0", [](const Tensor& x) { return torch::i0(x); }, -6, 6, parity::kFloats, kSingleDouble);
  sweep(
      c, "i0e", [](const Tensor& x) { return torch::special::i0e(x); }, 0.1, 6, parity::kFloats, kSingleDouble);
  sweep(
      c, "i1", [](const Tensor& x) { return torch::special::i1(x); }, 0.1, 6, parity::kFloats, kSingleDouble);
  sweep(
      c, "i1e", [](const Tensor& x) { return torch::special::i1e(x); }, -6, -0.1, parity::kFloats, kSingleDouble);
  for (const auto dtype : kSingleDouble) {
    const auto x = c.values({-80, -21, -19.5, -8, -1e-3, 0, 1e-9, 2, 7.9, 8.1, 19.9, 20.1, 50, 85}, dtype);
    const auto name = parity::dtype_name(dtype);
    c.out("i0" + name, x.i0());
    c.out("i0e" + name, torch::special_i0e(x));
    c.out("i1" + name, torch::special_i1(x));
    c.out("i1e" + name, torch::special_i1e(x));
    c.out("i0_" + name, x.clone().i0_());
  }
  auto zero = torch::zeros({2}, torch::kDouble).requires_grad_();
  c.gradients("i1_at_0", {zero}, [&] { return torch::special::i1(zero) + torch::special::i1e(zero); });
}

PARITY_CASE(special_functions, of_normal_distribution) {
  sweep(
      c, "ndtr", [](const Tensor& x) { return torch::special::ndtr(x); }, -3, 3, parity::kFloats, parity::kFloats);
  sweep(
      c, "log_ndtr", [](const Tensor& x) { return torch::special::log_ndtr(x); }, -8, 3, kSingleDouble, kSingleDouble);
  sweep(
      c, "erfcx", [](const Tensor& x) { return torch::special::erfcx(x); }, -2, 4, kSingleDouble, kSingleDouble);
  c.for_dtypes(kSingleDouble, [&](torch::Dtype dtype) {
    auto p = c.leaf_in(0.01, 0.99, {4, 9}, dtype);
    c.gradients("ndtri", {p}, [&] { return torch::special::ndtri(p); });
    c.out("ndtri_border", torch::special_ndtri(c.values({0, 1, -0.5, 1.5, NAN, 0.5, 0.25, 0.75}, dtype)));
    c.out("ndtri_tails", torch::special_ndtri(c.values({1e-30, 1e-10, 1e-4, 0.2, 0.8, 0.9999, 1 - 1e-6}, dtype)));
    c.out("erfcx_far",
          torch::special_erfcx(c.values({-5, -3, 0, 1e-5, 9.5, 10.5, 26, 30, 1e4, 1e9, INFINITY, -INFINITY}, dtype)));
    c.out("log_ndtr_far", torch::special_log_ndtr(c.values({-300, -40, -5, -1, 0, 1, 5, 9, INFINITY}, dtype)));
  });
}

PARITY_CASE(special_functions, entr) {
  sweep(
      c, "entr", [](const Tensor& x) { return torch::special::entr(x); }, 0.1, 3, parity::kFloats, parity::kFloats);
  c.out("border", torch::special_entr(c.values({-1, 0, 1, INFINITY, NAN})));
}

PARITY_CASE(special_functions, incomplete_gamma) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    const auto a = c.rand({4, 6}, dtype, 0.1, 8);
    auto x = c.leaf_in(0.1, 9, {4, 6}, dtype);
    c.gradients("p", {x}, [&] { return torch::igamma(a, x); });
    c.gradients("q", {x}, [&] { return torch::igammac(a, x); });
  });
  for (const auto dtype : kSingleDouble) {
    const auto name = parity::dtype_name(dtype);
    const auto a = c.values({0, 0, 1, -1, 1, INFINITY, INFINITY, 1, NAN, 1}, dtype),
               x = c.values({0, 1, 0, 1, -1, 1, INFINITY, INFINITY, 1, NAN}, dtype);
    c.out("border_p" + name, a.igamma(x));
    c.out("border_q" + name, a.igammac(x));
    const auto big = c.values({0.01, 0.2, 0.5, 1, 3, 9.9, 10.1, 25, 80, 300}, dtype).unsqueeze(1),
               at = c.values({0.001, 0.3, 0.9, 1.2, 3.1, 9, 12, 26, 78, 310}, dtype);
    // For large a LibTorch is up to 6e-10 off in double (by 30 digits of mpmath), and 1e-5 in float.
    c.tolerance(torch::kDouble, 2e-9, 1e-10);
    c.tolerance(torch::kFloat, 5e-5, 1e-6);
    c.out("p" + name, torch::special::gammainc(big, at));
    c.out("q" + name, torch::special::gammaincc(big, at));
    c.out("in_place" + name, at.clone().igamma_(at));
  }
  auto y = c.leaf_in(0.2, 6, {6}, torch::kDouble);
  const auto s = c.rand({6}, torch::kDouble, 0.3, 5);
  c.gradcheck([&] { return torch::igamma(s, y) + torch::igammac(s, y * 2); }, {y});
  c.throws("integers", [&] { torch::igamma(c.randint(1, 5, {3}), c.randint(1, 5, {3})); });
  auto order = c.leaf_in(1, 2, {3});
  c.throws("gradient_of_order", [&] { torch::igamma(order, torch::ones({3})).sum().backward(); });
}

PARITY_CASE(special_functions, zeta) {
  c.for_dtypes(kSingleDouble, [&](torch::Dtype dtype) {
    const auto s = c.rand({3, 5}, dtype, 1.2, 9);
    auto q = c.leaf_in(0.2, 12, {3, 5}, dtype);
    c.gradients("y", {q}, [&] { return torch::special::zeta(s, q); });
    c.gradients("number", {q}, [&] { return torch::special::zeta(2, q); });
    c.out("places", torch::special_zeta(s, 1.5));
    c.out("border",
          torch::special_zeta(c.values({1, 0.5, 2, 3, NAN, 2}, dtype), c.values({2, 2, -1, 0, 1, -0.5}, dtype)));
  });
  c.out("integers", torch::special_zeta(c.randint(2, 5, {4}), c.randint(1, 4, {4})));
}

PARITY_CASE(special_functions, gamma) {
  // lgamma in float, of which LibTorch's sum has more terms rounded to half.
  c.tolerance(torch::kHalf, 2e-3, 2e-3);
  c.tolerance(torch::kBFloat16, 1.6e-2, 1.6e-2);
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf_in(2.2, 6, {3, 4}, dtype);
    c.gradients("mvlgamma", {x}, [&] { return torch::mvlgamma(x, 3); });
  });
  auto x = c.rand({5}, torch::kFloat, 2.2, 6);
  c.out("multigammaln", torch::special::multigammaln(x, 2));
  c.out("special_multigammaln", torch::special_multigammaln(x, 1));
  c.out("in_place", x.clone().mvlgamma_(2));
  c.out("integers", torch::mvlgamma(c.randint(2, 6, {4}), 2));
  c.out("polygamma", torch::polygamma(1, x));
  c.out("polygamma_", x.clone().polygamma_(2));
  auto out = torch::zeros_like(x);
  torch::polygamma_out(out, 1, x);
  c.out("polygamma_out", out);
  c.out("polygamma_outf", torch::polygamma_outf(2, x, out));
  c.out("special_polygamma", torch::special::polygamma(2, x));
  c.throws("bools", [&] { torch::mvlgamma(c.bools({2}), 1); });
  c.throws("order", [&] { torch::mvlgamma(x, 0); });
}

PARITY_CASE(special_functions, aliases) {
  const auto x = c.rand({3, 4}, torch::kFloat, 0.1, 0.9), y = c.rand({3, 4}, torch::kFloat, 0.1, 2);
  c.out("digamma", torch::special_digamma(x));
  c.out("psi", torch::special_psi(x));
  c.out("erf", torch::special_erf(x));
  c.out("erfc", torch::special_erfc(x));
  c.out("erfinv", torch::special_erfinv(x));
  c.out("exp2", torch::special_exp2(x));
  c.out("expit", torch::special_expit(x));
  c.out("expm1", torch::special_expm1(x));
  c.out("gammaln", torch::special_gammaln(x));
  c.out("log1p", torch::special_log1p(x));
  c.out("sinc", torch::special_sinc(x));
  c.out("logit", torch::special_logit(x));
  c.out("logit_eps", torch::special_logit(x, 0.2));
  c.out("round", torch::special_round(x));
  c.out("ndtr", torch::special_ndtr(x));
  c.out("i0", torch::special::i0(x) + torch::special_i0(x));
  c.out("gammainc", torch::special_gammainc(y, x));
  c.out("gammaincc", torch::special_gammaincc(y, x));
  c.out("xlogy", torch::special_xlogy(x, y));
  c.out("xlogy_number", torch::special_xlogy(2.5, y));
  c.out("xlogy_by", torch::special_xlogy(x, 2));
  c.out("polygamma", torch::special_polygamma(1, y));
  c.out("logsumexp", torch::special_logsumexp(x, {1}, true));
  c.out("softmax", torch::special_softmax(x, 1));
  c.out("log_softmax", torch::special_log_softmax(x, 0));
}

PARITY_CASE(special_functions, xlog1py) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf_in(0.1, 2, {3, 4}, dtype), y = c.leaf_in(-0.5, 3, {4}, dtype);
    c.gradients("y", {x, y}, [&] { return torch::special::xlog1py(x, y); });
    c.out("number", torch::special::xlog1py(2, y.detach()));
    c.out("by", torch::special::xlog1py(x.detach(), 0.5));
  });
  c.out("small", torch::special_xlog1py(c.values({1, 2}), c.values({1e-7, 1e-12})));
  c.out("border", torch::special_xlog1py(c.values({0, 0, 0, 1}), c.values({-1, INFINITY, NAN, -1})));
}
