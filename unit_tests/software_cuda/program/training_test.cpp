// Networks trained on the software device beside the CPU.
#include <halfbridge/train/model.h>
#include <halfbridge/train/summary.h>

#include <cstdio>

#include "software_cuda/program/beside_cpu.h"

namespace {

/// Losses of some steps of a network on a device.
template <class Net, class Loss>
std::vector<double> train(const torch::Device& device, const Loss& loss, int steps, bool adam) {
  torch::manual_seed(3);
  Net net;
  net->to(device);
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  if (adam)
    optimizer = std::make_unique<torch::optim::AdamW>(net->parameters(), torch::optim::AdamWOptions(1e-2));
  else
    optimizer = std::make_unique<torch::optim::SGD>(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  std::vector<double> losses;
  for (int i = 0; i < steps; ++i) {
    optimizer->zero_grad();
    const Tensor l = loss(net, device);
    l.backward();
    optimizer->step();
    losses.push_back(l.template item<double>());
  }
  return losses;
}
template <class Net, class Loss>
void expect_same_training(const Loss& loss, bool adam = false) {
  const auto expected = train<Net>(torch::kCPU, loss, 4, adam), got = train<Net>(kGpu, loss, 4, adam);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-4 * std::abs(expected[i])) << i;
  EXPECT_LT(got.back(), got.front());
}

struct LeNetImpl : nn::Module {
  nn::Conv2d first{register_module("first", nn::Conv2d(1, 6, 5))};
  nn::BatchNorm2d norm{register_module("norm", nn::BatchNorm2d(6))};
  nn::Conv2d second{register_module("second", nn::Conv2d(6, 8, 3))};
  nn::Linear last{register_module("last", nn::Linear(72, 10))};
  Tensor forward(Tensor x) {
    x = torch::max_pool2d(torch::relu(norm(first(x))), 2);
    x = torch::max_pool2d(torch::relu(second(x)), 2);
    return last(x.flatten(1));
  }
};
TORCH_MODULE(LeNet);

TEST(SoftwareTraining, LeNet) {
  expect_same_training<LeNet>([](LeNet& net, const torch::Device& device) {
    const Tensor x = values({6, 1, 20, 20}).to(device), y = torch::tensor({1, 2, 3, 4, 5, 6}).to(device);
    return F::cross_entropy(net(x), y);
  });
}

struct GptImpl : nn::Module {
  nn::Embedding tokens{register_module("tokens", nn::Embedding(17, 16))};
  nn::LayerNorm norm{register_module("norm", nn::LayerNorm(nn::LayerNormOptions({16})))};
  nn::Linear qkv{register_module("qkv", nn::Linear(16, 48))};
  nn::Linear out{register_module("out", nn::Linear(16, 16))};
  nn::Linear head{register_module("head", nn::Linear(16, 17))};
  Tensor forward(const Tensor& ids) {
    Tensor x = tokens(ids);
    const int64_t b = x.size(0), t = x.size(1);
    const auto parts = qkv(norm(x)).view({b, t, 3, 2, 8}).permute({2, 0, 3, 1, 4}).unbind(0);
    const Tensor y = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0, true);
    x = x + torch::gelu(out(y.transpose(1, 2).reshape({b, t, 16})));
    return head(x);
  }
};
TORCH_MODULE(Gpt);

TEST(SoftwareTraining, Gpt) {
  expect_same_training<Gpt>(
      [](Gpt& net, const torch::Device& device) {
        const Tensor ids = torch::arange(24).remainder(17).view({2, 12}).to(device);
        return F::cross_entropy(net(ids).view({-1, 17}), ids.roll(-1, 1).flatten());
      },
      true);
}

// A convolution's copy of its weight follows it, however that was changed.
TEST(SoftwareTraining, ConvolutionsSeeChangedWeights) {
  const auto run = [](const torch::Device& device) {
    torch::manual_seed(5);
    nn::Conv2d conv(3, 4, 3);
    conv->to(device);
    torch::optim::SGD optimizer(conv->parameters(), 0.1);
    const Tensor x = values({2, 3, 6, 6}).to(device), other = values({4, 3, 3, 3}).to(device);
    std::vector<Tensor> seen;
    const auto step = [&] {
      optimizer.zero_grad();
      const Tensor y = conv(x);
      y.square().mean().backward();
      seen.push_back(y.detach());
      seen.push_back(conv->weight.grad().clone());
    };
    const Tensor alias = conv->weight.detach();
    const std::vector<std::function<void()>> changes{
        [&] { optimizer.step(); },
        [&] {
          torch::NoGradGuard guard;
          conv->weight.mul_(2);
        },
        [&] { conv->weight.data().copy_(other); },
        [&] { alias.add_(1); },
        [&] { conv->weight.set_data(other * 3); },
        [&] {
          step();
          optimizer.step();
        },
        [&] { conv->to(torch::kDouble), conv->to(torch::kFloat); },
    };
    for (const auto& change : changes) {
      step();
      change();
      step();
    }
    for (Tensor& t : seen) t = t.cpu();
    return seen;
  };
  const auto expected = run(torch::kCPU), got = run(kGpu);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) expect_close("value " + std::to_string(i), got[i], expected[i], 1e-4);
}

// A gradient that is still held when the weight is updated, and a graph that is run twice around the update.
TEST(SoftwareTraining, KeptGraphsKeepTheirWeights) {
  nn::Conv2d conv(2, 2, 3);
  conv->to(kGpu);
  torch::optim::AdamW optimizer(conv->parameters(), 0.1);
  const Tensor x = values({1, 2, 5, 5}).to(kGpu).requires_grad_();
  const Tensor y = conv(x).sum();
  const Tensor before = torch::autograd::grad({y}, {x}, {}, /*retain_graph=*/true)[0];
  conv(x).sum().backward();
  const Tensor held = conv->weight.grad();
  optimizer.step();
  const Tensor weight = conv->weight.detach().cpu();
  expect_close("weight", torch::conv2d(x.detach().cpu(), weight, conv->bias.detach().cpu()), conv(x).detach().cpu(),
               1e-4);
  EXPECT_TRUE(held.cpu().equal(conv->weight.grad().cpu()));
  EXPECT_THROW(torch::autograd::grad({y}, {x}), c10::Error);  // the weight was changed since
  EXPECT_TRUE(before.defined());
}

// What a checkpoint of training says goes on, a device's random numbers among it; a summary draws none.
TEST(SoftwareTraining, CheckpointsAndSummariesKeepTheDevicesRandomNumbers) {
  nn::Sequential net(nn::Linear(3, 3), nn::Dropout(0.5));
  net->to(kGpu);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  hb::train::Model model(
      net, [](const Tensor& x, const Tensor& y) { return torch::mse_loss(x, y); }, optimizer);
  torch::randn({3}, kGpu);
  const std::string path = testing::TempDir() + "hb_random_of_devices.pt";
  model.save_checkpoint(path);
  const Tensor want = torch::randn({64}, kGpu).cpu();
  EXPECT_FALSE(torch::randn({64}, kGpu).cpu().equal(want));
  model.load_checkpoint(path);
  hb::train::summarize(net, hb::train::example_inputs(net, {{2, 3}}, torch::kFloat));
  EXPECT_TRUE(torch::randn({64}, kGpu).cpu().equal(want));
  std::remove(path.c_str());
}

}  // namespace
