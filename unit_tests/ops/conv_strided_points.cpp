// The gradient of the weights of 1x1 convolutions with a stride and few channels, for which oneDNN has an
// implementation that writes behind its scratch memory.

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

using torch::Tensor;

Tensor gradient(const Tensor& x, const Tensor& weight, int64_t stride) {
  const Tensor w = weight.clone().requires_grad_();
  torch::conv2d(x, w, {}, stride).square().mean().backward();
  return w.grad();
}

TEST(StridedPoints, GradientOfTheWeightsIsThatOfDouble) {
  torch::manual_seed(1);
  for (const int64_t channels : {1, 2, 3, 8, 12, 15, 16, 20})
    for (const int64_t images : {1, 16})
      for (const auto dtype : {torch::kFloat, torch::kHalf}) {
        // What it writes too far is longest here: half of the scratch memory.
        const Tensor x = torch::randn({images, channels, 56, 56}).to(dtype);
        const Tensor weight = torch::randn({16, channels, 1, 1}).to(dtype);
        const Tensor got = gradient(x, weight, 2).to(torch::kDouble);
        const Tensor wanted = gradient(x.to(torch::kDouble), weight.to(torch::kDouble), 2);
        const double error = ((got - wanted).abs().max() / wanted.abs().max()).item<double>();
        EXPECT_LT(error, dtype == torch::kHalf ? 1e-2 : 1e-5) << channels << " channels, " << images << " images";
      }
}

}  // namespace
