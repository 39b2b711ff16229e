// The two nets that the demo trains.
#pragma once

#include <torch/torch.h>

namespace demo {

/// Three linear layers.
struct MlpImpl : torch::nn::Module {
  MlpImpl(int64_t side, int64_t width) : fc1(side * side, width), fc2(width, width), fc3(width, 10) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("drop", drop);
    register_module("fc3", fc3);
  }

  torch::Tensor forward(torch::Tensor x) {  // (N, 1, side, side)
    x = torch::relu(fc1(x.flatten(1)));
    x = drop(torch::relu(fc2(x)));
    return fc3(x);
  }

  torch::nn::Linear fc1, fc2, fc3;
  torch::nn::Dropout drop{0.1};
};
TORCH_MODULE(Mlp);

/// Two convolutions, each halving the image, and two linear layers.
struct ConvNetImpl : torch::nn::Module {
  ConvNetImpl(int64_t side, int64_t channels)
      : conv1(torch::nn::Conv2dOptions(1, channels, 3).padding(1)),
        conv2(torch::nn::Conv2dOptions(channels, 2 * channels, 3).padding(1)),
        fc1(2 * channels * (side / 4) * (side / 4), 128),
        fc2(128, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("drop", drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }

  torch::Tensor forward(torch::Tensor x) {  // (N, 1, side, side)
    x = torch::max_pool2d(torch::relu(conv1(x)), 2);
    x = torch::max_pool2d(torch::relu(conv2(x)), 2);
    x = drop(torch::relu(fc1(x.flatten(1))));
    return fc2(x);
  }

  torch::nn::Conv2d conv1, conv2;
  torch::nn::Linear fc1, fc2;
  torch::nn::Dropout drop{0.1};
};
TORCH_MODULE(ConvNet);

}  // namespace demo
