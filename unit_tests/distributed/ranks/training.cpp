// N ranks of batch B compute what one process computes of batch N * B.
#include "ranks.h"

namespace {

using namespace ranks;

struct LeNetImpl : torch::nn::Module {
  LeNetImpl()
      : conv1(register_module("conv1", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 6, 5).padding(2)))),
        conv2(register_module("conv2", torch::nn::Conv2d(torch::nn::Conv2dOptions(6, 16, 5)))),
        fc1(register_module("fc1", torch::nn::Linear(400, 60))),
        fc2(register_module("fc2", torch::nn::Linear(60, 10))) {}
  Tensor forward(Tensor x) {
    x = torch::avg_pool2d(torch::tanh(conv1->forward(x)), 2);
    x = torch::avg_pool2d(torch::tanh(conv2->forward(x)), 2);
    return fc2->forward(torch::tanh(fc1->forward(x.flatten(1))));
  }
  torch::nn::Conv2d conv1, conv2;
  torch::nn::Linear fc1, fc2;
};
TORCH_MODULE(LeNet);

struct TransformerImpl : torch::nn::Module {
  TransformerImpl()
      : embed(register_module("embed", torch::nn::Embedding(30, 24))),
        layer(register_module("layer",
                              torch::nn::TransformerEncoderLayer(
                                  torch::nn::TransformerEncoderLayerOptions(24, 4).dim_feedforward(48).dropout(0)))),
        head(register_module("head", torch::nn::Linear(24, 30))) {}
  Tensor forward(const Tensor& tokens) {  // (N, T)
    const Tensor x = embed->forward(tokens).transpose(0, 1);
    return head->forward(layer->forward(x).transpose(0, 1)).flatten(0, 1);
  }
  torch::nn::Embedding embed;
  torch::nn::TransformerEncoderLayer layer;
  torch::nn::Linear head;
};
TORCH_MODULE(Transformer);

// Two residual blocks with batch normalisation.
struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(int64_t n)
      : conv1(register_module("conv1", conv(n))),
        conv2(register_module("conv2", conv(n))),
        bn1(register_module("bn1", torch::nn::BatchNorm2d(n))),
        bn2(register_module("bn2", torch::nn::BatchNorm2d(n))) {}
  static torch::nn::Conv2d conv(int64_t n) {
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(n, n, 3).padding(1).bias(false));
  }
  Tensor forward(const Tensor& x) {
    return torch::tanh(x + bn2->forward(conv2->forward(torch::tanh(bn1->forward(conv1->forward(x))))));
  }
  torch::nn::Conv2d conv1, conv2;
  torch::nn::BatchNorm2d bn1, bn2;
};
TORCH_MODULE(Block);
struct ResNetImpl : torch::nn::Module {
  ResNetImpl()
      : stem(register_module("stem", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3).padding(1)))),
        bn(register_module("bn", torch::nn::BatchNorm2d(8))),
        one(register_module("one", Block(8))),
        two(register_module("two", Block(8))),
        head(register_module("head", torch::nn::Linear(8, 4))) {}
  Tensor forward(const Tensor& x) {
    return head->forward(two->forward(one->forward(torch::tanh(bn->forward(stem->forward(x))))).mean({2, 3}));
  }
  torch::nn::Conv2d stem;
  torch::nn::BatchNorm2d bn;
  Block one, two;
  torch::nn::Linear head;
};
TORCH_MODULE(ResNet);

TEST(Training, Mlp) {
  torch::manual_seed(static_cast<uint64_t>(rank() + 1));
  auto whole = mlp(), part = mlp();
  DistributedDataParallel model(part);
  const auto batch = [](int64_t i) { return std::pair(drawn({16, 20}, i), classes(16, 5, i)); };
  equals_one_process(whole, part, model, batch, cross_entropy);
  EXPECT_EQ(model->named_parameters().keys().front(), "module.0.weight");
}

TEST(Training, LeNet) {
  torch::manual_seed(static_cast<uint64_t>(rank() + 1));
  LeNet whole, part;
  DistributedDataParallel model(part, Options().bucket_cap_mb(0.05));
  EXPECT_GT(model->bucket_sizes().size(), 1u);
  const auto batch = [](int64_t i) { return std::pair(drawn({8, 1, 28, 28}, i), classes(8, 10, i)); };
  equals_one_process(whole, part, model, batch, cross_entropy);
}

TEST(Training, Transformer) {
  torch::manual_seed(static_cast<uint64_t>(rank() + 1));
  Transformer whole, part;
  DistributedDataParallel model(part, Options().bucket_cap_mb(0.01));
  const auto batch = [](int64_t i) {
    return std::pair(classes(8 * 6, 30, i).view({8, 6}), classes(8 * 6, 30, i + 99));
  };
  const auto loss = [](const Tensor& x, const Tensor& y) { return cross_entropy(x, y); };
  equals_one_process(whole, part, model, batch, loss);
}

TEST(Training, ResNetWithSyncBatchNorm) {
  torch::manual_seed(static_cast<uint64_t>(rank() + 1));
  ResNet whole, part;
  DistributedDataParallel model(torch::nn::convert_sync_batchnorm(part));
  const auto batch = [](int64_t i) { return std::pair(drawn({8, 3, 8, 8}, i), classes(8, 4, i)); };
  equals_one_process(whole, part, model, batch, cross_entropy, {50, 0.02, 1e-6});
  equal_on_all(part->buffers());
  // The last one saw 50 batches of all ranks.
  const auto want = whole->buffers(), got = part->buffers();
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(torch::allclose(want[i], got[i], 1e-4, 1e-5)) << i;
}

TEST(Training, TwoRunsAgreeBitForBit) {
  std::vector<Tensor> first;
  for (int run = 0; run < 2; ++run) {
    torch::manual_seed(3);
    auto net = mlp();
    DistributedDataParallel model(net, Options().bucket_cap_mb(0.002));
    torch::optim::Adam optimizer(net->parameters(), 1e-2);
    for (int64_t i = 0; i < 20; ++i) {
      optimizer.zero_grad();
      cross_entropy(model(share(drawn({16, 20}, i))), share(classes(16, 5, i))).backward();
      optimizer.step();
    }
    if (run == 0) first = net->parameters();
    const auto now = net->parameters();
    for (size_t i = 0; i < now.size(); ++i) EXPECT_TRUE(torch::equal(first[i], now[i]));
  }
}

TEST(SyncBatchNorm, IsBatchNormOfTheWholeBatch) {
  torch::nn::BatchNorm1d whole(6);
  torch::nn::SyncBatchNorm layer(torch::nn::BatchNormOptions(6));
  const int64_t rows = 6 * size();
  Tensor x = drawn({rows, 6}, 1).requires_grad_(), part = share(x.detach()).clone().requires_grad_();
  const Tensor weights = drawn({rows, 6}, 2);
  (whole(x) * weights).sum().backward();
  const Tensor y = layer(part);
  (y * share(weights)).sum().backward();
  EXPECT_TRUE(torch::allclose(part.grad(), share(x.grad()), 1e-5, 1e-6));
  const Tensor grad = layer->weight.grad().clone();
  dist::all_reduce(group(), grad);
  EXPECT_TRUE(torch::allclose(grad, whole->weight.grad(), 1e-5, 1e-5));
  EXPECT_TRUE(torch::allclose(layer->running_var, whole->running_var, 1e-5, 1e-6));
  layer->eval(), whole->eval();
  EXPECT_TRUE(torch::allclose(layer(part), share(whole(x)), 1e-5, 1e-6));
}

}  // namespace
