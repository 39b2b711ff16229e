// Products of halves: where the CPU cannot multiply them in panels, by columns or rows, computed in float; else by its
// own instructions, in tiles where it has them. Rounded once.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>

using torch::Tensor;

namespace {

struct Sizes {
  int64_t m, n, k;
};
// Whole panels and a rest, more columns than rows and fewer, a shared operand that is too large for panels.
const std::vector<Sizes> kSizes{{64, 512, 784},
                                {512, 784, 64},
                                {784, 64, 512},
                                {700, 10, 64},
                                {33, 1001, 65},
                                {300, 350, 300},
                                // On both sides of a tile's edge; deeper, wider and higher than what is done at once.
                                {15, 17, 31},
                                {16, 16, 32},
                                {17, 33, 34},
                                {2, 2, 2},
                                {48, 40, 1300},
                                {40, 1100, 1300},
                                {1100, 36, 1300}};

// Small whole numbers: every sum is exact in float, so that only the rounding to half is left.
Tensor numbers(torch::IntArrayRef sizes, torch::Dtype dtype) {
  return torch::randint(-3, 4, sizes, torch::kFloat).to(dtype);
}

class HalfProducts : public testing::TestWithParam<torch::Dtype> {};

}  // namespace

TEST_P(HalfProducts, EqualFloatProductsRoundedOnce) {
  const auto dtype = GetParam();
  for (const auto& [m, n, k] : kSizes) {
    const auto a = numbers({m, k}, dtype), b = numbers({k, n}, dtype);
    const auto wide = torch::mm(a.to(torch::kFloat), b.to(torch::kFloat));
    const auto expected = wide.to(dtype);
    EXPECT_TRUE(torch::equal(torch::mm(a, b), expected)) << m << " " << n << " " << k;
    const auto a_turned = a.t().contiguous().t(), b_turned = b.t().contiguous().t();
    EXPECT_TRUE(torch::equal(torch::mm(a_turned, b), expected)) << m << " " << n << " " << k;
    EXPECT_TRUE(torch::equal(torch::mm(a, b_turned), expected)) << m << " " << n << " " << k;
  }
}

TEST_P(HalfProducts, BiasAndSumReachEveryPanel) {
  const auto dtype = GetParam();
  for (const auto& [m, n, k] : kSizes) {
    const auto a = numbers({m, k}, dtype), b = numbers({n, k}, dtype), bias = numbers({n}, dtype);
    const auto wide = torch::mm(a.to(torch::kFloat), b.to(torch::kFloat).t());
    EXPECT_TRUE(torch::equal(torch::linear(a, b, bias), (wide + bias.to(torch::kFloat)).to(dtype)))
        << m << " " << n << " " << k;
    const auto self = numbers({m, n}, dtype);
    EXPECT_TRUE(torch::equal(torch::addmm(self, a, b.t(), 2), (wide + 2 * self.to(torch::kFloat)).to(dtype)))
        << m << " " << n << " " << k;
  }
}

TEST_P(HalfProducts, OfStacksAndStridedMatrices) {
  const auto dtype = GetParam();
  for (const auto& [m, n, k] : {Sizes{5, 7, 9}, {32, 32, 64}, {40, 24, 50}}) {
    const auto a = numbers({6, m, 2 * k}, dtype), b = numbers({6, n, k}, dtype).transpose(1, 2);
    for (const auto& part : {a.slice(2, 0, k), a.slice(2, k, 2 * k), a.slice(2, 0, 2 * k, 2)}) {
      const auto wide = torch::bmm(part.to(torch::kFloat), b.to(torch::kFloat));
      EXPECT_TRUE(torch::equal(torch::bmm(part, b), wide.to(dtype))) << m << " " << n << " " << k;
    }
    const auto row = numbers({1, k}, dtype).expand({m, k});  // every row the same memory
    EXPECT_TRUE(torch::equal(torch::mm(row, b[0]), torch::mm(row.to(torch::kFloat), b[0].to(torch::kFloat)).to(dtype)));
  }
}

// Sums of products that float holds only in part: as near to the exact sum as rounding to half leaves it.
TEST_P(HalfProducts, KeepAllBitsOfTheirFactors) {
  const auto dtype = GetParam();
  torch::manual_seed(3);
  const double half_ulp = dtype == torch::kHalf ? 0x1p-11 : 0x1p-8;
  for (const auto& [m, n, k] : kSizes) {
    const auto a = torch::randn({m, k}).to(dtype), b = torch::randn({k, n}).to(dtype),
               bias = torch::randn({n}).to(dtype);
    const auto wide_a = a.to(torch::kDouble), wide_b = b.to(torch::kDouble);
    const auto exact = torch::mm(wide_a, wide_b) + bias.to(torch::kDouble);
    const auto allowed = exact.abs() * half_ulp + torch::mm(wide_a.abs(), wide_b.abs()) * 0x1p-19 + 1e-7;
    const auto error = (torch::addmm(bias, a, b).to(torch::kDouble) - exact).abs();
    EXPECT_LE((error / allowed).max().item<double>(), 1) << m << " " << n << " " << k;
  }
}

TEST_P(HalfProducts, WhatIsNotFiniteIsAsInFloat) {
  const auto dtype = GetParam();
  const auto inf = std::numeric_limits<float>::infinity();
  for (const float odd : {inf, -inf, std::numeric_limits<float>::quiet_NaN(), 65504.0f}) {
    const auto a = numbers({40, 70}, dtype), b = torch::randn({70, 50}).to(dtype);
    a.index_put_({3, 5}, odd), a.index_put_({20, 69}, odd), b.index_put_({6, 7}, odd);
    const auto expected = torch::mm(a.to(torch::kFloat), b.to(torch::kFloat)).to(dtype);
    const auto product = torch::mm(a, b);
    EXPECT_TRUE(torch::equal(product.isnan(), expected.isnan())) << odd;
    EXPECT_TRUE(torch::equal(product.isinf(), expected.isinf())) << odd;
    EXPECT_TRUE(torch::equal(product == inf, expected == inf)) << odd;
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, HalfProducts, testing::Values(torch::kHalf, torch::kBFloat16));
