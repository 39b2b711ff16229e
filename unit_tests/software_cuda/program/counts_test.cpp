// What a training step asks of the device: launches, calls of libraries, copies, waits. docs/cuda.md has the numbers.
#include <torch/torch.h>

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "software_cuda/program/control.h"

namespace {

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

/// What the third step asks for.
software_cuda::Counts counts_of(const std::function<void()>& step) {
  for (int i = 0; i < 2; ++i) step();
  torch::cuda::synchronize();
  control().reset_counts();
  step();
  return control().counts();
}
void expect_no_waits(const software_cuda::Counts& c, uint64_t calls) {
  EXPECT_EQ(c.synchronisations, 0u);
  EXPECT_EQ(c.copies_to_host + c.copies_from_host + c.copies_on_device, 0u);
  EXPECT_LE(c.launches + c.library_calls, calls);
}

nn::Sequential make_mlp() {
  nn::Sequential net(nn::Linear(784, 512), nn::ReLU(), nn::Linear(512, 512), nn::ReLU(), nn::Linear(512, 10));
  net->to(torch::kCUDA);
  return net;
}

TEST(StepCounts, Mlp) {
  NEEDS_COUNTS();
  const Tensor x = torch::rand({8, 784}, torch::kCUDA), y = torch::arange(8).to(torch::kCUDA);
  for (const bool adam : {false, true}) {
    auto net = make_mlp();
    std::unique_ptr<torch::optim::Optimizer> optimizer;
    if (adam)
      optimizer = std::make_unique<torch::optim::Adam>(net->parameters());
    else
      optimizer = std::make_unique<torch::optim::SGD>(net->parameters(), 0.01);
    expect_no_waits(counts_of([&] {
                      optimizer->zero_grad();
                      F::cross_entropy(net->forward(x), y).backward();
                      optimizer->step();
                    }),
                    12);
  }
}

TEST(StepCounts, MlpInHalfWithScaledGradients) {
  NEEDS_COUNTS();
  const Tensor x = torch::rand({8, 784}, torch::kCUDA), y = torch::arange(8).to(torch::kCUDA);
  auto net = make_mlp();
  torch::optim::Adam optimizer(net->parameters());
  torch::amp::GradScaler scaler("cuda");
  expect_no_waits(counts_of([&] {
                    optimizer.zero_grad();
                    Tensor loss;
                    {
                      torch::autocast guard(torch::kCUDA, torch::kHalf);
                      loss = F::cross_entropy(net->forward(x), y);
                    }
                    scaler.scale(loss).backward();
                    scaler.step(optimizer);
                    scaler.update();
                  }),
                  31);
}

TEST(StepCounts, Lstm) {
  NEEDS_COUNTS();
  struct NetImpl : nn::Module {
    nn::LSTM lstm{register_module("lstm", nn::LSTM(nn::LSTMOptions(16, 24).num_layers(2)))};
    nn::Linear head{register_module("head", nn::Linear(24, 10))};
  } net;
  net.to(torch::kCUDA);
  const Tensor x = torch::rand({12, 4, 16}, torch::kCUDA), y = torch::arange(4).to(torch::kCUDA);
  torch::optim::Adam optimizer(net.parameters());
  expect_no_waits(counts_of([&] {
                    optimizer.zero_grad();
                    F::cross_entropy(net.head(std::get<0>(net.lstm(x)).mean(0)), y).backward();
                    optimizer.step();
                  }),
                  18);
}

struct BlockImpl : nn::Module {
  BlockImpl(int in, int out, int stride) {
    const auto conv = [&](const char* name, int from, int size, int step) {
      return register_module(name,
                             nn::Conv2d(nn::Conv2dOptions(from, out, size).stride(step).padding(size / 2).bias(false)));
    };
    first = conv("first", in, 3, stride), second = conv("second", out, 3, 1);
    first_norm = register_module("first_norm", nn::BatchNorm2d(out));
    second_norm = register_module("second_norm", nn::BatchNorm2d(out));
    if (stride == 1 && in == out) return;
    shortcut = conv("shortcut", in, 1, stride);
    shortcut_norm = register_module("shortcut_norm", nn::BatchNorm2d(out));
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = second_norm(second(torch::relu(first_norm(first(x)))));
    return torch::relu(y + (shortcut ? shortcut_norm(shortcut(x)) : x));
  }
  nn::Conv2d first{nullptr}, second{nullptr}, shortcut{nullptr};
  nn::BatchNorm2d first_norm{nullptr}, second_norm{nullptr}, shortcut_norm{nullptr};
};
TORCH_MODULE(Block);

TEST(StepCounts, ResNet18) {
  NEEDS_COUNTS();
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(3, 8, 7).stride(2).padding(3).bias(false)), nn::BatchNorm2d(8),
                     nn::ReLU(), nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)), Block(8, 8, 1),
                     Block(8, 8, 1), Block(8, 16, 2), Block(16, 16, 1), Block(16, 32, 2), Block(32, 32, 1),
                     Block(32, 64, 2), Block(64, 64, 1), nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(64, 10));
  net->to(torch::kCUDA);
  const Tensor x = torch::rand({2, 3, 64, 64}, torch::kCUDA), y = torch::arange(2).to(torch::kCUDA);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  expect_no_waits(counts_of([&] {
                    optimizer.zero_grad();
                    F::cross_entropy(net->forward(x), y).backward();
                    optimizer.step();
                  }),
                  155);
}

struct LayerImpl : nn::Module {
  nn::LayerNorm before{register_module("before", nn::LayerNorm(nn::LayerNormOptions({32})))};
  nn::LayerNorm between{register_module("between", nn::LayerNorm(nn::LayerNormOptions({32})))};
  nn::Linear qkv{register_module("qkv", nn::Linear(32, 96))}, out{register_module("out", nn::Linear(32, 32))};
  nn::Linear up{register_module("up", nn::Linear(32, 128))}, down{register_module("down", nn::Linear(128, 32))};
  Tensor forward(const Tensor& x) {
    const auto heads = qkv(before(x)).view({x.size(0), x.size(1), 3, 4, 8}).permute({2, 0, 3, 1, 4}).unbind(0);
    const Tensor seen = at::scaled_dot_product_attention(heads[0], heads[1], heads[2], {}, 0, /*is_causal=*/true);
    const Tensor y = x + out(seen.transpose(1, 2).reshape(x.sizes()));
    return y + down(torch::gelu(up(between(y)), by_tanh ? "tanh" : "none"));
  }
  static inline bool by_tanh = false;
};
TORCH_MODULE(Layer);

void count_gpt(uint64_t calls) {
  struct GptImpl : nn::Module {
    nn::Embedding tokens{register_module("tokens", nn::Embedding(65, 32))};
    nn::Embedding places{register_module("places", nn::Embedding(16, 32))};
    nn::Sequential layers{register_module("layers", nn::Sequential(Layer(), Layer(), Layer(), Layer()))};
    nn::LayerNorm norm{register_module("norm", nn::LayerNorm(nn::LayerNormOptions({32})))};
    nn::Linear head{register_module("head", nn::Linear(nn::LinearOptions(32, 65).bias(false)))};
  } net;
  net.to(torch::kCUDA);
  const Tensor ids = torch::arange(32).remainder(65).view({2, 16}).to(torch::kCUDA), targets = ids.flatten();
  const Tensor order = torch::arange(16).to(torch::kCUDA);
  torch::optim::AdamW optimizer(net.parameters());
  expect_no_waits(counts_of([&] {
                    optimizer.zero_grad();
                    const Tensor x = net.layers->forward(net.tokens(ids) + net.places(order));
                    F::cross_entropy(net.head(net.norm(x)).view({-1, 65}), targets).backward();
                    optimizer.step();
                  }),
                  calls);
}
TEST(StepCounts, Gpt) {
  NEEDS_COUNTS();
  count_gpt(137);
  LayerImpl::by_tanh = true;
  count_gpt(129);
}

}  // namespace
