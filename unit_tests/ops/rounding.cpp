// How many rounding steps (units in the last place of the exact result) functions of one number are off at most, over
// numbers of all sizes. The limits are a step more than LibTorch 2.11 was measured at on the same numbers, or less
// where ours are closer.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace {

using hb::Tensor;
using Exact = long double;

struct Row {
  const char* name;
  std::function<Tensor(const Tensor&)> compute;
  Exact (*exact)(Exact);
  double f32, f64;  // limits
};

Exact softplus(Exact x) { return x > 20 ? x : log1pl(expl(x)); }
/// I_0 or I_1 of x, by its power series; scaled: times exp(-|x|).
template <int kOrder, bool kScaled>
Exact bessel(Exact x) {
  const Exact size = std::fabs(x), q = size * size / 4;
  if (size > 11000) return std::copysign(INFINITY, kOrder ? x : 1);
  Exact term = kOrder ? size / 2 : 1, sum = term;
  for (int k = 1; term > sum * 1e-21L; ++k) sum += term *= q / (Exact(k) * (k + kOrder));
  const Exact y = std::isnan(x) ? x : kScaled ? sum * expl(-size) : sum;
  return kOrder ? std::copysign(y, x) : y;
}
template <Exact (*kFunction)(Exact)>
Exact clamped(Exact x) {
  return kFunction(x < -1000 ? -1000 : x > 1000 ? 1000 : x);
}
Exact log_sigmoid(Exact x) { return x < 0 ? x - log1pl(expl(x)) : x > 11000 ? 0 : -log1pl(expl(-x)); }

#define ROW(name, f32, f64)                                                 \
  {                                                                         \
#name, [](const Tensor& x) { return hb::name(x); }, ::name##l, f32, f64 \
  }
const std::vector<Row> kRows = {
    ROW(exp, 1.2, 1.2),
    ROW(exp2, 1.3, 1.7),
    ROW(expm1, 1.6, 1.9),
    ROW(log, 1.2, 1.7),
    ROW(log2, 1.3, 1.2),
    ROW(log10, 1.3, 1.2),
    ROW(log1p, 1.9, 1.8),
    ROW(sqrt, 0.51, 0.51),
    ROW(sin, 1.6, 1.5),
    ROW(cos, 1.6, 1.5),
    ROW(tan, 1.5, 1.4),
    ROW(asin, 1.7, 1.7),
    ROW(acos, 1.4, 1.3),
    ROW(atan, 1.5, 1.7),
    ROW(sinh, 1.9, 1.5),
    ROW(cosh, 1.6, 1.5),
    ROW(tanh, 1.2, 1.2),
    ROW(asinh, 2.2, 2.2),
    ROW(acosh, 2.6, 2.5),
    ROW(atanh, 2.0, 2.0),
    ROW(erf, 1.5, 1.5),
    ROW(erfc, 1.7, 1.7),
    {"softplus", [](const Tensor& x) { return hb::softplus(x); }, softplus, 2.4, 2.4},
    {"log_sigmoid", [](const Tensor& x) { return hb::log_sigmoid(x); }, log_sigmoid, 2.4, 2.6},
    {"elu", [](const Tensor& x) { return hb::elu(x); }, [](Exact x) { return x > 0 ? x : expm1l(x); }, 1.6, 1.7},
    {"i0", [](const Tensor& x) { return hb::i0(x); }, bessel<0, false>, 0.6, 4.8},
    {"i1", [](const Tensor& x) { return hb::special_i1(x); }, bessel<1, false>, 0.6, 4.8},
    {"i0e", [](const Tensor& x) { return hb::special_i0e(x.clamp(-1000, 1000)); }, clamped<bessel<0, true>>, 0.6, 4.3},
    {"i1e", [](const Tensor& x) { return hb::special_i1e(x.clamp(-1000, 1000)); }, clamped<bessel<1, true>>, 0.6, 4.3},
    {"sigmoid", [](const Tensor& x) { return hb::sigmoid(x.clamp_min(-80)); },
     [](Exact x) { return 1 / (1 + expl(x < -80 ? 80 : -x)); }, 3.5, 3.5},
};

/// Numbers of all exponents and both signs, and many of those that programs have; near multiples of pi / 2.
template <class T, class Bits>
std::vector<T> numbers() {
  std::vector<T> all;
  const Bits end = std::bit_cast<Bits>(std::numeric_limits<T>::infinity()), step = end / 9973;
  for (Bits b = 1; b < end - step; b += step)
    for (const T sign : {T(1), T(-1)})
      all.push_back(sign * std::bit_cast<T>(static_cast<Bits>(b + b * 2654435761u % step)));
  uint64_t seed = 88172645463325252u;
  const auto random = [&] {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return static_cast<double>(seed >> 11) * 0x1p-53;
  };
  for (const double range : {0.3, 1.0, 2.0, 8.0, 40.0, 100.0, 1000.0, 60000.0})
    for (int i = 0; i < 10000; ++i) all.push_back(static_cast<T>((random() * 2 - 1) * range));
  for (int i = 0; i < 10000; ++i) all.push_back(static_cast<T>(1 + (random() - 0.5) * std::pow(10.0, -6 * random())));
  for (int k = 1; k < 3000; ++k) all.push_back(static_cast<T>(k * M_PI_2));
  for (const double x : {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, double(INFINITY), -double(INFINITY), double(NAN)})
    all.push_back(static_cast<T>(x));
  return all;
}

/// Steps between what was computed and the exact value; infinite where one is no number and the other is.
template <class T>
double steps(T got, Exact exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(exact) || std::isinf(rounded))
    return (std::isnan(exact) ? std::isnan(got) : got == rounded) ? 0 : INFINITY;
  if (exact == 0) return got == 0 && std::signbit(got) == std::signbit(rounded) ? 0 : INFINITY;
  using Limits = std::numeric_limits<T>;
  int exponent;
  std::frexp(exact, &exponent);
  const Exact unit = std::ldexp(Exact(1), std::max(exponent, Limits::min_exponent) - Limits::digits);
  return std::isfinite(got) ? static_cast<double>(std::fabs(static_cast<Exact>(got) - exact) / unit) : INFINITY;
}

template <class T, class Bits>
void check(hb::ScalarType dtype, double Row::*limit) {
  const std::vector<T> x = numbers<T, Bits>();
  Tensor values = hb::empty({static_cast<int64_t>(x.size())}, dtype);
  std::copy(x.begin(), x.end(), values.data_ptr<T>());
  for (const Row& row : kRows) {
    const Tensor y = row.compute(values);
    double most = 0;
    T at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double off = steps(y.data_ptr<T>()[i], row.exact(static_cast<Exact>(x[i])));
      if (off > most) most = off, at = x[i];
    }
    EXPECT_LE(most, row.*limit) << row.name << " of " << std::hexfloat << at;
  }
}

TEST(Rounding, Float32) { check<float, uint32_t>(hb::kFloat, &Row::f32); }
TEST(Rounding, Float64) { check<double, uint64_t>(hb::kDouble, &Row::f64); }

// Large angles are computed otherwise, and not together with their neighbours.
TEST(Rounding, LargeAngles) {
  for (const auto dtype : {hb::kFloat, hb::kDouble}) {
    const Tensor small = hb::linspace(-30, 30, 700, dtype), large = small.clone();
    large[13] = 1e30, large[600] = 3e6;
    for (const Row& row : kRows) {
      if (!std::strchr("sct", row.name[0]) || std::strlen(row.name) != 3) continue;  // sin, cos, tan
      const Tensor y = row.compute(large);
      for (const int i : {13, 600}) {
        const double x = large[i].item<double>(), got = y[i].item<double>();
        EXPECT_LE(dtype == hb::kFloat ? steps(static_cast<float>(got), row.exact(x)) : steps(got, row.exact(x)), 1.0)
            << x;
      }
      EXPECT_TRUE(hb::equal(y.narrow(0, 14, 586), row.compute(small).narrow(0, 14, 586)));
    }
  }
}

// The slope is computed where the values are, which stay the same to a bit; f16 keeps none.
template <class T>
void check_slope_of_log_sigmoid(hb::ScalarType dtype) {
  const Tensor x = hb::linspace(-90, 90, 20001, dtype), leaf = x.clone().set_requires_grad(true);
  const Tensor y = hb::log_sigmoid(leaf), slope = hb::autodiff::grad({y}, {leaf}, {hb::ones_like(y)})[0];
  EXPECT_TRUE(hb::equal(y, hb::log_sigmoid(x)));
  double most = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const Exact at = x.data_ptr<T>()[i];
    if (at < 87) most = std::max(most, steps(slope.data_ptr<T>()[i], 1 / (1 + expl(at))));
  }
  EXPECT_LE(most, 2);
}
TEST(Rounding, SlopeOfLogSigmoid) {
  check_slope_of_log_sigmoid<float>(hb::kFloat);
  check_slope_of_log_sigmoid<double>(hb::kDouble);
  const Tensor half = hb::full({1}, 18, hb::kHalf).set_requires_grad(true), y = hb::log_sigmoid(half);
  const Tensor g = hb::autodiff::grad({y}, {half}, {hb::full({1}, 60000, hb::kHalf)})[0];
  EXPECT_NEAR(g.item<float>(), 60000 / (1 + std::exp(18.0)), 1e-6);
}

// Neither side of 0 cancels: small results are right to a thousandth, and all within two steps of the number itself.
TEST(Rounding, GeluAndItsSlope) {
  const Tensor x = hb::linspace(-12, 12, 240001, hb::kFloat).set_requires_grad(true), y = hb::gelu(x);
  const Tensor slope = hb::autodiff::grad({y}, {x}, {hb::ones_like(y)})[0];
  for (int64_t i = 0; i < x.numel(); ++i) {
    const Exact at = x.data_ptr<float>()[i], cdf = erfcl(-at / sqrtl(2)) / 2;
    const Exact exact = at * cdf, got = y.data_ptr<float>()[i];
    const Exact exact_slope = cdf + at * expl(-at * at / 2) / sqrtl(2 * M_PIl);
    ASSERT_LE(std::fabs(got - exact), 1.2e-7L * std::fabs(at)) << "gelu of " << at;
    ASSERT_LE(std::fabs(slope.data_ptr<float>()[i] - exact_slope), 1.2e-7L) << "slope at " << at;
    if (at < -3) {
      ASSERT_LE(std::fabs(got - exact), -1e-3L * exact) << "gelu of " << at;
    }
  }
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor ends = hb::gelu(hb::tensor({infinity, -1e30f, 1e30f, -0.0f}));
  EXPECT_EQ(ends[0].item<float>(), infinity);
  EXPECT_EQ(ends[1].item<float>(), 0);
  EXPECT_EQ(ends[2].item<float>(), 1e30f);
  EXPECT_TRUE(std::signbit(ends[3].item<float>()));
  EXPECT_TRUE(hb::gelu(hb::tensor({NAN})).isnan().item<bool>());
}

}  // namespace
