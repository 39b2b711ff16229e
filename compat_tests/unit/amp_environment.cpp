// HALFBRIDGE_AMP=O1:fp16 (set by CTest for this file): what a program that knows nothing of it sees.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>
#include <thread>

namespace nn = torch::nn;
using torch::Tensor;

namespace {

class AmpEnvironment : public testing::Test {
 protected:
  void SetUp() override {
    const char* value = std::getenv("HALFBRIDGE_AMP");
    if (!value || std::string(value) != "O1:fp16") GTEST_SKIP() << "needs HALFBRIDGE_AMP=O1:fp16";
    torch::manual_seed(5);
    x = torch::randn({16, 32});
    fc = nn::Linear(32, 8);
  }
  // A backward pass whose gradients do not fit into fp16 at the scale of the beginning.
  void overflow() { (fc(x) * 1e5).to(torch::kFloat).mean().mul(1e3).backward(); }

  Tensor x;
  nn::Linear fc{nullptr};
};

}  // namespace

TEST_F(AmpEnvironment, ProductsRunInHalf) {
  auto y = fc(x);
  EXPECT_EQ(y.scalar_type(), torch::kHalf);
  EXPECT_EQ(fc->weight.scalar_type(), torch::kFloat);
}

TEST_F(AmpEnvironment, GradientsAreUnscaledAndSmallOnesSurvive) {
  // 1e-8 is 0 in fp16.
  auto loss = (fc(x).to(torch::kFloat) * 1e-8).sum();
  EXPECT_LT(std::abs(loss.item<float>()), 1e-4f);
  loss.backward();
  auto expected = (x.sum(0) * 1e-8).expand({8, 32});
  EXPECT_EQ(fc->weight.grad().scalar_type(), torch::kFloat);
  EXPECT_TRUE(torch::allclose(fc->weight.grad(), expected, 1e-2, 1e-10));
  // They add up, as ever.
  (fc(x).to(torch::kFloat) * 1e-8).sum().backward();
  EXPECT_TRUE(torch::allclose(fc->weight.grad(), expected * 2, 1e-2, 1e-10));
  // Without the scale of backward() they are gone.
  auto lost = torch::autograd::grad({(fc(x).to(torch::kFloat) * 1e-8).sum()}, {fc->weight})[0];
  EXPECT_EQ(lost.abs().max().item<float>(), 0);
}

TEST_F(AmpEnvironment, HooksOfParametersSeeUnscaledGradients) {
  float largest = 0;
  fc->bias.register_hook([&](const Tensor& g) { largest = g.abs().max().item<float>(); });
  (fc(x).to(torch::kFloat) / 64).sum().backward();
  EXPECT_EQ(largest, 0.25f);
  EXPECT_TRUE(torch::equal(fc->bias.grad(), torch::full({8}, 0.25f)));
}

TEST_F(AmpEnvironment, AnOverflowSkipsOneStep) {
  torch::optim::Adam adam(fc->parameters(), 0.1);
  const auto before = fc->weight.detach().clone();
  overflow();
  EXPECT_FALSE(torch::isfinite(fc->weight.grad()).all().item<bool>());
  adam.step();
  EXPECT_TRUE(torch::equal(fc->weight, before));
  adam.zero_grad();
  fc(x).to(torch::kFloat).mean().backward();
  adam.step();
  EXPECT_FALSE(torch::equal(fc->weight, before));
  EXPECT_TRUE(torch::isfinite(fc->weight).all().item<bool>());
}

TEST_F(AmpEnvironment, ClippingDoesNotHideAnOverflow) {
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  const auto before = fc->weight.detach().clone();
  overflow();
  torch::nn::utils::clip_grad_value_(fc->parameters(), 1.0);
  sgd.step();
  EXPECT_TRUE(torch::equal(fc->weight, before));
}

TEST_F(AmpEnvironment, AnOverflowThatWasZeroedIsForgotten) {
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  const auto before = fc->weight.detach().clone();
  overflow();
  fc->zero_grad();
  fc(x).to(torch::kFloat).mean().backward();
  sgd.step();
  EXPECT_FALSE(torch::equal(fc->weight, before));
}

TEST_F(AmpEnvironment, NormsOfGradientsAreThoseOfFloat) {
  const double norm = [&] {
    fc(x).to(torch::kFloat).pow(2).mean().backward();
    return torch::nn::utils::clip_grad_norm_(fc->parameters(), 1e9);
  }();
  auto wide = std::dynamic_pointer_cast<nn::LinearImpl>(fc->clone());
  wide->to(torch::kDouble);
  wide->forward(x.to(torch::kDouble)).pow(2).mean().backward();
  EXPECT_NEAR(norm, torch::nn::utils::clip_grad_norm_(wide->parameters(), 1e9), 2e-3 * norm);
}

TEST_F(AmpEnvironment, OtherThreadsFollowOnceTheyTrain) {
  torch::ScalarType dtype = torch::kInt;
  std::thread([&] {
    nn::Linear own(32, 8);
    torch::optim::SGD sgd(own->parameters(), 0.1);
    dtype = own(x).scalar_type();
  }).join();
  EXPECT_EQ(dtype, torch::kHalf);
}

TEST_F(AmpEnvironment, ClosuresAndOptimizersOfOnesOwn) {
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  const auto before = fc->weight.detach().clone();
  auto loss = sgd.step([&] {
    sgd.zero_grad();
    auto l = fc(x).to(torch::kFloat).pow(2).mean();
    l.backward();
    return l;
  });
  EXPECT_GT(loss.item<float>(), 0);
  EXPECT_FALSE(torch::equal(fc->weight, before));
}
