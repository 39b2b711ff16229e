// Training steps to derive from, gradient reducers, and loss scaling around an optimizer alone.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

#include <limits>

namespace nn = torch::nn;
using torch::Tensor;
using Grads = std::vector<Tensor>;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Data {
  Tensor x, y;
  Data() {
    torch::manual_seed(9);
    y = torch::randint(0, 3, {48});
    x = torch::randn({48, 6}) * 0.3 + y.to(torch::kFloat).view({-1, 1});
  }
};
nn::Linear net_of(int seed = 3) {
  torch::manual_seed(seed);
  return nn::Linear(6, 3);
}

// Another way from inputs to loss.
struct WithPenalty : hb::amp::TrainOneStep {
  using TrainOneStep::TrainOneStep;
  Step forward(const hb::variable_list& inputs, const Tensor& target) override {
    Step step = TrainOneStep::forward(inputs, target);
    for (const Tensor& p : network().module().parameters()) step.loss = step.loss + 0.1 * p.pow(2).sum();
    return step;
  }
};

// Another step: the second of two passes counts.
struct TwoPasses : hb::amp::TrainOneStep {
  using TrainOneStep::TrainOneStep;
  Step construct(const hb::variable_list& inputs, const Tensor& target) override {
    optimizer().zero_grad();
    Step first = forward(inputs, target);
    backward(first.loss);
    backward(forward(inputs, target).loss);
    first.loss = first.loss.detach();
    first.updated = is_due();
    if (first.updated) first.overflow = update();
    return first;
  }
};

}  // namespace

TEST(AmpTrainOneStep, ForwardCanBeOverridden) {
  Data data;
  auto net = net_of(), plain = net_of();
  torch::optim::SGD sgd(net->parameters(), 0.1), plain_sgd(plain->parameters(), 0.1);
  WithPenalty train(net, sgd, nn::CrossEntropyLoss(), "O2");
  const Tensor loss = train(data.x, data.y);
  Tensor expected = nn::functional::cross_entropy(plain(data.x), data.y);
  for (const Tensor& p : plain->parameters()) expected = expected + 0.1 * p.pow(2).sum();
  expected.backward();
  plain_sgd.step();
  EXPECT_NEAR(loss.item<float>(), expected.item<float>(), 1e-2);
  EXPECT_FALSE(loss.requires_grad());
  EXPECT_TRUE(torch::allclose(net->weight, plain->weight, 1e-3, 1e-4));
  EXPECT_EQ(train.loss_scale(), 65536);
}

TEST(AmpTrainOneStep, TheStepCanBeOverriddenAndModelTakesIt) {
  Data data;
  auto net = net_of(), plain = net_of();
  torch::optim::SGD sgd(net->parameters(), 0.1), plain_sgd(plain->parameters(), 0.2);
  auto step = std::make_shared<TwoPasses>(net, sgd, nn::CrossEntropyLoss(), "O0");
  hb::train::Model model(step, {"accuracy"});
  const std::vector<hb::train::Batch> batches{{{data.x}, data.y}};
  model.train(3, batches);
  hb::train::Model reference(plain, nn::CrossEntropyLoss(), plain_sgd, {"accuracy"});
  reference.train(3, batches);
  EXPECT_TRUE(torch::allclose(net->weight, plain->weight, 1e-5, 1e-6));
  EXPECT_EQ(model.eval(batches).count("accuracy"), 1u);
}

TEST(AmpTrainOneStep, TheReducerSeesUnscaledGradientsAndItsOverflowsCount) {
  Data data;
  auto net = net_of();
  torch::optim::SGD sgd(net->parameters(), 0.1);
  hb::amp::TrainOneStep train(net, sgd, nn::CrossEntropyLoss(), "O1", hb::amp::DynamicLossScaleManager(1024, 2, 100));
  Grads seen;
  bool spoil = false;
  train.set_grad_reducer([&](Grads grads) {
    seen = grads;
    for (Tensor& g : grads) g = spoil ? g * kInf : g * 2;
    return grads;
  });
  const Tensor before = net->weight.detach().clone();
  train(data.x, data.y);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].scalar_type(), torch::kFloat);
  EXPECT_LT(seen[0].abs().max().item<float>(), 10);  // not times 1024
  EXPECT_TRUE(torch::allclose(net->weight, before - 0.1 * 2 * seen[0]));
  const Tensor kept = net->weight.detach().clone();
  spoil = true;
  const auto step = train.construct({data.x}, data.y);
  EXPECT_NE(step.overflow.item<float>(), 0);
  EXPECT_TRUE(torch::equal(net->weight, kept));
  EXPECT_EQ(train.loss_scale(), 512);
  // Once per update, and as many as there are.
  spoil = false;
  int calls = 0;
  train.accumulate(3);
  train.set_grad_reducer([&](Grads grads) { return ++calls, grads; });
  for (int i = 0; i < 6; ++i) train(data.x, data.y);
  EXPECT_EQ(calls, 2);
  train.accumulate(1);
  train.set_grad_reducer([](Grads) { return Grads(); });
  EXPECT_THROW(train(data.x, data.y), hb::Error);
}

TEST(AmpMixedPrecisionOptimizer, ScalesUnscalesAndSkips) {
  for (const bool explicit_grads : {false, true}) {
    Tensor w = torch::full({2}, 1.0).requires_grad_();
    torch::optim::SGD sgd({w}, 0.5);
    auto optimizer = hb::amp::enable_mixed_precision(sgd);
    EXPECT_EQ(optimizer.scale(torch::ones({})).item<float>(), 65536);
    const auto step = [&](float factor) {
      optimizer.zero_grad();
      if (explicit_grads) {
        auto fn = torch::value_and_grad([&] { return optimizer.scale((w * factor).sum()); }, {w});
        optimizer(fn().second);
      } else {
        optimizer.backward((w * factor).sum());
        optimizer.step();
      }
    };
    step(1);
    EXPECT_TRUE(torch::equal(w, torch::full({2}, 0.5)));
    step(kInf);
    EXPECT_TRUE(torch::equal(w, torch::full({2}, 0.5)));
    EXPECT_EQ(optimizer.loss_scale(), 32768);
    step(1);
    EXPECT_TRUE(torch::equal(w, torch::zeros({2})));
  }
}

TEST(AmpMixedPrecisionOptimizer, FixedScalesAndWrongOnes) {
  Tensor w = torch::ones({2}).requires_grad_();
  torch::optim::SGD sgd({w}, 0.5);
  auto optimizer = hb::amp::enable_mixed_precision(sgd, 128);
  optimizer.backward((w * kInf).sum());
  optimizer.step();
  EXPECT_EQ(optimizer.loss_scale(), 128);
  optimizer.zero_grad();
  optimizer.backward(w.sum());
  EXPECT_EQ(w.grad()[0].item<float>(), 128);
  optimizer.unscale_();
  EXPECT_EQ(w.grad()[0].item<float>(), 1);
  optimizer.step();
  EXPECT_EQ(w[0].item<float>(), 0.5f);
  EXPECT_EQ(hb::amp::enable_mixed_precision(sgd, "dynamic").scale(w.sum()).item<float>(), 65536);
  EXPECT_THROW(hb::amp::enable_mixed_precision(sgd, "static"), hb::ValueError);
  EXPECT_THROW(hb::amp::enable_mixed_precision(sgd, 0.0), hb::ValueError);
  EXPECT_THROW(hb::amp::enable_mixed_precision(sgd, kInf), hb::ValueError);
}
