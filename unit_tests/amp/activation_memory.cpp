// What autograd holds between the forward and the backward pass, in f32 and under bf16 autocast.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>

#include <cstdio>

#include "../benchmarks/nets.h"

namespace {

double mib(size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

// What the loss keeps alive: activations, and in half precision the half copies of the weights, which are not counted.
// Everything that a first pass sets up is there already.
template <class Forward>
double activations_mib(const torch::nn::Module& net, Forward forward, bool half) {
  const auto run = [&] {
    torch::autocast guard(torch::kCPU, torch::kBFloat16, half);
    return forward();
  };
  run().backward();
  const size_t before = hb::memory_in_use(torch::kCPU);
  const torch::Tensor loss = run();
  size_t copies = 0;
  for (const auto& weight : net.parameters())
    if (half && weight.dim() > 1) copies += weight.numel() * 2;
  return mib(hb::memory_in_use(torch::kCPU) - before) - mib(copies);
}

template <class Forward>
void expect_half_saves(const torch::nn::Module& net, Forward forward) {
  const double f32 = activations_mib(net, forward, false), bf16 = activations_mib(net, forward, true);
  std::printf("activations: %.1f MiB in f32, %.1f MiB in bf16 (%.0f %%)\n", f32, bf16, 100 * bf16 / f32);
  EXPECT_LE(bf16, 0.6 * f32);
}

TEST(ActivationMemory, ResNet18) {
  bench::ResNet18 net;
  const auto images = torch::rand({32, 3, 32, 32});
  const auto labels = torch::randint(10, {32}, torch::kLong);
  const auto forward = [&] { return torch::nn::functional::cross_entropy(net->forward(images), labels); };
  expect_half_saves(*net, forward);
}

TEST(ActivationMemory, Gpt) {
  const bench::GptShape s;
  bench::Gpt net(s);
  const auto ids = torch::randint(s.vocabulary, {s.batch, s.length}, torch::kLong);
  const auto labels = torch::randint(s.vocabulary, {s.batch * s.length}, torch::kLong);
  const auto forward = [&] {
    return torch::nn::functional::cross_entropy(net->forward(ids).view({-1, s.vocabulary}), labels);
  };
  expect_half_saves(*net, forward);
}

}  // namespace
