// A net that was trained in Python, from its checkpoint: the port of record.py's model, and its answer for four digits.
//
//   reference_checkpoint [--mistake eps|padding|train|transposed]
//
// It knows nothing of traces. To see that each layer computes what it did in Python, and how mistakes are found:
//
//   halfbridge verify examples/reference_checkpoint/reference -- build/examples/reference_checkpoint
//   halfbridge verify examples/reference_checkpoint/reference -- build/examples/reference_checkpoint --mistake eps
#include <torch/torch.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include <halfbridge/bridge/nn/load_state.h>

#include "../demo/images.h"

namespace nn = torch::nn;

// What a port gets wrong easily; empty: nothing.
std::string mistake;

nn::Conv2d conv(int64_t inputs, int64_t outputs, int64_t kernel, int64_t stride, int64_t padding) {
  return nn::Conv2d(nn::Conv2dOptions(inputs, outputs, kernel).stride(stride).padding(padding).bias(false));
}
nn::BatchNorm2d batch_norm(int64_t channels) {
  return nn::BatchNorm2d(nn::BatchNorm2dOptions(channels).eps(mistake == "eps" ? 1e-3 : 1e-5));
}

struct BlockImpl : nn::Module {
  BlockImpl(int64_t inputs, int64_t outputs, int64_t stride) {
    conv1 = register_module("conv1", conv(inputs, outputs, 3, stride, 1));
    bn1 = register_module("bn1", batch_norm(outputs));
    relu = register_module("relu", nn::ReLU());
    conv2 = register_module("conv2", conv(outputs, outputs, 3, 1, 1));
    bn2 = register_module("bn2", batch_norm(outputs));
    shortcut = register_module("shortcut", nn::Sequential());
    if (stride == 1 && inputs == outputs) return;
    shortcut->push_back(conv(inputs, outputs, 1, stride, 0));
    shortcut->push_back(batch_norm(outputs));
  }
  torch::Tensor forward(torch::Tensor x) {
    auto y = bn2(conv2(relu(bn1(conv1(x)))));
    return relu(y + (shortcut->is_empty() ? x : shortcut->forward(x)));
  }
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::BatchNorm2d bn1{nullptr}, bn2{nullptr};
  nn::ReLU relu{nullptr};
  nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Block);

struct DigitsResNetImpl : nn::Module {
  DigitsResNetImpl() {
    const auto padding = mistake == "padding" ? torch::ExpandingArray<2>({0, 1}) : torch::ExpandingArray<2>({1, 0});
    stem = register_module("stem", nn::Conv2d(nn::Conv2dOptions(1, 8, {3, 1}).padding(padding)));
    layer1 = register_module("layer1", nn::Sequential(Block(8, 8, 1), Block(8, 8, 1)));
    layer2 = register_module("layer2", nn::Sequential(Block(8, 16, 2), Block(16, 16, 1)));
    pool = register_module("pool", nn::AdaptiveAvgPool2d(1));
    neck = register_module("neck", nn::Linear(16, 16));
    fc = register_module("fc", nn::Linear(16, 10));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = pool(layer2->forward(layer1->forward(stem(x))));
    return fc(torch::relu(neck(x.flatten(1))));
  }
  nn::Conv2d stem{nullptr};
  nn::Sequential layer1{nullptr}, layer2{nullptr};
  nn::AdaptiveAvgPool2d pool{nullptr};
  nn::Linear neck{nullptr}, fc{nullptr};
};
TORCH_MODULE(DigitsResNet);

int main(int argc, char** argv) try {
  if (argc == 3 && std::string(argv[1]) == "--mistake")
    mistake = argv[2];
  else if (argc != 1)
    throw std::invalid_argument("expected --mistake eps|padding|train|transposed, or nothing");

  DigitsResNet net;
  hb::bridge::nn::load_state_dict_file(*net, EXAMPLE_CHECKPOINT);
  torch::NoGradGuard no_grad;
  if (mistake == "transposed") net->neck->weight.copy_(net->neck->weight.t().clone());
  if (mistake != "train") net->eval();

  const auto digits = demo::read_digits(EXAMPLE_DIGITS);
  const auto right = net(digits.images.narrow(0, 0, 4)).argmax(1) == digits.labels.narrow(0, 0, 4);
  std::printf("%d of 4 digits are right\n", right.sum().item<int>());
} catch (const std::exception& error) {
  std::fprintf(stderr, "reference_checkpoint: %s\n", error.what());
  return 1;
}
