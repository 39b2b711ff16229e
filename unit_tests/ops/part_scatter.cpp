// Gradients of as_strided_scatter, which are wrong in LibTorch.
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

torch::Tensor weights() { return torch::arange(1., 7.).view({2, 3}); }

TEST(PartScatter, TheRestOfTheInputHasItsGradient) {
  const auto x = torch::randn({2, 3}).requires_grad_(), src = torch::randn({2}).requires_grad_();
  (torch::as_strided_scatter(x, src, {2}, {3}, 1) * weights()).sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::tensor({{1.f, 0.f, 3.f}, {4.f, 0.f, 6.f}})));
  EXPECT_TRUE(src.grad().equal(torch::tensor({2.f, 5.f})));
}

TEST(PartScatter, PlacesOutsideOfTheInputHaveNoGradient) {
  const auto x = torch::randn({3, 3}).requires_grad_(), src = torch::randn({2}).requires_grad_();
  const auto y = torch::as_strided_scatter((x * 1).narrow(0, 1, 2), src, {2}, {3}, 1);  // elements 1 and 4 of all 9
  EXPECT_EQ(y[0][1].item<float>(), src[1].item<float>());
  (y * weights()).sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::tensor({{0.f, 0.f, 0.f}, {1.f, 0.f, 3.f}, {4.f, 5.f, 6.f}})));
  EXPECT_TRUE(src.grad().equal(torch::tensor({0.f, 2.f})));
}

}  // namespace
