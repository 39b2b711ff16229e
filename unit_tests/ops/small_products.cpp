// Products that the CPU computes by loops of its own, beside sums in double: all sizes around whole vectors, and
// results that lie between other values.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <string>

using torch::Tensor;

namespace {

struct Sizes {
  int64_t m, n, k;
};

/// Of these sizes, stored by rows or by columns.
Tensor matrix(int64_t rows, int64_t cols, bool by_columns, torch::Dtype dtype) {
  const Tensor t = by_columns ? torch::rand({cols, rows}).t() : torch::rand({rows, cols});
  return (t - 0.5).to(dtype);
}

/// The largest error, in rounding steps of float for numbers of this size.
double error_of(const Tensor& result, const Tensor& exact) {
  return (result.to(torch::kDouble) - exact).abs().max().item<double>() / 0x1p-24;
}

void check(const Sizes& s, bool a_by_columns, bool b_by_columns, torch::Dtype dtype, double bound) {
  const Tensor a = matrix(s.m, s.k, a_by_columns, dtype), b = matrix(s.k, s.n, b_by_columns, dtype);
  const Tensor bias = (torch::rand({s.n}) - 0.5).to(dtype), old = matrix(s.m, s.n, false, dtype);
  const auto wide = [](const Tensor& t) { return t.to(torch::kDouble); };
  const Tensor exact = wide(a).mm(wide(b));
  const std::string name = "m " + std::to_string(s.m) + " n " + std::to_string(s.n) + " k " + std::to_string(s.k);
  EXPECT_LE(error_of(a.mm(b), exact), bound) << name;
  EXPECT_LE(error_of(torch::addmm(bias, a, b), exact + wide(bias)), bound) << name << ", bias";
  EXPECT_LE(error_of(torch::addmm(old, a, b, 0.5, -2), wide(old) * 0.5 - exact * 2), 2 * bound) << name << ", sum";
  // In the middle of a larger matrix.
  Tensor around = torch::full({s.m + 2, s.n + 2}, 7, dtype);
  Tensor inside = around.slice(0, 1, s.m + 1).slice(1, 1, s.n + 1);
  inside.zero_();
  inside.addmm_(a, b);
  EXPECT_LE(error_of(inside, exact), bound) << name << ", inside";
  inside.fill_(7);
  EXPECT_TRUE(around.eq(7).all().item<bool>()) << name << ", around";
}

}  // namespace

TEST(SmallProducts, AreThoseOfDoubles) {
  torch::manual_seed(3);
  torch::NoGradGuard no_grad;
  for (const int64_t n : {2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64})
    for (const int64_t m : {2, 4, 5, 8, 13, 24})
      for (const int64_t k : {2, 3, 4, 7, 8, 13, 32})
        for (const bool a : {false, true})
          for (const bool b : {false, true}) check({m, n, k}, a, b, torch::kFloat, 32);
}

TEST(SmallProducts, OfDoublesAndHalves) {
  torch::manual_seed(4);
  torch::NoGradGuard no_grad;
  for (const int64_t n : {2, 3, 4, 8, 9, 16, 17, 33})
    for (const int64_t m : {3, 8, 13})
      for (const int64_t k : {2, 5, 8})
        for (const bool b : {false, true}) {
          check({m, n, k}, false, b, torch::kDouble, 1e-6);
          check({m, n, k}, true, b, torch::kBFloat16, 0x1p17);
        }
}

// The columns of a narrow result have the bits that they have in a wider one, whose rows fill vectors.
TEST(SmallProducts, NarrowResultsAreColumnsOfWideOnes) {
  torch::manual_seed(5);
  torch::NoGradGuard no_grad;
  for (int64_t n = 2; n <= 9; ++n)
    for (const int64_t m : {2, 3, 4, 5, 7, 8, 15, 16, 17, 30, 32, 33, 48, 64, 80})
      for (const int64_t k : {2, 4, 5, 8, 12, 30, 32, 64})
        for (const bool by_columns : {false, true})
          for (const bool b_by_columns : {false, true}) {
            const Tensor a = matrix(m, k, by_columns, torch::kFloat), wide = matrix(k, 16, b_by_columns, torch::kFloat);
            const Tensor bias = torch::rand({16}), b = wide.narrow(1, 0, n), around = torch::zeros({m, n + 3});
            Tensor inside = around.narrow(1, 2, n);
            const std::string name = "m " + std::to_string(m) + " n " + std::to_string(n) + " k " + std::to_string(k);
            EXPECT_TRUE(a.mm(b).equal(a.mm(wide).narrow(1, 0, n))) << name;
            const auto with_bias = [&](int64_t to) {
              return torch::addmm(bias.narrow(0, 0, to), a, wide.narrow(1, 0, to));
            };
            EXPECT_TRUE(with_bias(n).equal(with_bias(16).narrow(1, 0, n))) << name << ", bias";
            torch::mm_out(inside, a, b);
            EXPECT_TRUE(inside.equal(a.mm(b))) << name << ", inside";
            EXPECT_TRUE(around.narrow(1, 0, 2).eq(0).all().item<bool>()) << name << ", before";
            EXPECT_TRUE(around.narrow(1, n + 2, 1).eq(0).all().item<bool>()) << name << ", after";
          }
}
