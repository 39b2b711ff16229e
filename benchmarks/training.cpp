#include <memory>
#include <utility>

#include "nets.h"
#include "workload.h"

namespace bench {
namespace {

using Optimizer = std::shared_ptr<torch::optim::Optimizer>;

Optimizer sgd(const std::vector<torch::Tensor>& weights) {
  return std::make_shared<torch::optim::SGD>(weights, torch::optim::SGDOptions(0.01).momentum(0.9));
}
Optimizer adam(const std::vector<torch::Tensor>& weights) {
  return std::make_shared<torch::optim::Adam>(weights, torch::optim::AdamOptions(1e-3));
}
Optimizer adamw(const std::vector<torch::Tensor>& weights) {
  return std::make_shared<torch::optim::AdamW>(weights, torch::optim::AdamWOptions(3e-4).weight_decay(0.1));
}

// Multiply-adds of one training step are three times the forward's: the gradients of inputs and of weights
// besides.
constexpr double kTrainingPerForward = 3;

template <class Net>
Prepared classifier(Net net, torch::Tensor images, Optimizer optimizer, double forward_mac) {
  auto labels = torch::randint(10, {images.size(0)}, torch::kLong);
  Prepared prepared;
  prepared.flop = 2 * kTrainingPerForward * forward_mac * static_cast<double>(images.size(0));
  prepared.iteration = [net, images, labels, optimizer]() mutable {
    optimizer->zero_grad();
    auto loss = torch::nn::functional::cross_entropy(net->forward(images), labels);
    loss.backward();
    optimizer->step();
  };
  return prepared;
}

Prepared mlp(int64_t batch, Optimizer (*optimizer)(const std::vector<torch::Tensor>&)) {
  Mlp net;
  return classifier(net, torch::rand({batch, 784}), optimizer(net->parameters()), 784 * 512 + 512 * 512 + 512 * 10);
}

Prepared lenet() {
  LeNet net;
  const double mac = 784.0 * 32 * 25 + 196.0 * 64 * 800 + 3136.0 * 512 + 5120;
  return classifier(net, torch::rand({64, 1, 28, 28}), sgd(net->parameters()), mac);
}

Prepared resnet18() {
  ResNet18 net;
  return classifier(net, torch::rand({32, 3, 32, 32}), sgd(net->parameters()), 555.4e6);
}

Prepared gpt() {
  const GptShape s;
  Gpt net(s);
  auto optimizer = adamw(net->parameters());
  auto ids = torch::randint(s.vocabulary, {s.batch, s.length + 1}, torch::kLong);
  auto x = ids.slice(1, 0, s.length).contiguous(), y = ids.slice(1, 1).contiguous().view(-1);
  const double per_token =
      static_cast<double>(s.layers) * static_cast<double>(12 * s.width * s.width + s.width * s.length) +
      static_cast<double>(s.width * s.vocabulary);
  Prepared prepared;
  prepared.flop = 2 * kTrainingPerForward * per_token * static_cast<double>(s.batch * s.length);
  prepared.iteration = [=]() mutable {
    optimizer->zero_grad();
    auto logits = net->forward(x);
    auto loss = torch::nn::functional::cross_entropy(logits.view({-1, s.vocabulary}), y);
    loss.backward();
    optimizer->step();
  };
  return prepared;
}

}  // namespace

std::vector<Workload> training_workloads() {
  return {
      {"mlp_b64_sgd_f32", [] { return mlp(64, sgd); }},
      {"mlp_b64_adam_f32", [] { return mlp(64, adam); }},
      {"mlp_b1_sgd_f32", [] { return mlp(1, sgd); }},
      {"lenet_b64_f32", lenet},
      {"resnet18_b32_f32", resnet18},
      {"gpt_b8_f32", gpt},
  };
}

}  // namespace bench
