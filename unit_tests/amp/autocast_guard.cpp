// The autocast guard: state per thread, nesting, the cache of half copies, gradients. Op by op: autocast_parity.cpp.
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <thread>

namespace {

using at::autocast::is_autocast_enabled;
using torch::kBFloat16;
using torch::kCPU;
using torch::kFloat;
using torch::kHalf;

torch::Tensor ones() { return torch::ones({4, 4}); }
torch::Tensor weight() { return torch::rand({4, 4}).requires_grad_(); }

TEST(Autocast, CastsWhileTheGuardLives) {
  {
    torch::autocast guard(kCPU, kHalf);
    EXPECT_TRUE(is_autocast_enabled(kCPU));
    EXPECT_EQ(torch::mm(ones(), ones()).scalar_type(), kHalf);
    EXPECT_EQ(torch::linear(ones(), ones(), torch::ones({4})).scalar_type(), kHalf);
    EXPECT_EQ(torch::conv2d(torch::ones({1, 1, 4, 4}), torch::ones({1, 1, 3, 3})).scalar_type(), kHalf);
    EXPECT_EQ((ones() + ones()).scalar_type(), kFloat);
  }
  EXPECT_FALSE(is_autocast_enabled(kCPU));
  EXPECT_EQ(torch::mm(ones(), ones()).scalar_type(), kFloat);
}

TEST(Autocast, DefaultDtypes) {
  torch::autocast guard(kCPU);
  EXPECT_EQ(torch::mm(ones(), ones()).scalar_type(), kBFloat16);
  EXPECT_EQ(at::autocast::get_autocast_dtype(torch::kCUDA), kHalf);
  EXPECT_THROW(at::autocast::get_autocast_dtype(torch::kMeta), c10::Error);
}

TEST(Autocast, NestsAndSwitchesOffInside) {
  torch::autocast outer(kCPU, kBFloat16);
  const auto w = weight();
  EXPECT_EQ(torch::mm(ones(), w).scalar_type(), kBFloat16);
  {
    torch::autocast inner(kCPU, kHalf);
    EXPECT_EQ(torch::mm(ones(), w).scalar_type(), kHalf);
    torch::autocast off(kCPU, std::nullopt, false);
    EXPECT_EQ(torch::mm(ones(), w).scalar_type(), kFloat);
  }
  EXPECT_EQ(torch::mm(ones(), w).scalar_type(), kBFloat16);
}

TEST(Autocast, UnsupportedDtypeOrDeviceSwitchesOff) {
  testing::internal::CaptureStderr();
  {
    torch::autocast guard(kCPU, kFloat);
    EXPECT_FALSE(is_autocast_enabled(kCPU));
  }
  {
    torch::autocast guard(torch::kCUDA);
    EXPECT_FALSE(is_autocast_enabled(torch::kCUDA));
  }
  const std::string warnings = testing::internal::GetCapturedStderr();
  EXPECT_NE(warnings.find("expected dtype Half or BFloat16"), std::string::npos) << warnings;
  EXPECT_NE(warnings.find("not available"), std::string::npos) << warnings;
}

TEST(Autocast, ThreadsStartOff) {
  torch::autocast guard(kCPU, kHalf);
  bool enabled = true;
  torch::Dtype dtype = kHalf;
  std::thread([&] {
    enabled = is_autocast_enabled(kCPU);
    dtype = torch::mm(ones(), ones()).scalar_type();
  }).join();
  EXPECT_FALSE(enabled);
  EXPECT_EQ(dtype, kFloat);
}

TEST(Autocast, CastsFloatingTensorsOfTheDeviceOnly) {
  torch::autocast guard(kCPU, kHalf);
  EXPECT_EQ(torch::mm(ones().to(torch::kDouble), ones().to(torch::kDouble)).scalar_type(), torch::kDouble);
  EXPECT_EQ(torch::mm(ones().to(torch::kBFloat16), ones()).scalar_type(), kHalf);
  EXPECT_EQ(torch::mm(torch::ones({2, 2}, torch::kLong), torch::ones({2, 2}, torch::kLong)).scalar_type(),
            torch::kLong);
}

TEST(Autocast, InPlaceAndOutFormsStayAsTheyAre) {
  torch::autocast guard(kCPU, kHalf);
  auto out = torch::zeros({4, 4});
  torch::mm_out(out, ones(), ones());
  EXPECT_EQ(out.scalar_type(), kFloat);
  // 2049 is not a half number: the product was computed in float.
  auto self = torch::zeros({1, 1});
  self.addmm_(torch::full({1, 1}, 2049.0), torch::ones({1, 1}));
  EXPECT_EQ(self.item<float>(), 2049.0f);
}

TEST(Autocast, GradientsReachFloatLeavesInFloat) {
  const auto w = weight();
  torch::Tensor loss;
  {
    torch::autocast guard(kCPU, kBFloat16);
    loss = torch::mm(ones(), w).sum();
  }
  loss.backward();
  EXPECT_EQ(w.grad().scalar_type(), kFloat);
  EXPECT_TRUE(torch::allclose(w.grad(), torch::full({4, 4}, 4.0)));
}

TEST(Autocast, BackwardInsideTheGuardComputesInTheDtypesOfTheForward) {
  const auto x = torch::full({1, 1}, 2049.0), w = torch::ones({1, 1}).requires_grad_();
  const auto y = torch::mm(x, w);
  torch::autocast guard(kCPU, kHalf);
  y.backward(torch::ones({1, 1}));
  EXPECT_EQ(w.grad().item<float>(), 2049.0f);
}

// Of all dimensions a contraction is a dot product, which has no class.
TEST(Autocast, WholeContractionsAreDotProducts) {
  const auto line = torch::ones({5}), plane = torch::ones({3, 5});
  torch::autocast guard(kCPU, kBFloat16);
  EXPECT_EQ(torch::inner(line, line).scalar_type(), kFloat);
  EXPECT_EQ(torch::inner(line.to(kHalf), line.to(kHalf)).scalar_type(), kHalf);
  EXPECT_EQ(torch::inner(plane, line).scalar_type(), kBFloat16);
  EXPECT_EQ(torch::tensordot(plane, plane, {0, 1}, {0, 1}).scalar_type(), kFloat);
  EXPECT_EQ(torch::tensordot(plane, plane, {1}, {1}).scalar_type(), kBFloat16);
}

TEST(AutocastCache, KeepsHalfCopiesOfWeightsUntilTheOutermostGuardEnds) {
  const auto w = weight();
  {
    torch::autocast guard(kCPU, kHalf);
    torch::mm(ones(), w);
    torch::mm(ones(), w);
    EXPECT_EQ(at::autocast::cache_size(), 1u);
    torch::mm(ones(), w.detach());  // no gradient: not a weight
    torch::mm(ones(), w * 2);       // no leaf
    EXPECT_EQ(at::autocast::cache_size(), 1u);
    { torch::autocast inner(kCPU, kHalf); }
    EXPECT_EQ(at::autocast::cache_size(), 1u);
  }
  EXPECT_EQ(at::autocast::cache_size(), 0u);
}

TEST(AutocastCache, OneNodeCastsASharedWeight) {
  const auto w = weight();
  torch::autocast guard(kCPU, kHalf);
  const auto a = at::autocast::cached_cast(kHalf, w, kCPU), b = at::autocast::cached_cast(kHalf, w, kCPU);
  EXPECT_EQ(a.data_ptr(), b.data_ptr());
  EXPECT_EQ(a.grad_fn(), b.grad_fn());
}

TEST(AutocastCache, CanBeSwitchedOff) {
  const auto w = weight();
  torch::autocast guard(kCPU, kHalf, true, false);
  EXPECT_FALSE(at::autocast::is_autocast_cache_enabled());
  torch::mm(ones(), w);
  EXPECT_EQ(at::autocast::cache_size(), 0u);
}

// PyTorch's cache goes on with the old values; its C++ nn::Linear has none, so that programs train under one guard.
TEST(AutocastCache, AChangeOfAWeightShowsAtOnce) {
  auto w = torch::ones({4, 4}).requires_grad_();
  const auto product = [&] { return torch::mm(ones(), w)[0][0].item<float>(); };
  torch::autocast guard(kCPU, kHalf);
  EXPECT_EQ(product(), 4.0f);
  {
    torch::NoGradGuard no_grad;
    w.mul_(3);
  }
  EXPECT_EQ(product(), 12.0f);
  w.data().mul_(2);
  EXPECT_EQ(product(), 24.0f);
  w.set_data(torch::full({4, 4}, 5.0));
  EXPECT_EQ(product(), 20.0f);
  EXPECT_EQ(at::autocast::cache_size(), 1u);
}

TEST(AutocastCache, AModelTrainsWhereAutocastStaysOn) {
  torch::manual_seed(3);
  const auto x = torch::randn({8, 1, 6, 6}), y = torch::randn({8, 2});
  torch::nn::Sequential net(torch::nn::Conv2d(1, 4, 3), torch::nn::ReLU(), torch::nn::Flatten(),
                            torch::nn::Linear(64, 2));
  torch::optim::Adam adam(net->parameters(), 0.01);
  torch::autocast guard(kCPU, kBFloat16);
  std::vector<float> losses;
  for (int i = 0; i < 40; ++i) {
    adam.zero_grad();
    const auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    adam.step();
    losses.push_back(loss.item<float>());
  }
  EXPECT_LT(losses.back(), 0.2 * losses.front());
}

TEST(AutocastCache, ACopyMadeWithoutGradientsDoesNotCutTheGraph) {
  const auto w = weight();
  torch::autocast guard(kCPU, kHalf);
  {
    torch::NoGradGuard no_grad;
    torch::mm(ones(), w);
  }
  const auto y = torch::mm(ones(), w);
  ASSERT_TRUE(y.requires_grad());
  y.sum().backward();
  EXPECT_TRUE(w.grad().defined());
}

TEST(AutocastCache, AFreedWeightIsNotMistakenForAnother) {
  torch::autocast guard(kCPU, kHalf);
  for (int i = 1; i <= 50; ++i) {
    const auto w = torch::full({4, 4}, 1.0 * i).requires_grad_();
    EXPECT_EQ(torch::mm(ones(), w)[0][0].item<float>(), 4.0f * i);
  }
}

}  // namespace
