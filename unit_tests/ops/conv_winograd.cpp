// 3x3 convolutions with and without the scheme of fewer multiplications, against f64.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>

#include <cmath>

namespace {

using hb::Tensor;

struct Result {
  Tensor y, grad_x, grad_weight, grad_bias;
};

Result run(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& grad, int64_t padding,
           hb::ScalarType dtype) {
  const auto leaf = [&](const Tensor& t) { return t.to(dtype).detach().requires_grad_(); };
  const Tensor a = leaf(x), w = leaf(weight), b = leaf(bias);
  const Tensor y = hb::conv2d(a, w, b, 1, padding);
  y.backward(grad.to(dtype));
  return {y.detach(), a.grad(), w.grad(), b.grad()};
}

// The largest difference in units of the reference's spread.
double error(const Tensor& value, const Tensor& reference) {
  return (value.to(hb::kDouble) - reference).abs().max().item<double>() / reference.std().item<double>();
}

struct Case {
  int64_t batch, in, out, height, width, padding;
};

// Fewer tiles than output channels are transformed before the weights, the others after them; either in parts where
// they are many.
TEST(Winograd, AgreesWithDoubleOnEverySideOfATile) {
  for (const Case& c : {Case{4, 32, 64, 16, 16, 1},
                        {3, 64, 32, 13, 11, 1},
                        {8, 32, 32, 8, 10, 0},
                        {5, 96, 64, 7, 9, 2},
                        {32, 128, 128, 4, 4, 1},
                        {7, 32, 32, 8, 7, 1},
                        {37, 64, 320, 6, 8, 1},
                        {45, 480, 96, 8, 7, 1},
                        {29, 416, 480, 7, 8, 1}}) {
    SCOPED_TRACE(testing::Message() << c.in << " to " << c.out << " channels, " << c.height << "x" << c.width);
    hb::manual_seed(1);
    const Tensor x = hb::randn({c.batch, c.in, c.height, c.width}), bias = hb::randn({c.out});
    const Tensor weight = hb::randn({c.out, c.in, 3, 3}) / std::sqrt(9.0 * c.in);
    const Tensor grad = hb::randn({c.batch, c.out, c.height + 2 * c.padding - 2, c.width + 2 * c.padding - 2});
    const Result exact = run(x, weight, bias, grad, c.padding, hb::kDouble);
    const Result fast = run(x, weight, bias, grad, c.padding, hb::kFloat);
    EXPECT_LT(error(fast.y, exact.y), 2e-5);
    EXPECT_LT(error(fast.grad_x, exact.grad_x), 2e-5);
    EXPECT_LT(error(fast.grad_weight, exact.grad_weight), 2e-5);
    EXPECT_LT(error(fast.grad_bias, exact.grad_bias), 2e-5);
    hb::set_allow_winograd(false);
    const Result plain = run(x, weight, bias, grad, c.padding, hb::kFloat);
    hb::set_allow_winograd(true);
    EXPECT_LT(error(plain.y, exact.y), 2e-5);
    EXPECT_FALSE(fast.y.equal(plain.y)) << "both went the same way: the case tests nothing";
  }
}

// Halves are computed in float and rounded once: within half a unit in the last place of the largest result.
TEST(Winograd, HalvesRoundOnce) {
  for (const auto& [dtype, unit] : {std::pair{hb::kBFloat16, 0x1p-8}, {hb::kHalf, 0x1p-11}}) {
    hb::manual_seed(1);
    const Tensor x = hb::randn({4, 64, 12, 12}).to(dtype), weight = (hb::randn({32, 64, 3, 3}) / 24).to(dtype);
    const Tensor bias = hb::randn({32}).to(dtype), grad = hb::randn({4, 32, 12, 12}).to(dtype);
    const Result exact = run(x, weight, bias, grad, 1, hb::kDouble), half = run(x, weight, bias, grad, 1, dtype);
    const auto within_half_unit = [&, u = unit](const Tensor& value, const Tensor& reference) {
      const double worst = (value.to(hb::kDouble) - reference).abs().max().item<double>();
      return worst <= 0.51 * 2 * u * reference.abs().max().item<double>();
    };
    EXPECT_TRUE(within_half_unit(half.y, exact.y)) << dtype;
    EXPECT_TRUE(within_half_unit(half.grad_x, exact.grad_x)) << dtype;
    EXPECT_TRUE(within_half_unit(half.grad_weight, exact.grad_weight)) << dtype;
    EXPECT_TRUE(within_half_unit(half.grad_bias, exact.grad_bias)) << dtype;
  }
}

}  // namespace
