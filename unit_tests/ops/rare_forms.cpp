// Functions that few programs call: what LibTorch leaves open or has on other devices alone.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <vector>

TEST(RareForms, BinsOfPointsAddUp) {
  torch::manual_seed(2);
  const torch::Tensor x = torch::randn({1000, 3}), weight = torch::rand({1000});
  const auto [counts, edges] = torch::histogramdd(x, 4, std::nullopt, weight);
  EXPECT_EQ(counts.sizes(), torch::IntArrayRef({4, 4, 4}));
  EXPECT_NEAR(counts.sum().item<double>(), weight.sum().item<double>(), 1e-3);
  const auto [density, same] = torch::histogramdd(x, edges, std::nullopt, weight, true);
  torch::Tensor volume = torch::ones({});
  for (const torch::Tensor& along : edges) volume = volume.unsqueeze(-1) * along.diff();
  EXPECT_NEAR((density * volume).sum().item<double>(), 1, 1e-5);
}

TEST(RareForms, DepthwiseConvolutionOfVolumes) {
  torch::manual_seed(3);
  const torch::Tensor x = torch::randn({2, 3, 4, 5, 6}), weight = torch::randn({6, 1, 2, 2, 2});
  const torch::Tensor y = torch::conv_depthwise3d(x, weight, {2, 2, 2}, {}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1});
  EXPECT_TRUE(torch::equal(y, torch::conv3d(x, weight, {}, 1, 1, 1, 3)));
  EXPECT_THROW(torch::conv_depthwise3d(x, weight, {3, 3, 3}, {}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}), c10::Error);
}

TEST(RareForms, SparseProductsHaveGradients) {
  torch::manual_seed(4);
  const torch::Tensor a = (torch::rand({4, 3}, torch::kDouble) * 9).to_sparse_csr().requires_grad_();
  const torch::Tensor b = torch::randn({3, 2}, torch::kDouble).requires_grad_();
  torch::_sparse_mm(a, b, "sum").pow(2).sum().backward();
  const torch::Tensor dense = a.detach().to_dense().requires_grad_(), factor = b.detach().clone().requires_grad_();
  dense.mm(factor).pow(2).sum().backward();
  EXPECT_TRUE(torch::allclose(a.grad().to_dense(), dense.grad()));
  EXPECT_TRUE(torch::allclose(b.grad(), factor.grad()));
}

TEST(RareForms, MaskedIndexTakesPlacesOutOfRange) {
  const torch::Tensor x = torch::arange(4);
  const c10::List<std::optional<torch::Tensor>> places({std::optional<torch::Tensor>(torch::tensor({1, 9, 3}))});
  const torch::Tensor y = torch::_unsafe_masked_index(x, torch::tensor({true, false, true}), places, -1);
  EXPECT_TRUE(torch::equal(y, torch::tensor({1, -1, 3})));
}

TEST(RareForms, WhatIsNotSupportedSaysSo) {
  const torch::Tensor x = torch::ones({2, 2});
  EXPECT_THROW(x.chalf(), c10::NotImplementedError);
  EXPECT_THROW(x.to_sparse_bsr({1, 1}), c10::NotImplementedError);
  EXPECT_THROW(torch::mm(x, x, torch::kDouble), c10::NotImplementedError);
}
