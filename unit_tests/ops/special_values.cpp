// Bessel functions and polynomials where LibTorch's are no measure: against values of 19 digits, and at the ends.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

namespace {

using hb::Tensor;

double at(Tensor (*f)(const Tensor&), double x) { return f(hb::full({1}, x, hb::kDouble)).item<double>(); }

struct Value {
  Tensor (*f)(const Tensor&);
  double x, value;
};

TEST(SpecialValues, HaveAllDigitsOfDouble) {
  for (const Value& v :
       {Value{hb::special_bessel_j0, 5, -0.1775967713143383043},
        Value{hb::special_bessel_j0, 20.5, 0.1150969602536747623},
        Value{hb::special_bessel_j1, 5, -0.3275791375914652220},
        Value{hb::special_bessel_j1, 20.5, 0.1362546881933957366},
        Value{hb::special_airy_ai, -7, 0.1842808352505056373}, Value{hb::special_airy_ai, -2.5, -0.1123250676929660892},
        Value{hb::special_airy_ai, -1, 0.5355608832923521188}, Value{hb::special_airy_ai, 3, 0.006591139357460719144},
        Value{hb::special_modified_bessel_k0, 0.5, 0.9244190712276658618},
        Value{hb::special_modified_bessel_k0, 3, 0.03473950438627924807},
        Value{hb::special_modified_bessel_k1, 0.5, 1.656441120003300894},
        Value{hb::special_modified_bessel_k1, 3, 0.04015643112819418438}})
    EXPECT_NEAR(at(v.f, v.x), v.value, 2e-15 * std::fabs(v.value)) << v.x;
}

TEST(SpecialValues, TakeTheirLimits) {
  const double infinity = INFINITY;
  EXPECT_EQ(at(hb::special_airy_ai, infinity), 0);
  EXPECT_EQ(at(hb::special_bessel_j0, infinity), 0);
  EXPECT_EQ(at(hb::special_bessel_y0, 0), -infinity);
  EXPECT_TRUE(std::isnan(at(hb::special_bessel_y1, -1)));
  EXPECT_EQ(at(hb::special_modified_bessel_k0, 0), infinity);
  EXPECT_TRUE(std::isnan(at(hb::special_modified_bessel_k1, -1)));
  EXPECT_EQ(at(hb::special_scaled_modified_bessel_k1, infinity), 0);
  EXPECT_NEAR(at(hb::special_scaled_modified_bessel_k0, 1e8), std::sqrt(M_PI / 2e8), 1e-12);
  EXPECT_EQ(at(hb::special_spherical_bessel_j0, 0), 1);
}

TEST(SpecialValues, PolynomialsOfNanAreNanAndOverflowToInfinity) {
  const Tensor nan = hb::full({1}, NAN, hb::kDouble), far = hb::full({1}, 30.0, hb::kDouble);
  EXPECT_TRUE(std::isnan(hb::special_chebyshev_polynomial_u(nan, 2).item<double>()));
  EXPECT_TRUE(std::isnan(hb::special_legendre_polynomial_p(nan, 3).item<double>()));
  EXPECT_EQ(hb::special_chebyshev_polynomial_t(far, 600).item<double>(), INFINITY);
  EXPECT_EQ(hb::special_hermite_polynomial_h(far, -1).item<double>(), 0);
}

}  // namespace
