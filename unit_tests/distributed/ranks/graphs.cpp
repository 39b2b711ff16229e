// Graphs that are not one pass over dense gradients: sparse gradients, and parts that run backward by themselves.
#include "ranks.h"

namespace {

using namespace ranks;

struct Words : torch::nn::Module {
  Words() {
    embedding = register_module("embedding", torch::nn::Embedding(torch::nn::EmbeddingOptions(50, 6).sparse(true)));
    out = register_module("out", torch::nn::Linear(6, 3));
  }
  Tensor forward(const Tensor& words) { return out(embedding(words).mean(1)); }
  torch::nn::Embedding embedding{nullptr};
  torch::nn::Linear out{nullptr};
};

Tensor words(int64_t n, int64_t seed) {
  torch::manual_seed(static_cast<uint64_t>(700 + seed));
  return torch::randint(50, {n, 4}, torch::kLong);
}

TEST(Graphs, SparseGradientsEqualOneProcess) {
  auto whole = std::make_shared<Words>(), part = std::make_shared<Words>();
  DistributedDataParallel model(part);
  {
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < 3; ++i) whole->parameters()[i].copy_(part->parameters()[i]);
  }
  torch::optim::SGD one(whole->parameters(), 0.5), own(part->parameters(), 0.5);
  for (int64_t step = 0; step < 10; ++step) {
    const Tensor x = words(8, step), y = classes(8, 3, step);
    one.zero_grad(), own.zero_grad();
    cross_entropy(whole->forward(x), y).backward();
    cross_entropy(model(share(x)), share(y)).backward();
    EXPECT_TRUE(part->embedding->weight.grad().is_sparse());
    EXPECT_TRUE(torch::allclose(part->embedding->weight.grad().to_dense(), whole->embedding->weight.grad().to_dense(),
                                1e-5, 1e-7))
        << step;
    one.step(), own.step();
  }
  equal_on_all(part->parameters());
  for (size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(torch::allclose(part->parameters()[i], whole->parameters()[i], 1e-5, 1e-6)) << i;
}

TEST(Graphs, ASparseGradientThatOneRankLacks) {
  struct Maybe : torch::nn::Module {
    Maybe() {
      embedding = register_module("embedding", torch::nn::Embedding(torch::nn::EmbeddingOptions(9, 2).sparse(true)));
      scale = register_parameter("scale", torch::ones({2}));
    }
    Tensor forward(const Tensor& x) { return rank() == 0 ? (embedding(x) * scale).sum() : scale.sum() * 2; }
    torch::nn::Embedding embedding{nullptr};
    Tensor scale;
  };
  auto net = std::make_shared<Maybe>();
  DistributedDataParallel model(net, Options().find_unused_parameters(true));
  model(torch::tensor({3, 3, 5})).backward();
  const Tensor grad = net->embedding->weight.grad().to_dense();
  EXPECT_EQ(grad[3][0].item<double>(), 2.0 / size());
  EXPECT_EQ(grad[5][1].item<double>(), 1.0 / size());
  EXPECT_EQ(grad.sum().item<double>(), 6.0 / size());
  equal_on_all({grad, net->scale.grad()});
}

/// Runs a function without a graph, and again with one in the backward pass, which runs backward by itself: as
/// checkpoints are written by hand.
struct Reentrant : torch::autograd::Function<Reentrant> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x,
                        const std::function<Tensor(const Tensor&)>* f) {
    ctx->save_for_backward({x});
    ctx->saved_data["f"] = reinterpret_cast<int64_t>(f);
    torch::NoGradGuard no_grad;
    return (*f)(x);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const auto* f = reinterpret_cast<const std::function<Tensor(const Tensor&)>*>(ctx->saved_data["f"].toInt());
    const Tensor x = ctx->get_saved_variables()[0].detach().requires_grad_();
    torch::AutoGradMode on(true);
    const Tensor y = (*f)(x);
    torch::autograd::backward({y}, {grads[0]});
    return {x.grad(), Tensor()};
  }
};

/// One layer in several checkpoints, and one outside of them.
struct Checkpointed : torch::nn::Module {
  explicit Checkpointed(int t) : times(t) {
    layer = register_module("layer", torch::nn::Linear(6, 6));
    out = register_module("out", torch::nn::Linear(6, 3));
    unused = register_module("unused", torch::nn::Linear(2, 2));
    run = [this](const Tensor& x) { return layer(x).tanh(); };
  }
  Tensor forward(Tensor x) {
    x = x.clone().requires_grad_();
    for (int i = 0; i < times; ++i) x = Reentrant::apply(x, &run);
    return out(x);
  }
  int times;
  torch::nn::Linear layer{nullptr}, out{nullptr}, unused{nullptr};
  std::function<Tensor(const Tensor&)> run;
};

TEST(Graphs, ReentrantCheckpointsOfAStaticGraph) {
  auto net = std::make_shared<Checkpointed>(3), alone = std::make_shared<Checkpointed>(3);
  DistributedDataParallel model(net, Options().static_graph(true));
  {
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < net->parameters().size(); ++i) alone->parameters()[i].copy_(net->parameters()[i]);
  }
  torch::optim::SGD one(alone->parameters(), 0.1), own(net->parameters(), 0.1);
  for (int64_t step = 0; step < 6; ++step) {
    const Tensor x = drawn({8, 6}, step), y = classes(8, 3, step);
    one.zero_grad(), own.zero_grad();
    cross_entropy(alone->forward(x), y).backward();
    cross_entropy(model(share(x)), share(y)).backward();
    for (size_t i = 0; i < 4; ++i)
      EXPECT_TRUE(torch::allclose(net->parameters()[i].grad(), alone->parameters()[i].grad(), 1e-4, 1e-7)) << step << i;
    EXPECT_FALSE(net->unused->weight.grad().defined());
    one.step(), own.step();
  }
  equal_on_all(net->parameters());
}

TEST(Graphs, AStaticGraphThatChangesIsAnError) {
  auto net = std::make_shared<Checkpointed>(2);
  DistributedDataParallel model(net, Options().static_graph(true));
  const Tensor x = drawn({4, 6}, 1);
  model(x).sum().backward();
  net->times = 3;
  EXPECT_THROW(model(x).sum().backward(), c10::Error);
}

TEST(Graphs, AReentrantCheckpointWithoutIt) {
  auto net = std::make_shared<Checkpointed>(1);
  DistributedDataParallel model(net, Options().find_unused_parameters(false));
  (model(drawn({4, 6}, rank())).sum() + net->unused(torch::ones({1, 2})).sum()).backward();
  equal_on_all({net->layer->weight.grad(), net->out->weight.grad()});
  auto twice = std::make_shared<Checkpointed>(2);
  DistributedDataParallel other(twice);
  EXPECT_THROW(other(drawn({4, 6}, 1)).sum().backward(), c10::Error);
}

}  // namespace
