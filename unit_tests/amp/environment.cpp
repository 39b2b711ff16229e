// HALFBRIDGE_AMP=O1:fp16 (set by CTest for this file): what a program that knows nothing of it sees.
#include "amp/environment.h"

#include <cmath>
#include <memory>
#include <thread>

namespace nn = torch::nn;
using torch::Tensor;

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
  // A pass that returns gradients of what no optimizer has is not scaled: they are gone.
  auto lost = torch::autograd::grad({(fc(x).to(torch::kFloat) * 1e-8).sum()}, {fc->weight})[0];
  EXPECT_EQ(lost.abs().max().item<float>(), 0);
}

TEST_F(AmpEnvironment, SparseGradientsAreUnscaled) {
  nn::Embedding table(nn::EmbeddingOptions(5, 2).sparse(true));
  torch::optim::SGD sgd(table->parameters(), 0.5);
  const Tensor before = table->weight.detach().clone();
  table(torch::tensor({1, 3, 3})).sum().backward();
  EXPECT_TRUE(table->weight.grad().is_sparse());
  const Tensor expected = torch::tensor({0.0F, 1.0F, 0.0F, 2.0F, 0.0F}).unsqueeze(1).expand({5, 2});
  EXPECT_TRUE(torch::equal(table->weight.grad().to_dense(), expected));
  sgd.step();
  const Tensor after = before - expected * 0.5;
  EXPECT_TRUE(torch::allclose(table->weight, after));
  // A step that an overflow leaves out.
  sgd.zero_grad();
  (table(torch::tensor({1})) * INFINITY).sum().backward();
  sgd.step();
  EXPECT_TRUE(torch::allclose(table->weight, after));
}

TEST_F(AmpEnvironment, ReturnedGradientsOfTrainedParametersAreUnscaledAndSmallOnesSurvive) {
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  auto small = [&] { return (fc(x).to(torch::kFloat) * 1e-8).sum(); };
  const auto expected = (x.sum(0) * 1e-8).expand({8, 32});
  auto [loss, grads] = torch::value_and_grad(small, fc->parameters())();
  EXPECT_LT(std::abs(loss.item<float>()), 1e-4f);
  ASSERT_EQ(grads.size(), 2u);
  EXPECT_EQ(grads[0].scalar_type(), torch::kFloat);
  EXPECT_TRUE(torch::allclose(grads[0], expected, 1e-2, 1e-10));
  EXPECT_FALSE(fc->weight.grad().defined());
  // Inputs and intermediate tensors among them too, each in its dtype.
  const auto input = x.clone().requires_grad_();
  const auto y = fc(input);
  const auto some = torch::autograd::grad({(y.to(torch::kFloat) / 64).sum()}, {fc->bias, input, y});
  EXPECT_TRUE(torch::equal(some[0], torch::full({8}, 0.25f)));
  EXPECT_TRUE(torch::allclose(some[1], (fc->weight.sum(0) / 64).expand({16, 32}), 1e-2, 1e-4));
  EXPECT_TRUE(torch::equal(some[2], torch::full({16, 8}, 1.0 / 64, torch::kHalf)));
  // One that records a graph is not scaled.
  const auto twice = torch::autograd::grad({small()}, {fc->weight}, {}, true, /*create_graph=*/true)[0];
  EXPECT_EQ(twice.abs().max().item<float>(), 0);
}

TEST_F(AmpEnvironment, ExplicitGradientsGiveTheWeightsOfBackward) {
  const auto with_backward = std::dynamic_pointer_cast<nn::LinearImpl>(fc->clone());
  torch::optim::AdamW explicit_steps(fc->parameters(), 0.01), steps(with_backward->parameters(), 0.01);
  auto fn = torch::value_and_grad([&] { return fc(x).to(torch::kFloat).pow(2).mean(); }, fc->parameters());
  for (int i = 0; i < 5; ++i) {
    explicit_steps.step(fn().second);
    steps.zero_grad();
    with_backward->forward(x).to(torch::kFloat).pow(2).mean().backward();
    steps.step();
  }
  EXPECT_TRUE(torch::equal(fc->weight, with_backward->weight));
  EXPECT_TRUE(torch::equal(fc->bias, with_backward->bias));
}

// A scaler of the program's own multiplies and divides besides.
TEST_F(AmpEnvironment, AScalerOfTheProgramKeepsItsWord) {
  fc->to(torch::kHalf);  // its step divides half gradients as it computes
  torch::optim::SGD sgd(fc->parameters(), 1.0);
  torch::amp::GradScaler scaler("cpu", torch::amp::GradScalerOptions().init_scale(4));
  const auto before = fc->bias.detach().clone();
  scaler.scale((fc(x).to(torch::kFloat) / 64).sum()).backward();
  fc->bias.mutable_grad() = fc->bias.grad().to(torch::kHalf);
  scaler.step(sgd);
  scaler.update();
  EXPECT_TRUE(torch::allclose(before - fc->bias, torch::full({8}, 0.25, torch::kHalf), 1e-2, 1e-2));
}

TEST_F(AmpEnvironment, HooksOfParametersSeeUnscaledGradients) {
  float largest = 0;
  fc->bias.register_hook([&](const Tensor& g) { largest = g.abs().max().item<float>(); });
  (fc(x).to(torch::kFloat) / 64).sum().backward();
  EXPECT_EQ(largest, 0.25f);
  EXPECT_TRUE(torch::equal(fc->bias.grad(), torch::full({8}, 0.25f)));
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
