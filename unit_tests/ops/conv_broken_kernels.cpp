// Gradients of the weights of convolutions for which oneDNN has implementations that write outside of their memory or
// compute wrong values, so that others have to be chosen.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <vector>

namespace {

using torch::Tensor;

struct Problem {
  std::vector<int64_t> x, weight;
  int64_t stride = 1, padding = 0, dilation = 1, groups = 1;
};

Tensor gradient(const Problem& p, const Tensor& x, const Tensor& weight, torch::Dtype dtype) {
  const Tensor w = weight.to(dtype).clone().requires_grad_();
  const Tensor y = x.dim() == 5 ? torch::conv3d(x.to(dtype), w, {}, p.stride, p.padding, p.dilation, p.groups)
                                : torch::conv2d(x.to(dtype), w, {}, p.stride, p.padding, p.dilation, p.groups);
  torch::manual_seed(2);
  y.backward(torch::randn(y.sizes(), torch::kFloat).to(torch::kBFloat16).to(dtype));
  return w.grad().to(torch::kDouble);
}

void expect_right(const Problem& p, torch::Dtype dtype, double tolerance) {
  torch::manual_seed(1);
  const Tensor x = torch::randn(p.x).to(torch::kBFloat16), weight = torch::randn(p.weight).to(torch::kBFloat16);
  const Tensor wanted = gradient(p, x, weight, torch::kDouble), got = gradient(p, x, weight, dtype);
  const double error = ((got - wanted).abs().max() / wanted.abs().max()).item<double>();
  EXPECT_LT(error, tolerance) << torch::toString(dtype) << " x " << p.x << " weight " << p.weight << " stride "
                              << p.stride << " dilation " << p.dilation;
}

// What was written too far was longest here: half of the scratch memory.
TEST(BrokenConvolutions, StridedPointsOfFewChannels) {
  for (const int64_t channels : {1, 2, 3, 8, 12, 15, 16, 20})
    for (const int64_t images : {1, 16}) {
      const Problem p{{images, channels, 56, 56}, {16, channels, 1, 1}, 2};
      expect_right(p, torch::kFloat, 1e-5);
      expect_right(p, torch::kHalf, 1e-2);
      expect_right(p, torch::kBFloat16, 1e-2);
    }
}

TEST(BrokenConvolutions, HalfGradientsOfUnusualShapes) {
  const std::vector<Problem> problems{
      {{1, 8, 28, 33}, {2, 4, 3, 3}, 1, 1, 2, 2},  // dilated
      {{2, 3, 33, 56}, {3, 1, 5, 5}, 1, 2, 2, 3},       {{1, 24, 14, 56}, {3, 24, 3, 3}, 1, 1, 2, 1},
      {{3, 12, 7, 1}, {24, 4, 2, 2}, 2, 1, 1, 3},  // narrower than the stride
      {{2, 2, 4, 1}, {16, 2, 3, 3}, 2, 1, 1, 1},        {{5, 32, 8, 2}, {2, 32, 3, 3}, 3, 1, 1, 1},
      {{2, 3, 4, 7, 7}, {3, 1, 3, 3, 3}, 3, 1, 1, 3},  // volumes
      {{2, 32, 7, 1, 1}, {2, 16, 5, 5, 5}, 1, 2, 1, 2}, {{16, 32, 7, 1, 7}, {2, 32, 3, 3, 3}, 2, 1, 1, 1}};
  for (const Problem& p : problems) {
    expect_right(p, torch::kFloat, 1e-5);
    expect_right(p, torch::kHalf, 1e-2);
    expect_right(p, torch::kBFloat16, 1e-2);
  }
}

}  // namespace
