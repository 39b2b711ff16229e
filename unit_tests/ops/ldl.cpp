// L D L^T: the factors multiply to the matrix, stacks are right on any thread, and pivots of others are errors.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <string>
#include <vector>

namespace {

torch::Tensor indefinite(torch::IntArrayRef shape, torch::Dtype dtype) {
  const torch::Tensor a = torch::randn(shape, dtype);
  return a + a.mH();
}

std::string error_of(const torch::Tensor& ld, const torch::Tensor& pivots) {
  try {
    torch::linalg_ldl_solve(ld, pivots, torch::ones({ld.size(-1), 1}, ld.options()));
  } catch (const c10::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(Ldl, SolvesWithItsFactors) {
  torch::manual_seed(1);
  for (const auto dtype : {torch::kDouble, torch::kComplexDouble})
    for (const int64_t n : {1, 3, 64, 200}) {
      const torch::Tensor a = indefinite({3, n, n}, dtype), b = torch::randn({n, 70}, dtype);
      for (const bool hermitian : {true, false}) {
        if (!hermitian && dtype == torch::kComplexDouble) continue;
        const auto [ld, pivots] = torch::linalg_ldl_factor(a, hermitian);
        EXPECT_LT((a.matmul(torch::linalg_ldl_solve(ld, pivots, b, hermitian)) - b).abs().max().item<double>(), 1e-6)
            << n << dtype;
        EXPECT_EQ(ld.triu(1).count_nonzero().item<int64_t>(), 0);
      }
    }
}

TEST(Ldl, RefusesPivotsOfOthers) {
  const auto [ld, pivots] = torch::linalg_ldl_factor(torch::tensor({{0., 1.}, {1., 0.}}));
  EXPECT_LT(pivots[0].item<int>(), 0);  // one block of two rows
  EXPECT_EQ(error_of(ld, pivots), "");
  for (const std::vector<int>& wrong : {std::vector<int>{0, 1}, {1, 3}, {-3, -3}, {-1, 2}, {1, -1}})
    EXPECT_NE(error_of(ld, torch::tensor(wrong)).find("pivots"), std::string::npos) << wrong[0] << ", " << wrong[1];
}
