// A small network in training, for tests of traces.
#pragma once

#include <torch/torch.h>

#include <halfbridge/trace/session.h>

namespace trace_training {

using hb::trace::Session;
using hb::trace::SessionOptions;
using torch::Tensor;

inline SessionOptions all_steps() {
  SessionOptions options;
  options.steps = "all";
  return options;
}

struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(int64_t width)
      : fc(register_module("fc", torch::nn::Linear(width, width))),
        norm(register_module("norm", torch::nn::BatchNorm1d(width))) {}
  Tensor forward(const Tensor& x) { return torch::relu(norm(fc(x))) + x; }
  torch::nn::Linear fc;
  torch::nn::BatchNorm1d norm;
};
TORCH_MODULE(Block);

struct NetImpl : torch::nn::Module {
  NetImpl()
      : first(register_module("first", torch::nn::Linear(4, 8))),
        blocks(register_module("blocks", torch::nn::Sequential(Block(8), Block(8)))),
        dropout(register_module("dropout", torch::nn::Dropout(0.5))),
        last(register_module("last", torch::nn::Linear(8, 3))) {
    scale = register_parameter("scale", torch::ones({8}));
  }
  Tensor forward(const Tensor& x) { return last(dropout(blocks->forward(first(x) * scale))); }
  torch::nn::Linear first;
  torch::nn::Sequential blocks;
  torch::nn::Dropout dropout;
  torch::nn::Linear last;
  Tensor scale;
};
TORCH_MODULE(Net);

struct Training {
  Net net;
  torch::optim::Adam optimizer;
  Tensor x, y, loss;
  Training() : optimizer((torch::manual_seed(1), net = Net(), net->parameters()), 0.01) {
    x = torch::randn({5, 4}), y = torch::tensor({0, 1, 2, 1, 0});
  }
  void step() {
    optimizer.zero_grad();
    loss = torch::nn::functional::cross_entropy(net->forward(x), y);
    loss.backward();
    optimizer.step();
  }
};

}  // namespace trace_training
