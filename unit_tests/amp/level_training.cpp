// Training under levels: build_train_network, optimizers of all kinds, and apex's way.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

#include "amp/amp_net.h"

using namespace amp_net;

namespace {

float loss_after(const std::string& level, torch::ScalarType dtype, int steps = 30) {
  Data data;
  Net net;
  torch::optim::Adam adam(net->parameters(), 0.01);
  auto train =
      hb::amp::build_train_network(net, adam, nn::CrossEntropyLoss(), level, {}, hb::amp::LevelOptions().dtype(dtype));
  float loss = 0;
  for (int i = 0; i < steps; ++i) loss = train(data.x, data.y).item<float>();
  return loss;
}

}  // namespace

TEST(AmpTrainNetwork, EveryLevelTrainsToTheSameLoss) {
  const float expected = loss_after("O0", torch::kHalf);
  EXPECT_LT(expected, 0.3f);
  for (auto dtype : {torch::kHalf, torch::kBFloat16})
    for (const char* level : {"O1", "O2", "auto"})
      EXPECT_NEAR(loss_after(level, dtype), expected, 0.02f + 0.02f * expected) << level << " " << dtype;
  EXPECT_LT(loss_after("O3", torch::kBFloat16), 0.6f);
}

TEST(AmpInitialize, MasterWeightsBeginWithTheUnroundedValues) {
  Net net;
  auto before = net->fc->weight.detach().clone();
  torch::optim::SGD sgd(net->parameters(), 0.1);
  hb::amp::initialize(net, sgd, "O2");
  EXPECT_EQ(net->fc->weight.scalar_type(), torch::kHalf);
  EXPECT_EQ(net->norm->weight.scalar_type(), kFloat);
  EXPECT_TRUE(torch::equal(sgd.master_weight(net->fc->weight), before));
}

namespace {
// Optimizers of a program's own, each with the one step that it overrides.
struct OwnStep : torch::optim::Optimizer {
  explicit OwnStep(std::vector<Tensor> p) : Optimizer(std::move(p), std::make_unique<torch::optim::SGDOptions>(0.1)) {}
  Tensor step(LossClosure closure = nullptr) override {
    Tensor loss = closure ? closure() : Tensor();
    torch::NoGradGuard no_grad;
    for (auto& p : parameters())
      if (p.grad().defined()) p.sub_(p.grad() * (1.0 / 1024));
    return loss;
  }
};
struct OwnGradStep : torch::optim::Optimizer {
  explicit OwnGradStep(std::vector<Tensor> p)
      : Optimizer(std::move(p), std::make_unique<torch::optim::SGDOptions>(0.1)) {}
  Tensor step(const std::vector<Tensor>& grads, LossClosure = nullptr) override {
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < grads.size(); ++i)
      if (grads[i].defined()) parameters()[i].sub_(grads[i] * (1.0 / 1024));
    return {};
  }
};

template <class Own>
void train_with_an_optimizer_of_ones_own(const char* level) {
  Data data;
  Net net;
  std::vector<Tensor> before;
  for (const auto& p : net->parameters()) before.push_back(p.detach().clone());
  Own own(net->parameters());
  auto train = hb::amp::build_train_network(net, own, nn::CrossEntropyLoss(), level, hb::amp::FixedLossScaleManager());
  for (int i = 0; i < 2; ++i) train(data.x, data.y);
  int64_t same = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(net->parameters()[i].scalar_type(), kFloat);
    // A bias before a batch norm has no gradient worth the name.
    if (before[i].dim() > 1) same += net->parameters()[i].eq(before[i]).sum().item<int64_t>();
  }
  EXPECT_EQ(same, 0) << level;
}
}  // namespace

// Changes that half weights would lose.
TEST(AmpTrainNetwork, OptimizersOfOnesOwnUpdateFloat) {
  for (const char* level : {"O1", "O2", "O3"}) {
    train_with_an_optimizer_of_ones_own<OwnStep>(level);
    train_with_an_optimizer_of_ones_own<OwnGradStep>(level);
  }
  Net net;
  OwnStep own(net->parameters());
  EXPECT_THROW(hb::amp::initialize(net, own, "O2"), hb::Error);  // no master weights with this one
}

TEST(AmpTrainNetwork, AnOptimizerIsCalledInEitherForm) {
  const auto changes = [](const auto& call) {
    Tensor p = torch::ones({2}).requires_grad_();
    call(p);
    return p[0].item<float>();
  };
  const auto grads = [] { return std::vector<Tensor>{torch::ones({2}) * 1024}; };
  EXPECT_EQ(changes([&](Tensor& p) { OwnStep({p})(grads()); }), 0);
  EXPECT_EQ(changes([&](Tensor& p) { OwnGradStep({p})(grads()); }), 0);
  EXPECT_EQ(changes([&](Tensor& p) { OwnGradStep({p}).step(grads()); }), 0);
  EXPECT_EQ(changes([&](Tensor& p) { torch::optim::SGD({p}, 1.0 / 1024)(grads()); }), 0);
  const auto lend = [&](Tensor& p) { p.mutable_grad() = grads()[0]; };
  EXPECT_EQ(changes([&](Tensor& p) { lend(p), OwnStep({p}).step(); }), 0);
  EXPECT_EQ(changes([&](Tensor& p) { lend(p), OwnStep({p})(); }), 0);
  EXPECT_EQ(changes([&](Tensor& p) { lend(p), OwnGradStep({p})(); }), 0);
}

TEST(AmpTrainNetwork, AnOverflowSkipsTheUpdateAndHalvesTheScale) {
  Net net;
  torch::optim::Adam adam(net->parameters(), 0.01);
  auto train = hb::amp::build_train_network(net, adam, nn::CrossEntropyLoss(), "O1",
                                            hb::amp::DynamicLossScaleManager(1024, 2, 3));
  Data data;
  train(data.x, data.y);
  EXPECT_EQ(train.loss_scale(), 1024);
  const auto before = net->fc->weight.detach().clone();
  auto hurt = data.x.clone();
  hurt.select(0, 0).fill_(std::numeric_limits<float>::infinity());
  auto step = train.step({hurt}, data.y);
  EXPECT_NE(step.overflow.item<float>(), 0);
  EXPECT_TRUE(torch::equal(net->fc->weight, before));
  EXPECT_EQ(train.loss_scale(), 512);
  net->norm->reset_running_stats();
  for (int i = 0; i < 3; ++i) train(data.x, data.y);
  EXPECT_EQ(train.loss_scale(), 1024);
  EXPECT_FALSE(torch::equal(net->fc->weight, before));
}

TEST(AmpTrainNetwork, ManagersOfAllKinds) {
  Data data;
  struct Own : hb::amp::LossScaleManager {
    double get_loss_scale() const override { return scale; }
    void update_loss_scale(bool overflow) override { scale = overflow ? scale / 4 : scale + 1; }
    bool get_drop_overflow_update() const override { return true; }
    std::shared_ptr<hb::amp::LossScaleUpdateCell> get_update_cell() const override { return nullptr; }
    double scale = 64;
  };
  auto scale_after = [&](hb::amp::LossScale scale, bool hurt) {
    Net net;
    torch::optim::SGD sgd(net->parameters(), 0.01);
    auto train = hb::amp::build_train_network(net, sgd, nn::CrossEntropyLoss(), "O1", scale);
    train(hurt ? data.x / 0 : data.x, data.y);
    return train.loss_scale();
  };
  EXPECT_EQ(scale_after(nullptr, false), 1);
  EXPECT_EQ(scale_after({}, false), 65536);
  EXPECT_EQ(scale_after(hb::amp::FixedLossScaleManager(128, true), true), 128);
  EXPECT_EQ(scale_after(hb::amp::FixedLossScaleManager(128, false), false), 128);
  EXPECT_EQ(scale_after(std::make_shared<Own>(), false), 65);
  EXPECT_EQ(scale_after(std::make_shared<Own>(), true), 16);
}

// The scale changes no weight where nothing under- or overflows: powers of two.
TEST(AmpTrainNetwork, TheScaleItselfChangesNothing) {
  Data data;
  auto weights = [&](hb::amp::LossScale scale) {
    Net net;
    torch::optim::SGD sgd(net->parameters(), 0.01);
    auto train = hb::amp::build_train_network(net, sgd, nn::CrossEntropyLoss(), "O0", scale);
    for (int i = 0; i < 3; ++i) train(data.x, data.y);
    return net->fc->weight.detach().clone();
  };
  EXPECT_TRUE(torch::equal(weights(nullptr), weights(hb::amp::FixedLossScaleManager(1024))));
}

TEST(AmpInitialize, TrainsWithScaleLoss) {
  Data data;
  const float expected = loss_after("O0", torch::kHalf);
  for (const char* level : {"O0", "O1", "O2"}) {
    Net model;
    torch::optim::Adam optimizer(model->parameters(), 0.01);
    auto [net, adam] = hb::amp::initialize(model, optimizer, level);
    float last = 0;
    for (int i = 0; i < 30; ++i) {
      adam.zero_grad();
      auto loss = nn::functional::cross_entropy(net(data.x), data.y);
      {
        auto scaled = hb::amp::scale_loss(loss, adam);
        scaled.backward();
      }
      EXPECT_EQ(net->fc->weight.grad().scalar_type(), kFloat);
      torch::nn::utils::clip_grad_norm_(net->parameters(), 100);
      adam.step();
      last = loss.item<float>();
    }
    EXPECT_NEAR(last, expected, 0.02f + 0.02f * expected) << level;
    const double scale = hb::amp::scaler_of(adam).get_scale();
    EXPECT_TRUE(level == std::string("O0") ? scale == 1 : scale >= 4096) << scale;
  }
}

TEST(AmpInitialize, AnOverflowSkipsTheNextStepOnly) {
  Data data;
  for (std::optional<double> fixed : {std::optional<double>(), std::optional<double>(128)}) {
    Net model;
    torch::optim::SGD optimizer(model->parameters(), 0.1);
    auto [net, sgd] = hb::amp::initialize(model, optimizer, "O1", hb::amp::InitializeOptions().loss_scale(fixed));
    auto step = [&, &net = net, &sgd = sgd](const Tensor& x) {
      const double scale = hb::amp::scaler_of(sgd).get_scale();
      sgd.zero_grad();
      auto loss = nn::functional::cross_entropy(net(x), data.y);
      {
        auto scaled = hb::amp::scale_loss(loss, sgd);
        EXPECT_NEAR(scaled->item<double>(), loss.item<double>() * scale, 1e-3 * scale);
        scaled.backward();
      }
      sgd.step();
    };
    step(data.x);
    const auto before = net->fc->weight.detach().clone();
    const double scale = hb::amp::scaler_of(sgd).get_scale();
    {
      sgd.zero_grad();
      auto loss = nn::functional::cross_entropy(net(data.x), data.y);
      {
        auto scaled = hb::amp::scale_loss(loss, sgd);
        (*scaled * 1e38).backward();
      }
      sgd.step();
    }
    EXPECT_TRUE(torch::equal(net->fc->weight, before));
    EXPECT_EQ(hb::amp::scaler_of(sgd).get_scale(), fixed ? 128 : scale / 2);
    for (int i = 0; i < 4; ++i) step(data.x);  // the scale may have to fall further
    EXPECT_FALSE(torch::equal(net->fc->weight, before));
  }
}

TEST(AmpInitialize, AnOptimizerThatWasNotPreparedIsAnError) {
  Net net;
  torch::optim::SGD sgd(net->parameters(), 0.1);
  EXPECT_THROW(hb::amp::scale_loss(torch::ones({1}), sgd), hb::Error);
  EXPECT_THROW(hb::amp::initialize(net, sgd, "auto"), hb::Error);
}
