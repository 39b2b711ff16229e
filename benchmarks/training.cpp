#include <ATen/autocast_mode.h>

#include <memory>
#include <optional>
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

// Mixed precision for the forward pass, by the switches that LibTorch has too. nullopt: none.
using Precision = std::optional<torch::Dtype>;
class Autocast {
 public:
  explicit Autocast(Precision precision) : on_(precision.has_value()) {
    if (!on_) return;
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, *precision);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    if (!on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
  }

 private:
  bool on_;
};

// Multiply-adds of one training step are three times the forward's: the gradients of inputs and of weights
// besides.
constexpr double kTrainingPerForward = 3;

template <class Net>
Prepared classifier(Net net, torch::Tensor images, Optimizer optimizer, double forward_mac, Precision precision = {}) {
  auto labels = torch::randint(10, {images.size(0)}, torch::kLong);
  Prepared prepared;
  prepared.flop = 2 * kTrainingPerForward * forward_mac * static_cast<double>(images.size(0));
  prepared.items = static_cast<double>(images.size(0));
  prepared.unit = "images";
  prepared.iteration = [=]() mutable {
    optimizer->zero_grad();
    torch::Tensor loss;
    {
      Autocast autocast(precision);
      loss = torch::nn::functional::cross_entropy(net->forward(images), labels);
    }
    loss.backward();
    optimizer->step();
  };
  return prepared;
}

Prepared mlp(int64_t batch, Optimizer (*optimizer)(const std::vector<torch::Tensor>&), Precision precision = {}) {
  Mlp net;
  return classifier(net, torch::rand({batch, 784}), optimizer(net->parameters()), 784 * 512 + 512 * 512 + 512 * 10,
                    precision);
}

Prepared lenet() {
  LeNet net;
  const double mac = 784.0 * 32 * 25 + 196.0 * 64 * 800 + 3136.0 * 512 + 5120;
  return classifier(net, torch::rand({64, 1, 28, 28}), sgd(net->parameters()), mac);
}

Prepared resnet18(Precision precision = {}) {
  ResNet18 net;
  return classifier(net, torch::rand({32, 3, 32, 32}), sgd(net->parameters()), 555.4e6, precision);
}

Prepared gpt(Precision precision = {}) {
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
    torch::Tensor loss;
    {
      Autocast autocast(precision);
      auto logits = net->forward(x);
      loss = torch::nn::functional::cross_entropy(logits.view({-1, s.vocabulary}), y);
    }
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
      {"resnet18_b32_f32", [] { return resnet18(); }},
      {"gpt_b8_f32", [] { return gpt(); }},
      {"mlp_b64_sgd_bf16", [] { return mlp(64, sgd, torch::kBFloat16); }},
      {"mlp_b64_sgd_fp16", [] { return mlp(64, sgd, torch::kHalf); }},
      {"resnet18_b32_bf16", [] { return resnet18(torch::kBFloat16); }},
      {"resnet18_b32_fp16", [] { return resnet18(torch::kHalf); }},
      {"gpt_b8_bf16", [] { return gpt(torch::kBFloat16); }},
      {"gpt_b8_fp16", [] { return gpt(torch::kHalf); }},
  };
}

}  // namespace bench
