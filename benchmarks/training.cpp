#include <memory>
#include <utility>

#include "autocast.h"
#include "captured.h"
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
Prepared classifier(Net net, torch::Tensor images, Optimizer optimizer, double forward_mac, Precision precision = {},
                    Mode mode = Mode::eager) {
  auto labels = torch::randint(10, {images.size(0)}, torch::kLong);
  Prepared prepared;
  prepared.flop = 2 * kTrainingPerForward * forward_mac * static_cast<double>(images.size(0));
  prepared.items = static_cast<double>(images.size(0));
  prepared.unit = "images";
  const auto step = [=](torch::Tensor x, torch::Tensor y) mutable {
    optimizer->zero_grad();
    torch::Tensor loss;
    {
      Autocast autocast(precision);
      loss = torch::nn::functional::cross_entropy(net->forward(x), y);
    }
    loss.backward();
    optimizer->step();
    return loss;
  };
  prepared.iteration = iterate(mode, step, images, labels);
  return prepared;
}

/// The policy of a control task: so small that what surrounds the arithmetic counts.
Prepared policy(Optimizer (*optimizer)(const std::vector<torch::Tensor>&), Mode mode) {
  namespace nn = torch::nn;
  nn::Sequential net(nn::Linear(8, 64), nn::Tanh(), nn::Linear(64, 64), nn::Tanh(), nn::Linear(64, 4));
  auto chosen = optimizer(net->parameters());
  const auto step = [=](torch::Tensor x, torch::Tensor y) mutable {
    chosen->zero_grad();
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    chosen->step();
    return loss;
  };
  Prepared prepared;
  prepared.iteration = iterate(mode, step, torch::randn({32, 8}), torch::randn({32, 4}));
  return prepared;
}

/// A chain of element-wise functions, which reads 64 MiB and writes as much.
Prepared chain(Mode mode) {
  const auto step = [](torch::Tensor x, torch::Tensor y) {
    for (int i = 0; i < 3; ++i) x = ((x * 1.5 + y).relu() - 0.25);
    return x;
  };
  Prepared prepared;
  prepared.bytes = 2.0 * 4 * (1 << 24);
  prepared.iteration = [run = iterate(mode, step, torch::randn({1 << 24}), torch::ones({1}))] {
    torch::NoGradGuard no_grad;
    run();
  };
  return prepared;
}

/// An LSTM whose cell the program wrote itself, over 64 steps.
Prepared cells(Mode mode) {
  namespace nn = torch::nn;
  nn::Linear gates(16 + 32, 128), head(32, 4);
  auto weights = gates->parameters();
  for (const auto& p : head->parameters()) weights.push_back(p);
  auto optimizer = adam(weights);
  const auto step = [=](torch::Tensor x, torch::Tensor y) mutable {
    optimizer->zero_grad();
    auto h = torch::zeros({x.size(1), 32}), c = torch::zeros({x.size(1), 32});
    for (int64_t t = 0; t < x.size(0); ++t) {
      auto g = gates(torch::cat({x[t], h}, 1)).chunk(4, 1);
      c = torch::sigmoid(g[0]) * c + torch::sigmoid(g[1]) * torch::tanh(g[2]);
      h = torch::sigmoid(g[3]) * torch::tanh(c);
    }
    auto loss = torch::mse_loss(head(h), y);
    loss.backward();
    optimizer->step();
    return loss;
  };
  Prepared prepared;
  prepared.iteration = iterate(mode, step, torch::randn({64, 8, 16}), torch::randn({8, 4}));
  return prepared;
}

/// What PPO does with a batch of frames: many functions of few elements.
Prepared ppo_update(Mode mode) {
  const auto step = [learn = ppo_learner()](Batch batch) { learn(batch); };
  Prepared prepared;
  prepared.iteration = iterate(mode, step,
                               Batch{torch::randn({64, 6}), torch::randn({64, 2}), torch::randn({64}) - 3,
                                     torch::randn({64}), torch::randn({64})});
  return prepared;
}

Prepared mlp(int64_t batch, Optimizer (*optimizer)(const std::vector<torch::Tensor>&), Precision precision = {},
             Mode mode = Mode::eager) {
  Mlp net;
  return classifier(net, torch::rand({batch, 784}), optimizer(net->parameters()), 784 * 512 + 512 * 512 + 512 * 10,
                    precision, mode);
}

Prepared lenet() {
  LeNet net;
  const double mac = 784.0 * 32 * 25 + 196.0 * 64 * 800 + 3136.0 * 512 + 5120;
  return classifier(net, torch::rand({64, 1, 28, 28}), sgd(net->parameters()), mac);
}

Prepared resnet18(Precision precision = {}, Mode mode = Mode::eager) {
  ResNet18 net;
  return classifier(net, torch::rand({32, 3, 32, 32}), sgd(net->parameters()), 555.4e6, precision, mode);
}

Prepared gpt(Precision precision = {}, Mode mode = Mode::eager) {
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
  const auto step = [=](torch::Tensor x, torch::Tensor y) mutable {
    optimizer->zero_grad();
    torch::Tensor loss;
    {
      Autocast autocast(precision);
      auto logits = net->forward(x);
      loss = torch::nn::functional::cross_entropy(logits.view({-1, s.vocabulary}), y);
    }
    loss.backward();
    optimizer->step();
    return loss;
  };
  prepared.iteration = iterate(mode, step, x, y);
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
      {"policy_b32_sgd", [] { return policy(sgd, Mode::eager); }},
      {"policy_b32_sgd_graph", [] { return policy(sgd, Mode::graph); }},
      {"policy_b32_adam", [] { return policy(adam, Mode::eager); }},
      {"policy_b32_adam_graph", [] { return policy(adam, Mode::graph); }},
      {"lstm_cells_64", [] { return cells(Mode::eager); }},
      {"lstm_cells_64_graph", [] { return cells(Mode::graph); }},
      {"ppo_update", [] { return ppo_update(Mode::eager); }},
      {"ppo_update_graph", [] { return ppo_update(Mode::graph); }},
      {"chain12_16m", [] { return chain(Mode::eager); }},
      {"chain12_16m_graph", [] { return chain(Mode::graph); }},
      {"mlp_b1_sgd_f32_graph", [] { return mlp(1, sgd, {}, Mode::graph); }},
      {"mlp_b64_sgd_f32_graph", [] { return mlp(64, sgd, {}, Mode::graph); }},
      {"resnet18_b32_f32_graph", [] { return resnet18({}, Mode::graph); }},
      {"gpt_b8_f32_graph", [] { return gpt({}, Mode::graph); }},
      {"resnet18_b32_bf16_graph", [] { return resnet18(torch::kBFloat16, Mode::graph); }},
      {"gpt_b8_bf16_graph", [] { return gpt(torch::kBFloat16, Mode::graph); }},
      {"mlp_b64_sgd_bf16", [] { return mlp(64, sgd, torch::kBFloat16); }},
      {"mlp_b64_sgd_fp16", [] { return mlp(64, sgd, torch::kHalf); }},
      {"resnet18_b32_bf16", [] { return resnet18(torch::kBFloat16); }},
      {"resnet18_b32_fp16", [] { return resnet18(torch::kHalf); }},
      {"gpt_b8_bf16", [] { return gpt(torch::kBFloat16); }},
      {"gpt_b8_fp16", [] { return gpt(torch::kHalf); }},
  };
}

}  // namespace bench
