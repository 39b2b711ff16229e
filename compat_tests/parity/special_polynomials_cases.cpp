// torch::special's Bessel functions, Airy's function and orthogonal polynomials.
#include "parity/bad.h"

using torch::Tensor;

namespace {
const parity::Dtypes kSingleDouble{torch::kFloat, torch::kDouble};

struct Curve {
  const char* name;
  Tensor (*fn)(const Tensor&);
  Tensor& (*out)(Tensor&, const Tensor&);
  double low, high;     // where it is compared
  double from, before;  // where LibTorch's is right in double
};
Curve curve(const char* name, Tensor (*fn)(const Tensor&), Tensor& (*out)(Tensor&, const Tensor&), double low,
            double high, double from, double before) {
  return {name, fn, out, low, high, from, before};
}
#define CURVE(name, ...)                                              \
  curve(                                                              \
      #name, [](const Tensor& x) { return torch::special::name(x); }, \
      [](Tensor& out, const Tensor& x) -> Tensor& { return torch::special::name##_out(out, x); }, __VA_ARGS__)

struct Polynomial {
  const char* name;
  Tensor (*fn)(const Tensor&, const Tensor&);
  Tensor (*at_number)(const torch::Scalar&, const Tensor&);
  Tensor (*of_degree)(const Tensor&, const torch::Scalar&);
  Tensor& (*out)(Tensor&, const Tensor&, const Tensor&);
};
Polynomial polynomial(const char* name, Tensor (*fn)(const Tensor&, const Tensor&),
                      Tensor (*at_number)(const torch::Scalar&, const Tensor&),
                      Tensor (*of_degree)(const Tensor&, const torch::Scalar&),
                      Tensor& (*out)(Tensor&, const Tensor&, const Tensor&)) {
  return {name, fn, at_number, of_degree, out};
}
#define POLYNOMIAL(name)                                                                   \
  polynomial(                                                                              \
      #name, [](const Tensor& x, const Tensor& n) { return torch::special::name(x, n); },  \
      [](const torch::Scalar& x, const Tensor& n) { return torch::special::name(x, n); },  \
      [](const Tensor& x, const torch::Scalar& n) { return torch::special_##name(x, n); }, \
      [](Tensor& out, const Tensor& x, const Tensor& n) -> Tensor& { return torch::special::name##_out(out, x, n); })
}  // namespace

PARITY_CASE(special_polynomials, bessel) {
  c.tolerance(torch::kFloat, 3e-6, 1e-6);
  for (const Curve& f :
       {CURVE(airy_ai, -9, 12, -2, 12), CURVE(bessel_j0, -30, 30, -1, 1), CURVE(bessel_j1, -30, 30, -1, 1),
        CURVE(bessel_y0, 0.1, 30, 0.1, 1), CURVE(bessel_y1, 0.1, 30, 0.1, 1),
        CURVE(modified_bessel_i0, -12, 12, -12, 12), CURVE(modified_bessel_i1, -12, 12, -12, 12),
        CURVE(modified_bessel_k0, 0.05, 20, 0.05, 20), CURVE(modified_bessel_k1, 0.05, 20, 0.05, 20),
        CURVE(scaled_modified_bessel_k0, 0.05, 80, 0.05, 80), CURVE(scaled_modified_bessel_k1, 0.05, 80, 0.05, 80),
        CURVE(spherical_bessel_j0, -20, 20, -20, 20)}) {
    c.scope(f.name, [&] {
      c.tolerance(torch::kDouble, 1e-12, 1e-14);
      c.out("right", f.fn(c.rand({50}, torch::kDouble, f.from, f.before)));
      // Beyond 1, and below -2 for Airy's function, LibTorch is off by up to 2e-6 in double too.
      c.tolerance(torch::kDouble, 1e-5, 3e-6);
      c.for_dtypes(kSingleDouble, [&](torch::Dtype dtype) {
        const auto x = c.rand({9, 11}, dtype, f.low, f.high);
        c.out("y", f.fn(x));
        c.out("transposed", f.fn(x.t()));
        c.out("ends", f.fn(c.values({0, -1, 1e-6, 1, 2, 5, 8, NAN}, dtype)));
        c.out("empty", f.fn(c.randn({0, 3}, dtype)));
        Tensor out = torch::empty({0}, x.options());
        c.out("out", f.out(out, x));
        auto leaf = x.clone().requires_grad_();
        c.check(!f.fn(leaf).requires_grad(), "no gradient");
      });
      c.out("integers", f.fn(c.randint(1, 9, {6})));
      c.out("bools", f.fn(torch::ones({2}, torch::kBool)));
      const auto x = c.rand({3}, torch::kFloat, 1, 2);
      SAYS("not implemented for 'Half'", f.fn(x.to(torch::kHalf)));
      SAYS("not implemented for 'BFloat16'", f.fn(x.to(torch::kBFloat16)));
      SAYS("not implemented for 'ComplexDouble'", f.fn(x.to(torch::kComplexDouble)));
      Tensor whole = torch::empty({3}, torch::kLong);
      SAYS("can't be cast to the desired output type Long", f.out(whole, x));
    });
  }
}

PARITY_CASE(special_polynomials, orthogonal) {
  // Not at NaN, of which LibTorch returns a number that it has not set. Its recurrence in float has lost digits at
  // these degrees.
  c.tolerance(torch::kFloat, 2e-5, 2e-5);
  c.tolerance(torch::kDouble, 1e-12, 1e-12);
  for (const Polynomial& p :
       {POLYNOMIAL(chebyshev_polynomial_t), POLYNOMIAL(chebyshev_polynomial_u), POLYNOMIAL(chebyshev_polynomial_v),
        POLYNOMIAL(chebyshev_polynomial_w), POLYNOMIAL(shifted_chebyshev_polynomial_t),
        POLYNOMIAL(shifted_chebyshev_polynomial_u), POLYNOMIAL(shifted_chebyshev_polynomial_v),
        POLYNOMIAL(shifted_chebyshev_polynomial_w), POLYNOMIAL(hermite_polynomial_h), POLYNOMIAL(hermite_polynomial_he),
        POLYNOMIAL(laguerre_polynomial_l), POLYNOMIAL(legendre_polynomial_p)}) {
    c.scope(p.name, [&] {
      c.for_dtypes(kSingleDouble, [&](torch::Dtype dtype) {
        const auto x = c.rand({9}, dtype, -0.95, 0.95), far = c.rand({5}, dtype, 1.1, 2);
        const auto n = c.values({-2, -0.5, 0, 1, 2, 2.7, 3, 5, 6}, dtype).unsqueeze(1);
        c.out("inside", p.fn(x, n));
        c.out("outside", p.fn(torch::cat({far, -far}), n));
        c.out("ends", p.fn(c.values({-1, 0, 1}, dtype), n));
        c.out("of_degree", p.of_degree(x, 4));
        c.out("at_number", p.at_number(0.25, n));
        Tensor out = torch::empty({0}, x.options());
        c.out("out", p.out(out, x, n));
        auto leaf = x.clone().requires_grad_();
        c.check(!p.fn(leaf, n).requires_grad(), "no gradient");
      });
      c.out("high",
            p.fn(c.rand({7}, torch::kDouble, 0.05, 0.95), c.values({7, 9, 12, 20}, torch::kDouble).unsqueeze(1)));
      c.out("integers", p.fn(c.randint(-1, 3, {6}), c.randint(0, 5, {6})));
      c.out("degrees", p.fn(c.rand({6}, torch::kFloat, -1, 1), c.randint(0, 5, {6})));
      const auto x = c.rand({3}, torch::kFloat, -1, 1);
      SAYS("not implemented for 'Half'", p.fn(x.to(torch::kHalf), x.to(torch::kHalf)));
      SAYS("not implemented for 'ComplexFloat'", p.fn(x.to(torch::kComplexFloat), x));
    });
  }
}
