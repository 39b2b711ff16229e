// The seven steps of mixed-precision training, one test for each (examples/seven_steps.cpp shows them together).

#include <gtest/gtest.h>

#include <limits>

#include "train/digits.h"

namespace {

using torch::Tensor;
using torch::amp::GradScaler;
namespace F = torch::nn::functional;

struct SevenSteps : testing::Test {
  SevenSteps() { torch::manual_seed(4), net = digits::Net(); }
  digits::Net net{nullptr};
  digits::Data batch = digits::batch(0);
  Tensor half_logits() {
    torch::autocast guard(torch::kCPU, torch::kHalf);
    return net(batch.images);
  }
};

TEST_F(SevenSteps, Step1ParametersAreFp32) {
  torch::optim::SGD sgd(net->parameters(), 1.0);
  for (const Tensor& p : net->parameters()) EXPECT_EQ(p.scalar_type(), torch::kFloat);
  GradScaler scaler("cpu");
  scaler.scale(digits::half_loss(net, batch)).backward();
  // A change that a half parameter would round away.
  Tensor& w = net->hidden->weight;
  {
    torch::NoGradGuard no_grad;
    w.fill_(1.0);
    w.mutable_grad().fill_(1e-4 * scaler.get_scale());
  }
  scaler.step(sgd);
  EXPECT_TRUE(torch::allclose(w, torch::full({32, 64}, 1.0 - 1e-4), 1e-7, 1e-7));
  EXPECT_TRUE(torch::equal(w.to(torch::kHalf), torch::ones({32, 64}, torch::kHalf)));
}

TEST_F(SevenSteps, Step2InputsAndWeightsAreCastToHalf) {
  const Tensor logits = half_logits();
  EXPECT_EQ(logits.scalar_type(), torch::kHalf);
  const auto half = [](const Tensor& t) { return t.to(torch::kHalf); };
  const Tensor hidden = F::linear(half(batch.images), half(net->hidden->weight), half(net->hidden->bias));
  const Tensor expected = F::linear(torch::relu(hidden), half(net->out->weight), half(net->out->bias));
  EXPECT_TRUE(torch::equal(logits, expected));
  EXPECT_FALSE(torch::equal(logits.to(torch::kFloat), net(batch.images)));
}

TEST_F(SevenSteps, Step3TheLossIsFp32) {
  torch::autocast guard(torch::kCPU, torch::kHalf);
  const Tensor logits = net(batch.images);
  const Tensor loss = F::cross_entropy(logits.to(torch::kFloat), batch.labels);
  EXPECT_EQ(loss.scalar_type(), torch::kFloat);
  EXPECT_NE(loss.item<float>(), loss.to(torch::kHalf).item<float>());  // finer than half
}

TEST_F(SevenSteps, Step4TheLossIsScaled) {
  GradScaler scaler("cpu", 4096.0);
  const Tensor loss = digits::half_loss(net, batch), scaled = scaler.scale(loss);
  EXPECT_EQ(scaled.item<float>(), 4096.0f * loss.item<float>());
  EXPECT_EQ(scaled.scalar_type(), torch::kFloat);
}

TEST_F(SevenSteps, Step5TheBackwardPassRunsInHalf) {
  // A gradient of 1e-9 is below the smallest half; times the scale it is not.
  for (const double scale : {1.0, 65536.0}) {
    GradScaler scaler("cpu", scale);
    const Tensor logits = half_logits();
    Tensor arrived;
    logits.register_hook([&](const Tensor& grad) { arrived = grad; });
    scaler.scale(logits.to(torch::kFloat).sum() * 1e-9).backward();
    EXPECT_EQ(arrived.scalar_type(), torch::kHalf);
    EXPECT_EQ(arrived.abs().max().item<float>() > 0, scale > 1);
  }
}

TEST_F(SevenSteps, Step6GradientsAreFp32AndUnscaled) {
  digits::half_loss(net, batch).backward();
  std::vector<Tensor> plain;
  for (const Tensor& p : net->parameters()) plain.push_back(p.grad().clone());
  torch::optim::SGD sgd(net->parameters(), 1.0);
  sgd.zero_grad();
  GradScaler scaler("cpu", 1024.0);
  scaler.scale(digits::half_loss(net, batch)).backward();
  const auto params = net->parameters();
  EXPECT_TRUE(torch::allclose(params[0].grad(), plain[0] * 1024.0, 1e-2, 1e-3));
  scaler.unscale_(sgd);
  for (size_t i = 0; i < params.size(); ++i) {
    EXPECT_EQ(params[i].grad().scalar_type(), torch::kFloat);
    EXPECT_TRUE(torch::allclose(params[i].grad(), plain[i], 1e-2, 1e-5)) << i;
  }
}

TEST_F(SevenSteps, Step7TheUpdateIsSkippedOnOverflow) {
  torch::optim::SGD sgd(net->parameters(), 1.0);
  GradScaler scaler("cpu", 1024.0);
  for (const bool overflow : {true, false}) {
    sgd.zero_grad();
    scaler.scale(digits::half_loss(net, batch)).backward();
    if (overflow) net->hidden->weight.mutable_grad()[3][5] = std::numeric_limits<float>::quiet_NaN();
    const Tensor before = net->out->weight.detach().clone();
    scaler.step(sgd);
    scaler.update();
    EXPECT_EQ(torch::equal(before, net->out->weight), overflow);
    EXPECT_EQ(scaler.get_scale(), 512.0);
  }
}

}  // namespace
