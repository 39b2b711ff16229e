// A small network with a layer of each family, and one run of it as a trace.
#pragma once

#include <functional>

#include "record.h"

struct NetImpl : torch::nn::Module {
  torch::nn::Conv2d conv1{torch::nn::Conv2dOptions(3, 8, 3).padding(1)};
  torch::nn::BatchNorm2d bn1{8};
  torch::nn::ReLU act1;
  torch::nn::MaxPool2d pool1{torch::nn::MaxPool2dOptions(2)};
  torch::nn::Conv2d conv2{torch::nn::Conv2dOptions(8, 8, 3).padding(1).padding_mode(torch::kReflect)};
  torch::nn::GroupNorm norm2{torch::nn::GroupNormOptions(4, 8)};
  torch::nn::GELU act2;
  torch::nn::AvgPool2d pool2{torch::nn::AvgPool2dOptions(3).stride(2).padding(1)};
  torch::nn::Flatten flatten;
  torch::nn::Linear fc1{128, 32};
  torch::nn::LeakyReLU act3{torch::nn::LeakyReLUOptions().negative_slope(0.01)};
  torch::nn::Linear fc2{32, 32};
  torch::nn::ReLU act4;
  torch::nn::Linear side{32, 32};
  torch::nn::LayerNorm norm3{torch::nn::LayerNormOptions({32})};
  torch::nn::Embedding embedding{50, 32};
  torch::nn::LSTM lstm{torch::nn::LSTMOptions(32, 24).batch_first(true)};
  torch::nn::GRU gru{torch::nn::GRUOptions(24, 24).batch_first(true)};
  torch::nn::MultiheadAttention attention{24, 4};
  torch::nn::Upsample up{
      torch::nn::UpsampleOptions().scale_factor(std::vector<double>{2}).mode(torch::kLinear).align_corners(false)};
  torch::nn::Dropout drop{0.5};
  torch::nn::Linear head{24, 10};
  torch::nn::LogSoftmax softmax{-1};
  torch::nn::NLLLoss loss;

  Recorder* recorder = nullptr;
  std::map<std::string, std::string> printed;  // for the recorder
  bool without_tanh = false;
  double nudge = 0;  // relative change of fc2's result, as another order of sums makes

  NetImpl() {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("act1", act1);
    register_module("pool1", pool1);
    register_module("conv2", conv2);
    register_module("norm2", norm2);
    register_module("act2", act2);
    register_module("pool2", pool2);
    register_module("flatten", flatten);
    register_module("fc1", fc1);
    register_module("act3", act3);
    register_module("fc2", fc2);
    register_module("act4", act4);
    register_module("norm3", norm3);
    register_module("side", side);
    register_module("embedding", embedding);
    register_module("lstm", lstm);
    register_module("gru", gru);
    register_module("attention", attention);
    register_module("up", up);
    register_module("drop", drop);
    register_module("head", head);
    register_module("softmax", softmax);
    register_module("loss", loss);
    // Trained values: nothing is as a new layer has it.
    torch::NoGradGuard no_grad;
    for (auto& p : parameters()) p.mul_(1.5).add_(torch::randn_like(p) * 0.1);
    bn1->running_mean.copy_(torch::randn({8}) * 0.3);
    bn1->running_var.copy_(torch::rand({8}) * 0.02 + 0.01);
  }

  torch::Tensor forward(const torch::Tensor& image, const torch::Tensor& tokens) {
    torch::Tensor x = pool1(act1(bn1(conv1(image))));
    x = pool2(act2(norm2(conv2(x))));  // (B, 8, 4, 4)
    x = act3(fc1(flatten(x)));         // (B, 32)
    torch::Tensor h = fc2(x);
    if (nudge > 0) h = h * (1 + nudge * torch::randn_like(h));
    const torch::Tensor main = norm3(act4(h));
    x = main + side(h);
    torch::Tensor t = embedding(tokens) + x.unsqueeze(1);
    t = std::get<0>(lstm(t));
    if (!without_tanh) {
      torch::Tensor squashed = torch::tanh(t * 3);
      t = recorder ? recorder->function("tanh", "", {t * 3}, squashed) : squashed;
    } else {
      t = t * 3;
    }
    t = std::get<0>(gru(t));
    torch::Tensor s = t.transpose(0, 1);  // (T, B, 24)
    t = std::get<0>(attention(s, s, s)).permute({1, 2, 0});
    t = up(t).mean(-1);  // (B, 24)
    return softmax(head(drop(t)));
  }
};
TORCH_MODULE(Net);

struct Batch {
  torch::Tensor image = torch::randn({4, 3, 16, 16}), tokens = torch::randint(0, 50, {4, 6}, torch::kLong),
                labels = torch::randint(0, 10, {4}, torch::kLong);
};

/// One network, the same for the same seed.
inline Net make_net() {
  torch::manual_seed(7);
  Net net;
  net->eval();
  return net;
}
inline Batch make_batch() {
  torch::manual_seed(11);
  return Batch();
}

struct RunOptions {
  bool backward = true;
  double lr = 0, weight_decay = 0, loss_factor = 1;
  std::function<void(Net&)> after_backward = nullptr;
};

/// Runs forward, backward and where lr is given a step of SGD; writes the trace and gives its folder.
inline std::string record_run(Net& net, const Batch& batch, const std::string& folder, const RunOptions& run = {}) {
  Recorder recorder(*net, "Net");
  net->recorder = &recorder;
  recorder.printed = net->printed;
  torch::Tensor loss = net->loss(net->forward(batch.image, batch.tokens), batch.labels);
  if (run.backward) {
    (loss * run.loss_factor).backward();
    if (run.after_backward) run.after_backward(net);
    recorder.gradients();
    if (run.lr > 0) {
      torch::optim::SGD sgd(net->parameters(), torch::optim::SGDOptions(run.lr).weight_decay(run.weight_decay));
      sgd.step();
      recorder.updated();
    }
  }
  net->recorder = nullptr;
  return recorder.save(folder);
}
