// HALFBRIDGE_AMP=O1:fp16 (set by CTest for this file): what a program that knows nothing of it sees.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>

namespace nn = torch::nn;
using torch::Tensor;

namespace {

class AmpEnvironment : public testing::Test {
 protected:
  void SetUp() override {
    const char* value = std::getenv("HALFBRIDGE_AMP");
    if (!value || std::string(value) != "O1:fp16") GTEST_SKIP() << "needs HALFBRIDGE_AMP=O1:fp16";
    torch::manual_seed(5);
    x = torch::randn({16, 32});
    fc = nn::Linear(32, 8);
  }
  // A backward pass whose gradients do not fit into fp16 at the scale of the beginning.
  void overflow() { (fc(x) * 1e5).to(torch::kFloat).mean().mul(1e3).backward(); }

  Tensor x;
  nn::Linear fc{nullptr};
};

}  // namespace

TEST_F(AmpEnvironment, ProductsRunInHalf) {
  auto y = fc(x);
  EXPECT_EQ(y.scalar_type(), torch::kHalf);
  EXPECT_EQ(fc->weight.scalar_type(), torch::kFloat);
}

TEST_F(AmpEnvironment, GradientsAreUnscaledAndSmallOnesSurvive) {
  // 1e-8 is 0 in fp16.
  auto loss = (fc(x).to(torch::kFloat) * 1e-8).sum();
  EXPECT_LT(std::abs(loss.item<float>()), 1e-4f);
  loss.backward();
  auto expected = (x.sum(0) * 1e-8).expand({8, 32});
  EXPECT_EQ(fc->weight.grad().scalar_type(), torch::kFloat);
  EXPECT_TRUE(torch::allclose(fc->weight.grad(), expected, 1e-2, 1e-10));
  // They add up, as ever.
  (fc(x).to(torch::kFloat) * 1e-8).sum().backward();
  EXPECT_TRUE(torch::allclose(fc->weight.grad(), expected * 2, 1e-2, 1e-10));
  // A pass that returns gradients of what no optimizer has is not scaled: they are gone.
  auto lost = torch::autograd::grad({(fc(x).to(torch::kFloat) * 1e-8).sum()}, {fc->weight})[0];
  EXPECT_EQ(lost.abs().max().item<float>(), 0);
}

TEST_F(AmpEnvironment, SparseGradientsAreUnscaled) {
  nn::Embedding table(nn::EmbeddingOptions(5, 2).sparse(true));
  torch::optim::SGD sgd(table->parameters(), 0.5);
  const Tensor before = table->weight.detach().clone();
  table(torch::tensor({1, 3, 3})).sum().backward();
  EXPECT_TRUE(table->weight.grad().is_sparse());
  const Tensor expected = torch::tensor({0.0F, 1.0F, 0.0F, 2.0F, 0.0F}).unsqueeze(1).expand({5, 2});
  EXPECT_TRUE(torch::equal(table->weight.grad().to_dense(), expected));
  sgd.step();
  const Tensor after = before - expected * 0.5;
  EXPECT_TRUE(torch::allclose(table->weight, after));
  // A step that an overflow leaves out.
  sgd.zero_grad();
  (table(torch::tensor({1})) * INFINITY).sum().backward();
  sgd.step();
  EXPECT_TRUE(torch::allclose(table->weight, after));
}

TEST_F(AmpEnvironment, ReturnedGradientsOfTrainedParametersAreUnscaledAndSmallOnesSurvive) {
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  auto small = [&] { return (fc(x).to(torch::kFloat) * 1e-8).sum(); };
  const auto expected = (x.sum(0) * 1e-8).expand({8, 32});
  auto [loss, grads] = torch::value_and_grad(small, fc->parameters())();
  EXPECT_LT(std::abs(loss.item<float>()), 1e-4f);
  ASSERT_EQ(grads.size(), 2u);
  EXPECT_EQ(grads[0].scalar_type(), torch::kFloat);
  EXPECT_TRUE(torch::allclose(grads[0], expected, 1e-2, 1e-10));
  EXPECT_FALSE(fc->weight.grad().defined());
  // Inputs and intermediate tensors among them too, each in its dtype.
  const auto input = x.clone().requires_grad_();
  const auto y = fc(input);
  const auto some = torch::autograd::grad({(y.to(torch::kFloat) / 64).sum()}, {fc->bias, input, y});
  EXPECT_TRUE(torch::equal(some[0], torch::full({8}, 0.25f)));
  EXPECT_TRUE(torch::allclose(some[1], (fc->weight.sum(0) / 64).expand({16, 32}), 1e-2, 1e-4));
  EXPECT_TRUE(torch::equal(some[2], torch::full({16, 8}, 1.0 / 64, torch::kHalf)));
  // One that records a graph is not scaled.
  const auto twice = torch::autograd::grad({small()}, {fc->weight}, {}, true, /*create_graph=*/true)[0];
  EXPECT_EQ(twice.abs().max().item<float>(), 0);
}

TEST_F(AmpEnvironment, AnOverflowSkipsOneStepOfExplicitGradients) {
  torch::optim::Adam adam(fc->parameters(), 0.1);
  const auto before = fc->weight.detach().clone();
  float factor = 1;
  auto fn = torch::value_and_grad([&] { return (fc(x) * factor).to(torch::kFloat).mean().mul(1e3); }, fc->parameters());
  factor = 1e5;
  auto grads = fn().second;
  EXPECT_FALSE(torch::isfinite(grads[0]).all().item<bool>());
  EXPECT_FALSE(adam.step(grads).defined());
  EXPECT_TRUE(torch::equal(fc->weight, before));
  // Clipping does not hide it, nor a sum.
  grads = fn().second;
  for (auto& g : grads) g = g.nan_to_num(0, 1, -1).clamp(-1, 1);
  adam.step(grads);
  EXPECT_TRUE(torch::equal(fc->weight, before));
  grads = fn().second;
  factor = 1;
  const auto more = fn().second;
  for (size_t i = 0; i < grads.size(); ++i) grads[i] = grads[i] + more[i];
  adam.step(grads);
  EXPECT_TRUE(torch::equal(fc->weight, before));
  // Values that were thrown away are forgotten.
  factor = 1e5;
  fn();
  factor = 1;
  grads = fn().second;
  const auto loss = adam.step(grads, [] { return torch::full({}, 7.0); });
  EXPECT_EQ(loss.item<float>(), 7);
  EXPECT_FALSE(torch::equal(fc->weight, before));
  EXPECT_TRUE(torch::isfinite(fc->weight).all().item<bool>());
}

TEST_F(AmpEnvironment, ExplicitGradientsGiveTheWeightsOfBackward) {
  const auto with_backward = std::dynamic_pointer_cast<nn::LinearImpl>(fc->clone());
  torch::optim::AdamW explicit_steps(fc->parameters(), 0.01), steps(with_backward->parameters(), 0.01);
  auto fn = torch::value_and_grad([&] { return fc(x).to(torch::kFloat).pow(2).mean(); }, fc->parameters());
  for (int i = 0; i < 5; ++i) {
    explicit_steps.step(fn().second);
    steps.zero_grad();
    with_backward->forward(x).to(torch::kFloat).pow(2).mean().backward();
    steps.step();
  }
  EXPECT_TRUE(torch::equal(fc->weight, with_backward->weight));
  EXPECT_TRUE(torch::equal(fc->bias, with_backward->bias));
}

namespace {
// Of the program's own: neither supports scaling.
struct OwnStep : torch::optim::Optimizer {
  explicit OwnStep(std::vector<Tensor> p) : Optimizer(std::move(p), std::make_unique<torch::optim::SGDOptions>(0.1)) {}

  Tensor step(LossClosure = nullptr) override {
    torch::NoGradGuard no_grad;
    for (auto& p : parameters()) p.sub_(p.grad());
    return {};
  }
};
}  // namespace

TEST_F(AmpEnvironment, AnOptimizerOfOnesOwnIsHeldBackFromExplicitGradients) {
  OwnStep own(fc->parameters());
  const auto before = fc->weight.detach().clone();
  auto bad = torch::value_and_grad([&] { return (fc(x) * 1e5).to(torch::kFloat).mean().mul(1e3); }, fc->parameters());
  own(bad().second);
  EXPECT_TRUE(torch::equal(fc->weight, before));
  auto good = torch::value_and_grad([&] { return fc(x).to(torch::kFloat).mean(); }, fc->parameters());
  own(good().second);
  EXPECT_FALSE(torch::equal(fc->weight, before));
}

// A scaler of the program's own multiplies and divides besides.
TEST_F(AmpEnvironment, AScalerOfTheProgramKeepsItsWord) {
  fc->to(torch::kHalf);  // its step divides half gradients as it computes
  torch::optim::SGD sgd(fc->parameters(), 1.0);
  torch::amp::GradScaler scaler("cpu", torch::amp::GradScalerOptions().init_scale(4));
  const auto before = fc->bias.detach().clone();
  scaler.scale((fc(x).to(torch::kFloat) / 64).sum()).backward();
  fc->bias.mutable_grad() = fc->bias.grad().to(torch::kHalf);
  scaler.step(sgd);
  scaler.update();
  EXPECT_TRUE(torch::allclose(before - fc->bias, torch::full({8}, 0.25, torch::kHalf), 1e-2, 1e-2));
}

TEST_F(AmpEnvironment, HooksOfParametersSeeUnscaledGradients) {
  float largest = 0;
  fc->bias.register_hook([&](const Tensor& g) { largest = g.abs().max().item<float>(); });
  (fc(x).to(torch::kFloat) / 64).sum().backward();
  EXPECT_EQ(largest, 0.25f);
  EXPECT_TRUE(torch::equal(fc->bias.grad(), torch::full({8}, 0.25f)));
}

TEST_F(AmpEnvironment, AnOverflowSkipsOneStep) {
  torch::optim::Adam adam(fc->parameters(), 0.1);
  const auto before = fc->weight.detach().clone();
  overflow();
  EXPECT_FALSE(torch::isfinite(fc->weight.grad()).all().item<bool>());
  adam.step();
  EXPECT_TRUE(torch::equal(fc->weight, before));
  adam.zero_grad();
  fc(x).to(torch::kFloat).mean().backward();
  adam.step();
  EXPECT_FALSE(torch::equal(fc->weight, before));
  EXPECT_TRUE(torch::isfinite(fc->weight).all().item<bool>());
}

TEST_F(AmpEnvironment, ClippingDoesNotHideAnOverflow) {
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  const auto before = fc->weight.detach().clone();
  overflow();
  torch::nn::utils::clip_grad_value_(fc->parameters(), 1.0);
  sgd.step();
  EXPECT_TRUE(torch::equal(fc->weight, before));
}

// All networks share the scale: it does not vanish with one of them.
TEST_F(AmpEnvironment, ANetworkThatIsLostDoesNotTakeTheScaleAway) {
  nn::Linear lost(8, 8);
  torch::optim::SGD lost_sgd(lost->parameters(), 0.1), sgd(fc->parameters(), 0.1);
  for (int i = 0; i < 200; ++i) {
    lost->zero_grad();
    (lost(x.narrow(1, 0, 8)).to(torch::kFloat) * NAN).sum().backward();
    lost_sgd.step();
  }
  const auto before = fc->weight.detach().clone();
  fc(x).to(torch::kFloat).mean().backward();
  sgd.step();
  EXPECT_FALSE(torch::equal(fc->weight, before));
  EXPECT_TRUE(torch::isfinite(fc->weight).all().item<bool>());
}

TEST_F(AmpEnvironment, AnOverflowThatWasZeroedIsForgotten) {
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  const auto before = fc->weight.detach().clone();
  overflow();
  fc->zero_grad();
  fc(x).to(torch::kFloat).mean().backward();
  sgd.step();
  EXPECT_FALSE(torch::equal(fc->weight, before));
}

TEST_F(AmpEnvironment, NormsOfGradientsAreThoseOfFloat) {
  const double norm = [&] {
    fc(x).to(torch::kFloat).pow(2).mean().backward();
    return torch::nn::utils::clip_grad_norm_(fc->parameters(), 1e9);
  }();
  auto wide = std::dynamic_pointer_cast<nn::LinearImpl>(fc->clone());
  wide->to(torch::kDouble);
  wide->forward(x.to(torch::kDouble)).pow(2).mean().backward();
  EXPECT_NEAR(norm, torch::nn::utils::clip_grad_norm_(wide->parameters(), 1e9), 2e-3 * norm);
}

TEST_F(AmpEnvironment, OtherThreadsFollowOnceTheyTrain) {
  torch::ScalarType dtype = torch::kInt;
  std::thread([&] {
    nn::Linear own(32, 8);
    torch::optim::SGD sgd(own->parameters(), 0.1);
    dtype = own(x).scalar_type();
  }).join();
  EXPECT_EQ(dtype, torch::kHalf);
}

TEST_F(AmpEnvironment, ClosuresAndOptimizersOfOnesOwn) {
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  const auto before = fc->weight.detach().clone();
  auto loss = sgd.step([&] {
    sgd.zero_grad();
    auto l = fc(x).to(torch::kFloat).pow(2).mean();
    l.backward();
    return l;
  });
  EXPECT_GT(loss.item<float>(), 0);
  EXPECT_FALSE(torch::equal(fc->weight, before));
}

// An overflow in any micro-batch, not the last alone.
TEST_F(AmpEnvironment, AnOverflowSkipsTheStepOfAnAccumulator) {
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  hb::train::Accumulator accumulator(sgd, 2);
  const auto before = fc->weight.detach().clone();
  overflow();
  accumulator.step();
  fc(x).to(torch::kFloat).mean().backward();
  EXPECT_TRUE(accumulator.step());
  EXPECT_TRUE(torch::equal(fc->weight, before));
  for (int i = 0; i < 2; ++i) {
    fc(x).to(torch::kFloat).mean().backward();
    accumulator.step();
  }
  EXPECT_FALSE(torch::equal(fc->weight, before));
  EXPECT_TRUE(torch::isfinite(fc->weight).all().item<bool>());
}

// The closure of LBFGS runs within its step.
TEST_F(AmpEnvironment, AnOverflowTakesAStepOfLBFGSBack) {
  for (const bool line_search : {false, true}) {
    auto options = torch::optim::LBFGSOptions(0.1).max_iter(4);
    if (line_search) options.line_search_fn("strong_wolfe");
    torch::optim::LBFGS lbfgs(fc->parameters(), options);
    int calls = 0, bad_call = 0;
    const auto closure = [&] {
      lbfgs.zero_grad();
      auto loss = fc(x).to(torch::kFloat).pow(2).mean();
      if (++calls == bad_call) loss = loss + (fc(x) * 1e5).to(torch::kFloat).mean().mul(1e3);
      loss.backward();
      return loss;
    };
    for (const int bad : {1, 2, 3}) {
      const auto good = lbfgs.step(closure);
      EXPECT_TRUE(torch::isfinite(fc->weight).all().item<bool>());
      const auto before = fc->weight.detach().clone();
      const auto history = static_cast<torch::optim::LBFGSParamState&>(*lbfgs.state().begin()->second);
      calls = 0, bad_call = bad;
      lbfgs.step(closure);
      EXPECT_TRUE(torch::equal(fc->weight, before)) << bad;
      EXPECT_TRUE(static_cast<torch::optim::LBFGSParamState&>(*lbfgs.state().begin()->second) == history) << bad;
      bad_call = 0;
      EXPECT_LT(lbfgs.step(closure).item<float>(), good.item<float>()) << bad;
      EXPECT_FALSE(torch::equal(fc->weight, before));
    }
  }
}

// Overflows belong to a parameter while it lives, not to its address.
TEST_F(AmpEnvironment, ParametersOfOnesThatAreGoneAreNotTakenForThem) {
  for (int i = 0; i < 200; ++i) {
    {
      nn::Linear gone(32, 8);
      torch::optim::SGD sgd(gone->parameters(), 0.1);
      (gone(x) * 1e5).to(torch::kFloat).mean().mul(1e3).backward();  // overflows, and no step follows
    }
    torch::optim::SGD sgd(fc->parameters(), 0.1);
    nn::Linear at_its_address(32, 8);
    sgd.param_groups()[0].params().push_back(at_its_address->weight);
    sgd.param_groups()[0].params().push_back(at_its_address->bias);
    fc->zero_grad();
    fc(x).to(torch::kFloat).mean().backward();
    const auto before = fc->weight.detach().clone();
    sgd.step();
    ASSERT_FALSE(torch::equal(fc->weight, before)) << i;
  }
}

TEST_F(AmpEnvironment, ParametersThatJoinLaterAreHeldBackToo) {
  nn::Linear more(8, 8);
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  sgd.add_parameters(more->parameters());
  const auto before = fc->weight.detach().clone();
  // The gradient of `more` alone overflows.
  (more(fc(x).detach()) * 1e5).to(torch::kFloat).mean().mul(1e3).backward();
  fc(x).to(torch::kFloat).mean().backward();
  sgd.step();
  EXPECT_TRUE(torch::equal(fc->weight, before));
}

// The last test, since its overflows take the scale down. Both threads find no gradient where they arrive; what the one
// found may not be forgotten by the other.
TEST_F(AmpEnvironment, AnOverflowOfOneOfTwoThreads) {
  const Tensor w = torch::ones({4}).requires_grad_();
  torch::optim::SGD sgd({w}, 1);
  std::atomic<int> arrived{0};
  w.register_hook([&](Tensor) {  // before the gradient is added
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  for (int round = 0; round < 5; ++round) {
    sgd.zero_grad();
    arrived = 0;
    std::thread other([&] { (w * INFINITY).sum().backward(); });
    while (arrived == 0) std::this_thread::yield();
    w.sum().backward();
    other.join();
    sgd.step();
    ASSERT_TRUE(w.equal(torch::ones({4}))) << "round " << round;
  }
  // It is forgotten with the gradients.
  (w * INFINITY).sum().backward();
  sgd.zero_grad();
  w.sum().backward();
  sgd.step();
  EXPECT_TRUE(w.equal(torch::zeros({4})));
}

namespace {
// Runs this program again with another value: its status.
int run_with(const std::string& value, const std::string& filter) {
  char self[4096] = {};
  if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0) return -1;
  return std::system(("HALFBRIDGE_AMP='" + value + "' AMP_ENVIRONMENT_CHILD=1 '" + self +
                      "' --gtest_brief=1 --gtest_filter=" + filter + " > /dev/null 2>&1")
                         .c_str());
}
class AmpEnvironmentChild : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::getenv("AMP_ENVIRONMENT_CHILD")) GTEST_SKIP() << "run by AmpEnvironmentScale";
  }
};
}  // namespace

TEST_F(AmpEnvironmentChild, TheScaleIs8) {
  nn::Linear fc(4, 2);
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  for (int i = 0; i < 3; ++i) {
    const auto y = fc(torch::ones({1, 4}));
    y.retain_grad();
    y.to(torch::kFloat).sum().backward();
    EXPECT_EQ(y.grad()[0][0].item<float>(), 8);
    EXPECT_EQ(fc->bias.grad()[0].item<float>(), 1);
    const auto before = fc->weight.detach().clone();
    // An overflow skips the step and leaves the scale.
    (fc(torch::ones({1, 4})).to(torch::kFloat) * INFINITY).sum().backward();
    sgd.step();
    EXPECT_TRUE(torch::equal(fc->weight, before));
    sgd.zero_grad();
  }
}

TEST_F(AmpEnvironmentChild, TheScaleIsDynamic) {
  nn::Linear fc(4, 2);
  const auto y = fc(torch::ones({1, 4}));
  y.retain_grad();
  y.to(torch::kFloat).sum().backward();
  EXPECT_EQ(y.grad()[0][0].item<float>(), 1024);
}

TEST_F(AmpEnvironmentChild, TheValueIsWrong) {
  nn::Linear fc(4, 2);
  EXPECT_THROW(torch::optim::SGD(fc->parameters(), 0.1), hb::ValueError);
  EXPECT_THROW(fc(torch::ones({1, 4})).sum().backward(), hb::ValueError);
}

TEST(AmpEnvironmentScale, IsANumberOrDynamic) {
  for (const char* value : {"O1:fp16:scale=8", "O1:scale=8", "O1:scale=8.0", "O1:bf16:scale=8"})
    EXPECT_EQ(run_with(value, "AmpEnvironmentChild.TheScaleIs8"), 0) << value;
  EXPECT_NE(run_with("O1:fp16:scale=16", "AmpEnvironmentChild.TheScaleIs8"), 0);
  for (const char* value : {"O1", "O1:fp16:scale=dynamic", "O1:scale=dynamic"})
    EXPECT_EQ(run_with(value, "AmpEnvironmentChild.TheScaleIsDynamic"), 0) << value;
  for (const char* value :
       {"O4", "O1:fp32", "O1:fp16:", "O1:", "O1:scale=8:fp16", "O1:fp16:scale=", "O1:fp16:scale=0", "O1:fp16:scale=-8",
        "O1:fp16:scale=8x", "O1:fp16:scale=inf", "O1:fp16:scale=static", "O1:fp16:size=8", "O1:fp16:scale=8:8"})
    EXPECT_EQ(run_with(value, "AmpEnvironmentChild.TheValueIsWrong"), 0) << value;
}
