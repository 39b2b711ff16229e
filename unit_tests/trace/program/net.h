#pragma once
// The network of the programs here.

#include <torch/torch.h>

struct Net : torch::nn::Module {
  Net()
      : conv(register_module("conv", torch::nn::Conv2d(1, 4, 3))),
        dropout(register_module("dropout", torch::nn::Dropout(0.25))),
        fc(register_module("fc", torch::nn::Linear(4 * 9, 10))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    return fc(dropout(torch::max_pool2d(torch::relu(conv(x)), 2).flatten(1)));
  }
  torch::nn::Conv2d conv;
  torch::nn::Dropout dropout;
  torch::nn::Linear fc;
};
