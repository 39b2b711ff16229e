// ResNet-34 (He et al., 2015) for grey images of 224x224, or with another stem (`cifar`) for 32x32.
#pragma once

#include <torch/torch.h>

struct BlockImpl : torch::nn::Module {
  BlockImpl(int64_t in, int64_t out, int64_t stride) {
    auto conv3x3 = [](int64_t from, int64_t to, int64_t s) {
      return torch::nn::Conv2d(torch::nn::Conv2dOptions(from, to, 3).stride(s).padding(1).bias(false));
    };
    conv1 = register_module("conv1", conv3x3(in, out, stride));
    norm1 = register_module("norm1", torch::nn::BatchNorm2d(out));
    conv2 = register_module("conv2", conv3x3(out, out, 1));
    norm2 = register_module("norm2", torch::nn::BatchNorm2d(out));
    if (stride != 1 || in != out)
      shortcut = register_module(
          "shortcut",
          torch::nn::Sequential(torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)),
                                torch::nn::BatchNorm2d(out)));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    auto y = norm2(conv2(torch::relu(norm1(conv1(x)))));
    return torch::relu(y + (shortcut.is_empty() ? x : shortcut->forward(x)));
  }
  torch::nn::Conv2d conv1{nullptr}, conv2{nullptr};
  torch::nn::BatchNorm2d norm1{nullptr}, norm2{nullptr};
  torch::nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Block);

struct ResNet34Impl : torch::nn::Module {
  explicit ResNet34Impl(bool cifar = false, int64_t width = 64, int64_t classes = 10) {
    const auto conv = cifar ? torch::nn::Conv2dOptions(1, width, 3).padding(1)
                            : torch::nn::Conv2dOptions(1, width, 7).stride(2).padding(3);
    stem = register_module("stem", torch::nn::Sequential(torch::nn::Conv2d(torch::nn::Conv2dOptions(conv).bias(false)),
                                                         torch::nn::BatchNorm2d(width), torch::nn::ReLU()));
    if (!cifar) stem->push_back(torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(3).stride(2).padding(1)));
    body = register_module("body", torch::nn::Sequential());
    int64_t in = width;
    const int64_t blocks[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage) {
      const int64_t out = width << stage;
      for (int64_t i = 0; i < blocks[stage]; ++i, in = out)
        body->push_back(Block(in, out, i == 0 && stage > 0 ? 2 : 1));
    }
    fc = register_module("fc", torch::nn::Linear(in, classes));
  }
  torch::Tensor forward(const torch::Tensor& x) { return fc(body->forward(stem->forward(x)).mean({2, 3})); }
  torch::nn::Sequential stem{nullptr}, body{nullptr};
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(ResNet34);
