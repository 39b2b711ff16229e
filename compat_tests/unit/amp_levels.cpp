// Levels: which module computes in which dtype, that they train, and the ways to ask for them.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

namespace nn = torch::nn;
using torch::Tensor;

namespace {

// Says in which dtype its input arrived.
struct ProbeImpl : nn::Module {
  Tensor forward(const Tensor& x) { return seen = x.scalar_type(), x; }
  torch::ScalarType seen = torch::kInt;
};
TORCH_MODULE(Probe);

struct NetImpl : nn::Module {
  NetImpl() {
    torch::manual_seed(3);
    conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1)));
    conv_out = register_module("conv_out", Probe());
    norm = register_module("norm", nn::BatchNorm2d(8));
    norm_out = register_module("norm_out", Probe());
    fc = register_module("fc", nn::Linear(8 * 16, 3));
  }
  Tensor forward(const Tensor& x) {
    auto y = norm_out(norm(conv_out(conv(x))));
    y = torch::max_pool2d(torch::relu(y), 2);
    probed = y.scalar_type();
    return fc(y.flatten(1));
  }
  nn::Conv2d conv{nullptr};
  Probe conv_out{nullptr}, norm_out{nullptr};
  nn::BatchNorm2d norm{nullptr};
  nn::Linear fc{nullptr};
  torch::ScalarType probed = torch::kInt;
};
TORCH_MODULE(Net);

struct Data {
  Tensor x, y;
  Data() {
    torch::manual_seed(9);
    y = torch::randint(0, 3, {48});
    x = torch::randn({48, 1, 8, 8}) * 0.3 + y.to(torch::kFloat).view({-1, 1, 1, 1});
  }
};

constexpr auto kFloat = torch::kFloat;
constexpr auto kBf16 = torch::kBFloat16;

// The dtype in which the norm gets its input.
torch::ScalarType norm_computes_in(Net net) {
  torch::ScalarType seen = torch::kInt;
  const auto hook = net->norm->register_forward_pre_hook([&](nn::Module&, const std::vector<Tensor>& inputs) {
    seen = inputs[0].scalar_type();
    return inputs;
  });
  net(Data().x);
  net->norm->remove_hook(hook);
  return seen;
}

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

TEST(AmpLevels, O1CastsTheWhiteList) {
  for (auto dtype : {torch::kHalf, torch::kBFloat16}) {
    auto net = hb::amp::auto_mixed_precision(Net(), "O1", dtype);
    auto out = net(Data().x);
    EXPECT_EQ(net->conv->weight.scalar_type(), kFloat);
    EXPECT_EQ(net->conv_out->seen, kFloat);  // cast back
    EXPECT_EQ(net->norm_out->seen, kFloat);
    EXPECT_EQ(out.scalar_type(), kFloat);
    // Yet it was computed in half.
    auto plain = Net()(Data().x);
    EXPECT_FALSE(torch::equal(out, plain));
    EXPECT_TRUE(torch::allclose(out, plain, 0.05, 0.05));
    out.sum().backward();
    EXPECT_EQ(net->conv->weight.grad().scalar_type(), kFloat);
  }
}

TEST(AmpLevels, O2KeepsTheBlackList) {
  auto net = hb::amp::auto_mixed_precision(Net(), "O2", torch::kBFloat16);
  auto out = net(Data().x);
  for (const auto& p : net->parameters()) EXPECT_EQ(p.scalar_type(), kFloat);
  EXPECT_EQ(net->norm->running_mean.scalar_type(), kFloat);
  EXPECT_EQ(norm_computes_in(net), kFloat);
  EXPECT_EQ(net->conv_out->seen, kBf16);
  EXPECT_EQ(net->norm_out->seen, kBf16);
  EXPECT_EQ(net->probed, kBf16);
  EXPECT_EQ(out.scalar_type(), kFloat);
  EXPECT_EQ(net->forward(Data().x).scalar_type(), kBf16);  // a member call: its modules follow all the same
  auto without = hb::amp::auto_mixed_precision(
      Net(), "O2", hb::amp::LevelOptions().dtype(torch::kBFloat16).keep_batchnorm_fp32(false));
  EXPECT_EQ(norm_computes_in(without), kBf16);
}

TEST(AmpLevels, O3IsAllHalf) {
  auto net = hb::amp::auto_mixed_precision(Net(), "O3", torch::kBFloat16);
  for (const auto& p : net->parameters()) EXPECT_EQ(p.scalar_type(), kFloat);
  EXPECT_EQ(net(Data().x).scalar_type(), kFloat);
  EXPECT_EQ(net->norm_out->seen, kBf16);
  EXPECT_EQ(norm_computes_in(net), kBf16);
  auto kept = hb::amp::auto_mixed_precision(Net(), "O3",
                                            hb::amp::LevelOptions().dtype(torch::kBFloat16).keep_batchnorm_fp32(true));
  EXPECT_EQ(norm_computes_in(kept), kFloat);
}

TEST(AmpLevels, AutoIsAutocast) {
  auto net = hb::amp::auto_mixed_precision(Net(), "auto", torch::kBFloat16);
  net(Data().x);
  EXPECT_EQ(net->conv->weight.scalar_type(), kFloat);
  EXPECT_EQ(net->conv_out->seen, kBf16);
  EXPECT_FALSE(torch::autocast::is_autocast_enabled(torch::kCPU));
}

TEST(AmpLevels, O0ChangesNothing) {
  auto net = hb::amp::auto_mixed_precision(Net(), "O0");
  EXPECT_TRUE(torch::equal(net(Data().x), Net()(Data().x)));
}

TEST(AmpLevels, WrongWordsAndDtypes) {
  EXPECT_THROW(hb::amp::auto_mixed_precision(Net(), "O4"), hb::ValueError);
  EXPECT_THROW(hb::amp::auto_mixed_precision(Net(), "o1"), hb::ValueError);
  EXPECT_THROW(hb::amp::auto_mixed_precision(Net(), "O1", torch::kDouble), hb::Error);
  EXPECT_THROW(hb::amp::custom_mixed_precision(Net(), std::nullopt, std::nullopt), hb::Error);
  EXPECT_THROW(hb::amp::custom_mixed_precision(Net(), hb::amp::get_white_list(), hb::amp::get_black_list()), hb::Error);
}

TEST(AmpLevels, ListsOfOnesOwn) {
  // Only the norm in half, and by class of the program's own.
  auto white = hb::amp::CastList().add<ProbeImpl>();
  auto net = hb::amp::custom_mixed_precision(Net(), white, std::nullopt, torch::kBFloat16);
  net(Data().x);
  EXPECT_EQ(net->conv_out->seen, kBf16);
  auto black = hb::amp::get_black_list().add<nn::Linear>().remove<nn::BatchNorm2d>();
  net = hb::amp::custom_mixed_precision(Net(), std::nullopt, black, torch::kBFloat16);
  EXPECT_EQ(norm_computes_in(net), kBf16);
  EXPECT_TRUE(torch::equal(net->forward(Data().x), net(Data().x)));  // the last layer's result is float32 by itself
  EXPECT_TRUE(hb::amp::get_white_list().contains(*nn::Linear(1, 1)));
  EXPECT_FALSE(hb::amp::get_white_list().remove<nn::Linear>().contains(*nn::Linear(1, 1)));
}

TEST(AmpLevels, ListsOfFunctions) {
  struct NetImpl : nn::Module {
    Tensor forward(const Tensor& x) {
      product = torch::matmul(x, x.t());
      soft = torch::softmax(product, -1);
      curve = torch::sigmoid(product);
      return soft;
    }
    Tensor product, soft, curve;
  };
  using Holder = nn::ModuleHolder<NetImpl>;
  const auto run = [](const std::optional<hb::amp::CastList>& white, const std::optional<hb::amp::CastList>& black) {
    auto net = hb::amp::custom_mixed_precision(Holder(std::make_shared<NetImpl>()), white, black, kBf16);
    torch::manual_seed(1);
    net(torch::randn({4, 4}));
    return net;
  };
  const auto plain = run(hb::amp::CastList(), std::nullopt);
  const auto rounded = [](const Tensor& t) { return t.to(kBf16).to(kFloat); };
  // White: computed in half, given in float32.
  auto net = run(hb::amp::get_white_list().remove("matmul").add("sigmoid"), std::nullopt);
  EXPECT_TRUE(torch::equal(net->product, plain->product));
  EXPECT_TRUE(torch::equal(net->curve, rounded(torch::sigmoid(rounded(plain->product)))));
  // Black: computed in float32, given in half.
  net = run(std::nullopt, hb::amp::get_black_list().add("softmax"));
  EXPECT_EQ(net->product.scalar_type(), kBf16);
  EXPECT_TRUE(torch::equal(net->soft, torch::softmax(net->product.to(kFloat), -1).to(kBf16)));
  net = run(std::nullopt, hb::amp::get_black_list().add("matmul"));
  torch::manual_seed(1);
  const Tensor x = rounded(torch::randn({4, 4}));
  EXPECT_TRUE(torch::equal(net->product, torch::matmul(x, x.t()).to(kBf16)));
  EXPECT_TRUE(hb::amp::get_white_list().contains("conv2d"));
  EXPECT_TRUE(hb::amp::get_black_list().contains("layer_norm"));
  EXPECT_THROW(hb::amp::get_white_list().add("no_such_function"), hb::ValueError);
  EXPECT_THROW(hb::amp::get_black_list().remove("no_such_function"), hb::ValueError);
}

TEST(AmpLevels, DevicesAndTheRecommendedLevel) {
  using hb::amp::Level;
  using hb::amp::level_for;
  EXPECT_EQ(level_for(Level::automatic, torch::kCUDA), Level::O2);
  EXPECT_EQ(level_for(Level::automatic, torch::kCPU), Level::automatic);
  EXPECT_EQ(level_for(Level::O3, torch::kCPU), Level::O3);
  EXPECT_EQ(level_for(Level::O0, torch::kMeta), Level::O0);
  for (auto level : {Level::O1, Level::O2, Level::O3, Level::automatic})
    EXPECT_THROW(level_for(level, torch::kMeta), hb::ValueError);
}

TEST(AmpLevels, ToFloat) {
  Net net;
  nn::Sequential block(net->conv, net->conv_out);
  hb::amp::to_float(block, torch::kHalf);
  auto x = Data().x;
  auto half = block(x);
  EXPECT_EQ(net->conv_out->seen, torch::kHalf);
  EXPECT_EQ(half.scalar_type(), kFloat);  // as the input
  EXPECT_EQ(net->conv->weight.scalar_type(), kFloat);
  hb::amp::to_float(block, torch::kFloat);  // replaces the first
  auto plain = block(x);
  EXPECT_EQ(net->conv_out->seen, kFloat);
  EXPECT_FALSE(torch::equal(half, plain));
  {
    torch::autocast guard(torch::kCPU, torch::kBFloat16);
    auto out = block(x.to(kBf16));
    EXPECT_EQ(net->conv_out->seen, kFloat);  // also under autocast
    EXPECT_EQ(out.scalar_type(), kBf16);
  }
  EXPECT_THROW(hb::amp::to_float(net->conv, torch::kInt), hb::Error);
}

// A Sequential follows however it is called, and so do modules inside it that were told otherwise.
TEST(AmpLevels, ToFloatOfASequentialThatForwardIsCalledOn) {
  nn::Linear first(4, 8), second(8, 2);
  nn::Sequential net(first, nn::LayerNorm(nn::LayerNormOptions({8})), second);
  hb::amp::to_float(net, torch::kHalf);
  hb::amp::to_float(second, kFloat);
  std::vector<torch::ScalarType> seen;
  for (auto layer : {first, second})
    layer->register_forward_pre_hook([&](nn::Module&, const std::vector<Tensor>& inputs) {
      seen.push_back(inputs[0].scalar_type());
      return inputs;
    });
  const auto x = torch::randn({3, 4});
  EXPECT_EQ(net->forward(x).scalar_type(), kFloat);
  EXPECT_EQ(net->forward(x.to(torch::kHalf)).scalar_type(), torch::kHalf);
  EXPECT_EQ(seen, (std::vector<torch::ScalarType>{torch::kHalf, kFloat, torch::kHalf, kFloat}));
}

TEST(AmpLevels, AScopeEndsWhenForwardThrows) {
  auto net = hb::amp::auto_mixed_precision(Net(), "auto");
  EXPECT_ANY_THROW(net(torch::ones({1, 5, 8, 8})));
  EXPECT_FALSE(torch::autocast::is_autocast_enabled(torch::kCPU));
  EXPECT_EQ(hb::autocast::get_op_list(torch::kCPU), torch::kCPU);
}

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
