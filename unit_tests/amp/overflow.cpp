// The story of a skipped step, and the warning about gradients that are still scaled.

#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "train/digits.h"

namespace {

using torch::Tensor;
using torch::amp::GradScaler;
constexpr float kInf = std::numeric_limits<float>::infinity();

struct BlockImpl : torch::nn::Module {
  BlockImpl()
      : fc(register_module("fc", torch::nn::Linear(4, 4))),
        norm(register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({4})))) {}
  Tensor forward(const Tensor& x) { return norm(torch::relu(fc(x))); }
  torch::nn::Linear fc;
  torch::nn::LayerNorm norm;
};
TORCH_MODULE(Block);

struct ModelImpl : torch::nn::Module {
  ModelImpl()
      : first(register_module("first", Block())),
        blocks(register_module("blocks", torch::nn::Sequential(Block(), Block()))) {}
  Tensor forward(const Tensor& x) { return blocks->forward(first(x)) * factor; }
  Block first;
  torch::nn::Sequential blocks;
  double factor = 1;
};
TORCH_MODULE(Model);

struct Traced {
  Model model;
  torch::optim::SGD optimizer;
  GradScaler scaler;
  Traced() : optimizer((torch::manual_seed(2), model = Model(), model->parameters()), 0.01), scaler("cpu", 8.0) {
    scaler.trace_overflow(*model);
  }
  Tensor input = torch::randn({3, 4});
  void backward() {
    optimizer.zero_grad();
    scaler.scale(model(input).pow(2).sum()).backward();
  }
  void finish() {
    scaler.step(optimizer);
    scaler.update();
  }
};

TEST(OverflowStory, NothingToTell) {
  Traced s;
  s.backward();
  s.finish();
  EXPECT_FALSE(s.scaler.last_overflow());
}

TEST(OverflowStory, ForwardOperationInALayer) {
  Traced s;
  s.backward();
  s.finish();
  {
    torch::NoGradGuard no_grad;
    s.model->blocks->ptr<BlockImpl>(1)->fc->weight.fill_(3e38);
  }
  s.backward();
  s.finish();
  const auto story = s.scaler.last_overflow();
  ASSERT_TRUE(story);
  EXPECT_EQ(story->step, 2);
  EXPECT_EQ(story->scale, 8.0);
  EXPECT_TRUE(story->in_forward);
  EXPECT_EQ(story->layer, "blocks.1.fc");
  EXPECT_NE(story->operation.find("Backward0"), std::string::npos) << story->operation;
  EXPECT_FALSE(story->parameter.empty());
  EXPECT_NE(story->str().find("step 2 skipped at scale 8"), std::string::npos) << *story;
  EXPECT_NE(story->str().find("layer blocks.1.fc"), std::string::npos) << *story;
}

TEST(OverflowStory, OperationOfTheModelItself) {
  Traced s;
  s.model->factor = std::numeric_limits<double>::infinity();
  s.backward();
  s.finish();
  const auto story = s.scaler.last_overflow();
  ASSERT_TRUE(story);
  EXPECT_TRUE(story->in_forward);
  EXPECT_EQ(story->layer, "");
  EXPECT_EQ(story->operation, "MulBackward1");
}

TEST(OverflowStory, BackwardOperation) {
  // A gradient of 1/sqrt(0): finite forwards, infinite backwards.
  auto net = torch::nn::Sequential(torch::nn::Linear(2, 2), torch::nn::Functional(torch::sqrt));
  {
    torch::NoGradGuard no_grad;
    for (auto& p : net->parameters()) p.zero_();
  }
  GradScaler scaler("cpu", 4.0);
  scaler.trace_overflow(*net);
  torch::optim::SGD sgd(net->parameters(), 0.1);
  scaler.scale(net->forward(torch::ones({1, 2})).sum()).backward();
  scaler.step(sgd);
  scaler.update();
  const auto story = scaler.last_overflow();
  ASSERT_TRUE(story);
  EXPECT_FALSE(story->in_forward);
  EXPECT_EQ(story->operation, "SqrtBackward0");
  EXPECT_EQ(story->layer, "1");
  EXPECT_EQ(story->parameter.substr(0, 2), "0.");
}

TEST(OverflowStory, HalfGradientsThatOverflow) {
  torch::manual_seed(1);
  digits::Net net;
  torch::optim::SGD sgd(net->parameters(), 0.1);
  GradScaler scaler("cpu", 1e9);
  scaler.trace_overflow(*net);
  scaler.scale(digits::half_loss(net, digits::batch(0))).backward();
  scaler.step(sgd);
  scaler.update();
  const auto story = scaler.last_overflow();
  ASSERT_TRUE(story);
  EXPECT_FALSE(story->in_forward);
  EXPECT_FALSE(story->operation.empty());
  EXPECT_EQ(story->parameter.substr(0, 4), "out.") << *story;
}

TEST(OverflowStory, ExplicitGradients) {
  Traced s;
  auto fn = torch::value_and_grad([&](const Tensor& x) { return s.scaler.scale((s.model(x) * kInf).sum()); },
                                  s.model->parameters());
  const auto [loss, grads] = fn(s.input);
  s.scaler.step(s.optimizer, grads);
  s.scaler.update();
  const auto story = s.scaler.last_overflow();
  ASSERT_TRUE(story);
  EXPECT_EQ(story->operation, "MulBackward1");
  EXPECT_EQ(story->parameter.substr(0, 8), "blocks.1") << *story;
}

TEST(OverflowStory, GradientThatWasOverwritten) {
  Traced s;
  s.backward();
  s.model->first->fc->bias.mutable_grad()[0] = kInf;
  s.finish();
  const auto story = s.scaler.last_overflow();
  ASSERT_TRUE(story);
  EXPECT_EQ(story->operation, "");
  EXPECT_EQ(story->parameter, "first.fc.bias");
}

TEST(OverflowStory, MasksAreNoOverflow) {
  Tensor w = torch::ones({4}).requires_grad_();
  torch::nn::Linear unused(1, 1);
  GradScaler scaler("cpu", 4.0);
  scaler.trace_overflow(*unused);
  torch::optim::SGD sgd({w}, 0.1);
  const Tensor mask = torch::tensor({false, false, true, true});
  const Tensor p = torch::softmax(w.masked_fill(mask, -kInf), 0);  // -inf forwards, and that is fine
  scaler.scale((p * p.detach()).sum() * kInf).backward();
  scaler.step(sgd);
  scaler.update();
  ASSERT_TRUE(scaler.last_overflow());
  EXPECT_EQ(scaler.last_overflow()->operation, "MulBackward1");
}

TEST(OverflowStory, OffIsOff) {
  Traced s;
  EXPECT_TRUE(s.scaler.is_tracing());
  EXPECT_THROW(GradScaler("cpu").trace_overflow(*s.model), torch::Error);  // one at a time
  s.scaler.stop_tracing();
  EXPECT_FALSE(s.scaler.is_tracing());
  s.model->factor = std::numeric_limits<double>::infinity();
  s.backward();
  const auto reads = torch::host_reads();
  s.finish();
  EXPECT_EQ(torch::host_reads(), reads);
  EXPECT_FALSE(s.scaler.last_overflow());
  GradScaler other("cpu");
  other.trace_overflow(*s.model);
}

// --- clipping

Tensor scaled_gradient(GradScaler& scaler) {
  Tensor w = torch::ones({3}).requires_grad_();
  scaler.scale(w.sum()).backward();
  return w;
}

// In a process of its own: the warning is given once.
TEST(ClipScaledGradientsDeathTest, WarnsOnce) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto clip_twice = [] {
    GradScaler scaler("cpu");
    const Tensor w = scaled_gradient(scaler);
    torch::nn::utils::clip_grad_norm_(w, 1.0);
    std::fprintf(stderr, "|first done|");
    torch::nn::utils::clip_grad_norm_(w, 1.0);
    torch::nn::utils::clip_grad_value_(w, 1.0);
    std::exit(0);
  };
  EXPECT_EXIT(clip_twice(), testing::ExitedWithCode(0),
              "^Warning: clip_grad_norm_ works on gradients that a GradScaler has not unscaled.*\n\\|first done\\|$");
}

TEST(ClipScaledGradientsDeathTest, NoWarningWhenUnscaled) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto clip = [] {
    {
      GradScaler scaler("cpu");
      const Tensor w = scaled_gradient(scaler);
      torch::optim::SGD sgd({w}, 0.1);
      scaler.unscale_(sgd);
      torch::nn::utils::clip_grad_norm_(w, 1.0);
      scaler.step(sgd);
      scaler.update();
      torch::nn::utils::clip_grad_norm_(w, 1.0);
      auto fn = torch::value_and_grad([&] { return scaler.scale(w.sum()); }, {w});
      const auto grads = fn().second;
      scaler.unscale_(sgd, grads);
      (void)hb::clip_by_global_norm(grads, 1.0);
    }
    GradScaler elsewhere("cpu");
    std::thread([&] { (void)scaled_gradient(elsewhere); }).join();  // no matter of this thread's gradients
    Tensor plain = torch::ones({3}).requires_grad_();
    plain.sum().backward();
    torch::nn::utils::clip_grad_norm_(plain, 1.0);
    std::fprintf(stderr, "quiet");
    std::exit(0);
  };
  EXPECT_EXIT(clip(), testing::ExitedWithCode(0), "^quiet$");
}

TEST(ClipScaledGradientsDeathTest, ExplicitGradients) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto clip = [] {
    GradScaler scaler("cpu");
    Tensor w = torch::ones({3}).requires_grad_();
    auto fn = torch::value_and_grad([&] { return scaler.scale(w.sum()); }, {w});
    (void)hb::clip_by_global_norm(fn().second, 1.0);
    std::exit(0);
  };
  EXPECT_EXIT(clip(), testing::ExitedWithCode(0), "clip_by_global_norm works on gradients");
}

}  // namespace
