// Bessel functions and polynomials where LibTorch's are no measure: against values of 19 digits, and at the ends.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

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

struct Values {
  const char* name;
  Tensor (*f)(const Tensor&);
  std::vector<std::pair<double, double>> at;
};

/// On both sides of where one form of a function ends and another begins, and far from there.
const std::vector<Values>& values() {
  static const std::vector<Values> all = {
      {"special_bessel_j0",
       hb::special_bessel_j0,
       {{0.0, 1.0},
        {0.001, 0.9999997500000156},
        {1.0, 0.7651976865579666},
        {2.4, 0.002507683297243859},
        {2.5, -0.048383776468198},
        {5.5, -0.006843869417819197},
        {7.99, 0.17399001312793258},
        {8.01, 0.16929736911054297},
        {30.5, -0.01938975451776215},
        {10000.0, -0.0070961603533888015}}},
      {"special_bessel_j1",
       hb::special_bessel_j1,
       {{-3.0, -0.3390589585259365},
        {0.0, 0.0},
        {0.001, 0.0004999999375000026},
        {1.0, 0.4400505857449335},
        {3.8, 0.0128210029267317},
        {7.99, 0.23320071425350178},
        {8.01, 0.236047103630834},
        {30.5, -0.14349430015097095},
        {10000.0, 0.0036474507555295803}}},
      {"special_bessel_y0",
       hb::special_bessel_y0,
       {{1e-08, -11.80077387717953},
        {0.5, -0.44451873350670656},
        {0.75, -0.1371727693857724},
        {2.0, 0.5103756726497451},
        {7.99, 0.22192874178576452},
        {8.01, 0.22508990929357914},
        {30.5, -0.14315731617410765},
        {10000.0, 0.0036478055589866058}}},
      {"special_bessel_y1",
       hb::special_bessel_y1,
       {{1e-08, -63661977.236758195},
        {0.5, -1.471472392670243},
        {2.2, 0.0014877892897633682},
        {4.0, 0.3979257105571},
        {7.99, -0.16048695141166464},
        {8.01, -0.15562145403809824},
        {30.5, 0.017046142883876455},
        {10000.0, 0.007096342752536495}}},
      {"special_modified_bessel_k0",
       hb::special_modified_bessel_k0,
       {{1e-08, 18.536612259610777},
        {0.5, 0.9244190712276659},
        {1.99, 0.1153017675517768},
        {2.01, 0.11250436099872804},
        {5.0, 0.0036910983340425942},
        {50.0, 3.4101677497894956e-23},
        {700.0, 4.669776431685377e-306}}},
      {"special_modified_bessel_k1",
       hb::special_modified_bessel_k1,
       {{1e-08, 99999999.9999999},
        {0.5, 1.656441120003301},
        {1.99, 0.14171756162240132},
        {2.01, 0.1380408773192077},
        {5.0, 0.004044613445452165},
        {50.0, 3.4441022267175555e-23},
        {700.0, 4.6731107967079664e-306}}},
      {"special_scaled_modified_bessel_k0",
       hb::special_scaled_modified_bessel_k0,
       {{1e-08, 18.536612444976903},
        {0.5, 1.5241093857739094},
        {1.99, 0.8434939733789928},
        {2.01, 0.8396557490908678},
        {5.0, 0.547807564313519},
        {50.0, 0.17680715585742934},
        {700.0, 0.04736236945461357}}},
      {"special_scaled_modified_bessel_k1",
       hb::special_scaled_modified_bessel_k1,
       {{1e-08, 100000000.99999991},
        {0.5, 2.731009708211786},
        {1.99, 1.0367396067608632},
        {2.01, 1.0302428743356034},
        {5.0, 0.6002738587883126},
        {50.0, 0.17856655855881556},
        {700.0, 0.04739618765349454}}},
      {"special_airy_ai",
       hb::special_airy_ai,
       {{-300.0, 0.03872636290513791},
        {-30.0, -0.08796818845684216},
        {-10.5, -0.3119260350510506},
        {-4.001, -0.0694747643583422},
        {-3.999, -0.07105602047833014},
        {-2.1, 0.16348451299929267},
        {-1.0, 0.5355608832923521},
        {0.0, 0.3550280538878172},
        {0.5, 0.23169360648083348},
        {1.99, 0.035458538570668385},
        {2.01, 0.034396707129894226},
        {5.0, 0.00010834442813607442},
        {20.0, 1.6916728686705404e-27},
        {90.0, 5.715163408001596e-249}}},
      {"special_i0e",
       hb::special_i0e,
       {{-3.0, 0.2430003541618254},
        {0.0, 1.0},
        {0.1, 0.9071009257823011},
        {2.0, 0.30850832255367105},
        {7.9, 0.14436986414104191},
        {8.1, 0.14251180948829528},
        {20.0, 0.08978031188482602},
        {700.0, 0.015081295651531358}}},
      {"special_i1e",
       hb::special_i1e,
       {{-3.0, -0.19682671329730086},
        {0.0, 0.0},
        {0.1, 0.045298446808809324},
        {2.0, 0.21526928924893765},
        {7.9, 0.13489649943989376},
        {8.1, 0.13340068832583662},
        {20.0, 0.08750622218328867},
        {700.0, 0.015070519444716848}}},
      {"special_erfcx",
       hb::special_erfcx,
       {{-20.0, 1.0442939379528289e+174},
        {-5.0, 144009798674.66104},
        {-1.0, 5.008980080762283},
        {-0.1, 1.1236433541992095},
        {0.0, 1.0},
        {0.1, 0.8964569799691267},
        {1.0, 0.427583576155807},
        {4.0, 0.13699945762506138},
        {10.0, 0.05614099274382259},
        {50.0, 0.011281536265323773},
        {100000000.0, 5.641895835477562e-09}}},
      {"special_log_ndtr",
       hb::special_log_ndtr,
       {{-40.0, -804.6084420137538},
        {-5.0, -15.064998393988725},
        {-1.01, -1.8563130623431785},
        {-0.99, -1.8258103178428124},
        {-0.1, -0.7761545927302733},
        {0.0, -0.6931471805599453},
        {1.0, -0.17275377902344988},
        {5.0, -2.866516129637636e-07},
        {9.0, -1.1285884059538405e-19}}},
      {"special_ndtri",
       hb::special_ndtri,
       {{1e-300, -37.0470962993612},
        {1e-16, -8.222082216130435},
        {2e-15, -7.854928584366798},
        {1e-10, -6.361340902404057},
        {0.0004, -3.3527947805048286},
        {0.0006, -3.2388801183529776},
        {0.1, -1.2815515655446004},
        {0.3, -0.5244005127080408},
        {0.7, 0.5244005127080407},
        {0.9999, 3.7190164854557084}}},
  };
  return all;
}

// All numbers of a row at once and each alone, in a long row and in a short one: the same bits, and the right ones.
TEST(SpecialValues, AreRightInEveryForm) {
  for (const auto& [name, f, at_points] : values())
    for (const auto& [x, value] : at_points) {
      // Far from zero rounding x is what most of the error comes from; near a zero of the function its size counts.
      const double alone = at(f, x), tolerance = std::fabs(x) > 100 ? 2e-12 : std::fabs(x) > 20 ? 1e-13 : 2e-14;
      const double size = std::fabs(x) > 2 && std::fabs(value) > 1e-3 ? 0.1 : 0;
      EXPECT_NEAR(alone, value, tolerance * std::max(std::fabs(value), size)) << name << " of " << x;
      const Tensor row = hb::full({1021}, x, hb::kDouble);
      EXPECT_TRUE(hb::equal(f(row), hb::full({1021}, alone, hb::kDouble))) << name << " of " << x;
      const float narrow = static_cast<float>(x);
      if (static_cast<double>(narrow) != x) continue;
      const float rounded = f(hb::full({1}, x, hb::kFloat)).item<float>();
      if (std::fabs(value) < 3e38 && std::fabs(value) > 2e-38) {
        EXPECT_NEAR(rounded, value, 1e-6 * std::max(std::fabs(value), 1e-3)) << name << " of float " << x;
      }
    }
}

TEST(SpecialValues, OfManyKindsInOneRow) {
  for (const auto& [name, f, at_points] : values()) {
    std::vector<double> row;
    for (int k = 0; k < 700; ++k) row.push_back(at_points[(k * k + k) % at_points.size()].first);
    const Tensor together = f(hb::tensor(row, hb::kDouble));
    for (int k = 0; k < 700; k += 13) EXPECT_EQ(together[k].item<double>(), at(f, row[k])) << name << " of " << row[k];
  }
}

TEST(SpecialValues, ZetaAndPolygamma) {
  const auto zeta = [](double s, double q) {
    return hb::special_zeta(hb::full({3}, s, hb::kDouble), hb::full({3}, q, hb::kDouble))[1].item<double>();
  };
  const auto polygamma = [](int64_t n, double x) {
    return hb::polygamma(hb::full({3}, x, hb::kDouble), n)[1].item<double>();
  };
  for (const auto& [s, q, value] : std::vector<std::array<double, 3>>{{1.5, 0.1, 34.0529755150756},
                                                                      {3, 2.5, 0.1181020258208637},
                                                                      {20, 7, 1.3493973313343205e-17},
                                                                      {2, 30, 0.033895060357739946}})
    EXPECT_NEAR(zeta(s, q), value, 1e-14 * value) << s << " " << q;
  EXPECT_EQ(zeta(3, -2), INFINITY);
  EXPECT_EQ(zeta(1, 2), INFINITY);
  EXPECT_TRUE(std::isnan(zeta(0.5, 2)));
  EXPECT_TRUE(std::isnan(zeta(2.5, -0.5)));
  EXPECT_NEAR(polygamma(2, 0.3), -75.27253658872604, 1e-12);
  EXPECT_NEAR(polygamma(2, 4.5), -0.061556821321027695, 1e-15);
  EXPECT_NEAR(polygamma(3, 1), 6.493939402266829, 1e-13);
  EXPECT_NEAR(polygamma(5, 20), 8.48426620615823e-06, 1e-19);
}

// What the C library says, bit for bit.
TEST(SpecialValues, PartsOfANumber) {
  hb::manual_seed(5);
  for (auto dtype : {hb::kFloat, hb::kDouble}) {
    const bool is_float = dtype == hb::kFloat;
    const Tensor bits = is_float ? hb::randint(INT32_MIN, INT32_MAX, {5000}, hb::kLong).to(hb::kInt).view(hb::kFloat)
                                 : hb::randint(INT64_MIN, INT64_MAX, {5000}, hb::kLong).view(hb::kDouble);
    const Tensor some = hb::tensor({0.0, -0.0, 1.0, -0.5, INFINITY, -INFINITY, is_float ? 1e-45 : 5e-324,
                                    is_float ? -1.1754944e-38 : 2.2250738585072014e-308, is_float ? 1e-40 : 1e-310},
                                   hb::kDouble);
    const Tensor x = hb::cat({bits, some.to(dtype)});
    const auto [mantissa, exponent] = hb::frexp(x);
    for (int64_t k = 0; k < x.numel(); ++k) {
      const double value = x[k].item<double>();
      if (std::isnan(value)) continue;
      int wanted = 0;
      EXPECT_EQ(mantissa[k].item<double>(), std::frexp(value, &wanted)) << value;
      EXPECT_EQ(exponent[k].item<int>(), std::isfinite(value) ? wanted : 0) << value;
    }
    const Tensor angles = hb::angle(some.to(dtype));
    EXPECT_TRUE(hb::equal(angles, hb::where(some.to(dtype) < 0, hb::full({}, M_PI, dtype), hb::zeros({}, dtype))));
    EXPECT_TRUE(hb::angle(hb::full({}, NAN, dtype)).isnan().item<bool>());
  }
}

TEST(SpecialValues, LogarithmsOfSumsOfPowersOfTwo) {
  hb::manual_seed(6);
  const Tensor a = hb::randn({1000}, hb::kDouble) * 20, b = hb::randn({1000}, hb::kDouble) * 20;
  EXPECT_LT((hb::logaddexp2(a, b) - hb::log2(hb::exp2(a) + hb::exp2(b))).abs().max().item<double>(), 1e-13);
  const Tensor leaf = a.clone().set_requires_grad(true);
  EXPECT_LT((hb::logaddexp2(leaf, b).detach() - hb::logaddexp2(a, b)).abs().max().item<double>(), 1e-13);
  const Tensor ends = hb::tensor({INFINITY, -INFINITY, INFINITY, 1.0}, hb::kDouble);
  const Tensor others = hb::tensor({INFINITY, -INFINITY, -INFINITY, -INFINITY}, hb::kDouble);
  EXPECT_TRUE(hb::equal(hb::logaddexp2(ends, others), ends));
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
