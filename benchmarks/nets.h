// The nets that the training workloads train.
#pragma once

#include <torch/torch.h>

#include <vector>

namespace bench {

namespace nn = torch::nn;

struct MlpImpl : nn::Module {
  MlpImpl() : fc1(784, 512), fc2(512, 512), fc3(512, 10) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("fc3", fc3);
  }
  torch::Tensor forward(torch::Tensor x) {  // (N, 784)
    x = torch::relu(fc1(x));
    x = torch::relu(fc2(x));
    return fc3(x);
  }
  nn::Linear fc1, fc2, fc3;
};
TORCH_MODULE(Mlp);

struct LeNetImpl : nn::Module {
  LeNetImpl()
      : conv1(nn::Conv2dOptions(1, 32, 5).padding(2)),
        conv2(nn::Conv2dOptions(32, 64, 5).padding(2)),
        fc1(3136, 512),
        fc2(512, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }
  torch::Tensor forward(torch::Tensor x) {  // (N, 1, 28, 28)
    x = torch::max_pool2d(torch::relu(conv1(x)), 2);
    x = torch::max_pool2d(torch::relu(conv2(x)), 2);
    x = torch::relu(fc1(x.view({x.size(0), -1})));
    return fc2(x);
  }
  nn::Conv2d conv1, conv2;
  nn::Linear fc1, fc2;
};
TORCH_MODULE(LeNet);

struct ResidualImpl : nn::Module {
  ResidualImpl(int64_t in, int64_t out, int64_t stride)
      : conv1(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)),
        bn1(out),
        conv2(nn::Conv2dOptions(out, out, 3).padding(1).bias(false)),
        bn2(out) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("conv2", conv2);
    register_module("bn2", bn2);
    if (stride != 1 || in != out) {
      shortcut = register_module(
          "shortcut",
          nn::Sequential(nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)), nn::BatchNorm2d(out)));
    }
  }
  torch::Tensor forward(torch::Tensor x) {
    auto y = torch::relu(bn1(conv1(x)));
    y = bn2(conv2(y));
    y += shortcut ? shortcut->forward(x) : x;
    return torch::relu(y);
  }
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Residual);

/// ResNet-18 as it is used for 32x32 images: a 3x3 first convolution, no first pooling.
struct ResNet18Impl : nn::Module {
  ResNet18Impl() : conv1(nn::Conv2dOptions(3, 64, 3).padding(1).bias(false)), bn1(64), fc(512, 10) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    int64_t in = 64;
    for (int64_t stage = 0; stage < 4; ++stage) {
      const int64_t out = 64 << stage;
      blocks->push_back(Residual(in, out, stage == 0 ? 1 : 2));
      blocks->push_back(Residual(out, out, 1));
      in = out;
    }
    register_module("blocks", blocks);
    register_module("fc", fc);
  }
  torch::Tensor forward(torch::Tensor x) {  // (N, 3, 32, 32)
    x = torch::relu(bn1(conv1(x)));
    x = blocks->forward(x);
    x = torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
    return fc(x);
  }
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Sequential blocks;
  nn::Linear fc;
};
TORCH_MODULE(ResNet18);

struct GptShape {
  int64_t width = 256, layers = 4, heads = 8, length = 256, vocabulary = 4096, batch = 8;
};

struct GptBlockImpl : nn::Module {
  explicit GptBlockImpl(const GptShape& s)
      : heads(s.heads),
        ln1(nn::LayerNormOptions({s.width})),
        ln2(nn::LayerNormOptions({s.width})),
        qkv(s.width, 3 * s.width),
        out(s.width, s.width),
        up(s.width, 4 * s.width),
        down(4 * s.width, s.width) {
    register_module("ln1", ln1);
    register_module("qkv", qkv);
    register_module("out", out);
    register_module("ln2", ln2);
    register_module("up", up);
    register_module("down", down);
  }
  torch::Tensor forward(torch::Tensor x) {  // (B, T, C)
    const auto B = x.size(0), T = x.size(1), C = x.size(2);
    auto parts = qkv(ln1(x)).view({B, T, 3, heads, C / heads}).permute({2, 0, 3, 1, 4});
    auto y = torch::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, /*is_causal=*/true);
    x = x + out(y.transpose(1, 2).reshape({B, T, C}));
    return x + down(torch::gelu(up(ln2(x))));
  }
  int64_t heads;
  nn::LayerNorm ln1, ln2;
  nn::Linear qkv, out, up, down;
};
TORCH_MODULE(GptBlock);

struct GptImpl : nn::Module {
  explicit GptImpl(const GptShape& s)
      : tokens(s.vocabulary, s.width),
        places(s.length, s.width),
        norm(nn::LayerNormOptions({s.width})),
        head(nn::LinearOptions(s.width, s.vocabulary).bias(false)) {
    register_module("tokens", tokens);
    register_module("places", places);
    for (int64_t i = 0; i < s.layers; ++i) blocks->push_back(GptBlock(s));
    register_module("blocks", blocks);
    register_module("norm", norm);
    register_module("head", head);
  }
  torch::Tensor forward(torch::Tensor ids) {  // (B, T) int64
    auto x = tokens(ids) + places(torch::arange(ids.size(1), ids.options()));
    for (const auto& block : *blocks) x = block->as<GptBlock>()->forward(x);
    return head(norm(x));  // (B, T, vocabulary)
  }
  nn::Embedding tokens, places;
  nn::ModuleList blocks;
  nn::LayerNorm norm;
  nn::Linear head;
};
TORCH_MODULE(Gpt);

}  // namespace bench
