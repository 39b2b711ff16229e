// tanh to the last bit: decoders turn 1 - tanh(x) into a number again.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <cmath>

namespace {

using hb::Tensor;

template <class T>
double worst_error(const Tensor& x, const Tensor& y) {
  double worst = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const long double wanted = std::tanh(static_cast<long double>(x.data_ptr<T>()[i]));
    int exponent;
    std::frexp(wanted, &exponent);
    const long double step = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
    worst = std::max(worst, static_cast<double>(std::abs(wanted - y.data_ptr<T>()[i]) / step));
  }
  return worst;
}

Tensor everywhere(hb::ScalarType t) {
  const Tensor small = hb::exp2(hb::linspace(-30, 0, 20001, hb::kDouble));
  const Tensor large = hb::linspace(0.5, 24, 60001, hb::kDouble);
  const Tensor half = hb::cat({small, large});
  return hb::cat({half, -half}).to(t).contiguous();
}

TEST(TanhEnds, WithinOneRoundingStep) {
  const Tensor f = everywhere(hb::kFloat), d = everywhere(hb::kDouble);
  EXPECT_LT(worst_error<float>(f, f.tanh()), 1.01);
  EXPECT_LT(worst_error<double>(d, d.tanh()), 1.01);
}

TEST(TanhEnds, OneWhereTheRoundedResultIs) {
  const auto at = [](double x, hb::ScalarType t) { return hb::full({40}, x, t).tanh().to(hb::kDouble); };
  EXPECT_EQ(at(9.0108, hb::kFloat).max().item<double>(), 1 - std::ldexp(1.0, -24));
  EXPECT_EQ(at(9.0110, hb::kFloat).min().item<double>(), 1.0);
  EXPECT_EQ(at(19.0615, hb::kDouble).max().item<double>(), 1 - std::ldexp(1.0, -53));
  EXPECT_EQ(at(19.0616, hb::kDouble).min().item<double>(), 1.0);
}

TEST(TanhEnds, SpecialValues) {
  for (hb::ScalarType t : {hb::kFloat, hb::kDouble}) {
    const double inf = std::numeric_limits<double>::infinity();
    const auto at = [t](double x) { return hb::full({1}, x, t).tanh().item<double>(); };
    EXPECT_TRUE(std::isnan(at(std::nan(""))));
    EXPECT_EQ(at(inf), 1);
    EXPECT_EQ(at(-inf), -1);
    EXPECT_TRUE(std::signbit(at(-0.0)) && at(-0.0) == 0);
  }
}

TEST(TanhEnds, EveryLengthAndStrideGivesTheSameBits) {
  for (hb::ScalarType t : {hb::kFloat, hb::kDouble}) {
    const Tensor x = hb::linspace(-20, 20, 200, t), y = x.tanh();
    for (int64_t n = 1; n <= 70; ++n) {
      EXPECT_TRUE(hb::equal(x.narrow(0, n, n).clone().tanh(), y.narrow(0, n, n)));
      EXPECT_TRUE(hb::equal(x.slice(0, n, 2 * n + 1, 2).tanh(), y.slice(0, n, 2 * n + 1, 2)));
    }
  }
}

}  // namespace
